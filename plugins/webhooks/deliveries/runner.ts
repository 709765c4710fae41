import { setMaxListeners } from "node:events";
import { type DeliveryRow, type Disposable, messageOf, settledWithin } from "svc/sdk";
import { protocolErrors } from "svc/sdk/internal";
import { type DeliveryDeps, PROCESSED_DIRS } from "./delivery-deps.ts";
import { backoffAfter, MAX_ATTEMPTS } from "./delivery-state.ts";
import { processDelivery } from "./process-delivery.ts";
import { createOverdue } from "./recover.ts";

/** Rows claimed at a time. More than there are places for hook runs, so that sessions at work do not keep the others waiting. */
const MAX_CLAIMED = 16;
/** Interval at which the age of the rows is checked and the clock is read. */
const TICK_MS = 60_000;
const DEAD_AFTER_TICKS = 3;
/** After the rows could not be read. */
const READ_AGAIN_MS = 1_000;
const STOP_MS = 4_000;
/** Suspects of a crash go one after the other; who waits for that asks again. */
const ASK_AGAIN_MS = 1_000;
/** Name of this queue at the gate of the store. */
const OWNER = "hooks";
/** Longest wait of a row that was charged for a crash. */
const LONGEST_CHARGED_MS = backoffAfter(MAX_ATTEMPTS);

/** Processes accepted rows: lanes side by side, one after the other inside a lane. */
export interface Runner {
  /** Looks for rows that are due. */
  nudge(): void;
  /** Begins to claim rows. */
  begin(): Promise<void>;
  /** Claims nothing more; what is under way goes on. */
  close(): void;
  /** Gives back what is under way, after the step it is in, 4 s at most. */
  stop(): Promise<void>;
  /** The look at the time of the rows; one that has died is started again. Undefined while nothing is processed. */
  tick(): TickFacts | undefined;
}

/** `age`: ms since it last ran. `wasDead`: it had not run for three periods. */
export interface TickFacts {
  intervalMs: number;
  age: number;
  wasDead: boolean;
}

/** @param onEnd called after the end of a row is stored */
export function createRunner(deps: DeliveryDeps, onEnd: (uid: string) => void): Runner {
  const { clock, timers, logger } = deps.ctx;
  const active = new Map<string, Promise<void>>();
  const stopping = new AbortController();
  const { signal } = stopping;
  setMaxListeners(0, signal); // one listener for each row at work, and MAX_CLAIMED bounds those
  const overdue = createOverdue(deps, { signal, onEnd, isActive: (uid) => active.has(uid) });
  let ticking: Disposable | undefined;
  let freed: Disposable | undefined;
  let tickedAt = 0;
  let isOpen = false;
  let isBegun = false;
  let isClosed = false;
  let reading: Promise<void> | undefined;
  /** Time of a look that was asked for while the rows were read. */
  let again: number | undefined;

  const pauses = createPauses(deps, () => nudge());
  const nudge = (now = pauses.now()): void => {
    if (!isOpen) return;
    if (reading) {
      // Deliveries accepted while the rows were read may be missing among them.
      again = Math.max(again ?? 0, now);
      return;
    }
    reading = beginNext(now)
      .catch((error: unknown) => {
        // A stop came while they were read; no timer may be set after it.
        if (!isOpen) return;
        logger.warn("hook deliveries cannot be read; trying again", { error: messageOf(error) });
        pauses.add("", READ_AGAIN_MS);
      })
      .finally(() => {
        reading = undefined;
        const next = again;
        again = undefined;
        if (next !== undefined) nudge(next);
      });
  };
  const beginNext = async (now: number): Promise<void> => {
    if (active.size >= MAX_CLAIMED) return;
    // Rows that are being claimed are still found: they must not hide the others.
    const due = await deps.store().deliveries.due({ dirs: PROCESSED_DIRS, now, limit: MAX_CLAIMED });
    // A stop came while they were read: what is begun now would be given back by nobody.
    if (isOpen) for (const row of nextRows(due)) begin(row);
  };
  const nextRows = (due: readonly DeliveryRow[]): DeliveryRow[] => {
    const limit = MAX_CLAIMED - active.size;
    const free = due.filter((row) => !active.has(row.uid) && !pauses.has(row.uid) && row.expiresAt > clock.now());
    const admitted = new Set(
      deps.store().deliveries.gate.admit(
        OWNER,
        free.map(({ uid }) => uid),
      ),
    );
    if (admitted.size < free.length) pauses.add(OWNER, ASK_AGAIN_MS);
    return free.filter(({ uid }) => admitted.has(uid)).slice(0, limit);
  };
  /** Rows that were charged for a crash wait, in later processes too: otherwise they would be the first at work in each of them, and in the way of each kill. */
  const pauseCharged = async (uid: string): Promise<void> => {
    const pauseMs = await chargedMs(uid).catch((error: unknown) => {
      logger.warn("a delivery that may have ended the process cannot be read; it waits as long as one that has", {
        uid,
        error: messageOf(error),
      });
      return LONGEST_CHARGED_MS;
    });
    // No timer may be set after a stop.
    if (pauseMs > 0 && !isClosed) pauses.add(uid, Math.min(pauseMs, LONGEST_CHARGED_MS));
  };
  const chargedMs = async (uid: string): Promise<number> => {
    const row = await deps.store().deliveries.get(uid);
    return row?.state === "accepted" && PROCESSED_DIRS.includes(row.dir) ? (row.notBefore ?? 0) - clock.now() : 0;
  };
  const begin = (row: DeliveryRow): void => {
    const turn = deps.store().deliveries.gate.enter(row.uid);
    const work = processDelivery(row, { deps, signal, onRan: () => turn.leave({ isCleared: true }) }).then((done) => {
      active.delete(row.uid);
      turn.leave({ isCleared: !signal.aborted });
      if (done?.state === "ended") onEnd(row.uid);
      else if (done) pauses.add(row.uid, done.inMs);
      nudge();
    });
    active.set(row.uid, work);
  };
  const tick = async (): Promise<void> => {
    tickedAt = clock.monotonic();
    try {
      await overdue.expire();
    } catch (error) {
      if (!signal.aborted) logger.warn("hook deliveries could not be scanned", { error: messageOf(error) });
    }
    // A pause that is not one of ours was another process's, or was given by a clock that was wrong.
    nudge(Number.MAX_SAFE_INTEGER);
  };
  const beginTicking = (): void => {
    void ticking?.dispose();
    ticking = timers.setInterval(() => void tick(), TICK_MS);
    void tick();
  };
  const close = (): void => {
    isOpen = false;
    isClosed = true;
    void ticking?.dispose();
    void freed?.dispose();
  };

  return {
    nudge: () => nudge(),
    async begin() {
      if (isBegun || signal.aborted) return;
      const { gate } = deps.store().deliveries;
      const suspects = gate.suspects();
      isBegun = true;
      await Promise.all(suspects.map(pauseCharged));
      // It may have been closed while the pauses were read.
      if (isClosed) return;
      isOpen = true;
      freed = gate.onFree(() => nudge());
      beginTicking();
    },
    tick() {
      if (!isOpen) return undefined;
      const age = Math.round(clock.monotonic() - tickedAt);
      const wasDead = age > DEAD_AFTER_TICKS * TICK_MS;
      if (wasDead) beginTicking();
      return { intervalMs: TICK_MS, age, wasDead };
    },
    close,
    async stop() {
      close();
      pauses.end();
      stopping.abort(protocolErrors.draining({}, { retryAfterMs: 2_000 }));
      await settledWithin(Promise.allSettled([...active.values()]), STOP_MS);
    },
  };
}

/** Pauses between two tries, by the steady clock: a wall clock that jumps neither shortens nor prolongs them. */
function createPauses({ ctx }: Pick<DeliveryDeps, "ctx">, onOver: () => void) {
  const timers = new Map<string, Disposable>();
  let over = 0;
  return {
    /** The time to ask for rows by: those whose pause is over are due then. */
    now: () => Math.max(ctx.clock.now(), over),
    has: (id: string) => timers.has(id),
    add(id: string, ms: number): void {
      void timers.get(id)?.dispose();
      const until = ctx.clock.now() + ms;
      const timer = ctx.timers.setTimeout(() => {
        timers.delete(id);
        over = Math.max(over, until);
        onOver();
      }, ms);
      timers.set(id, timer);
    },
    end(): void {
      for (const timer of timers.values()) void timer.dispose();
      timers.clear();
    },
  };
}
