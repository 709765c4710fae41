import { setMaxListeners } from "node:events";
import { type DeliveryRow, type Disposable, messageOf, settledWithin } from "svc/sdk";
import { sharedErrors } from "svc/sdk/internal";
import { type DeliveryDeps, PROCESSED_DIRS } from "./delivery-deps.ts";
import { backoffAfter, MAX_ATTEMPTS } from "./delivery-state.ts";
import { processDelivery } from "./process-delivery.ts";
import { createOverdue, type Overdue } from "./recover.ts";

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

/** `age`: ms since it last ran. `wasDead`: it had not run for three periods. */
export interface TickFacts {
  intervalMs: number;
  age: number;
  wasDead: boolean;
}

/** Processes accepted rows: lanes side by side, one after the other inside a lane. */
export class DeliveryRunner {
  readonly #deps: DeliveryDeps;
  readonly #onEnd: (uid: string) => void;
  /** Work on rows, by uid. */
  readonly #active = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #overdue: Overdue;
  readonly #pauses: Pauses;
  #state: "idle" | "beginning" | "open" | "closed" = "idle";
  #freed: Disposable | undefined;
  #ticking: Disposable | undefined;
  #tickedAt = 0;
  #reading: Promise<void> | undefined;
  /** Time of a look that was asked for while the rows were read. */
  #again: number | undefined;

  /** @param onEnd called after the end of a row is stored */
  constructor(deps: DeliveryDeps, onEnd: (uid: string) => void) {
    this.#deps = deps;
    this.#onEnd = onEnd;
    const { signal } = this.#stopping;
    setMaxListeners(0, signal); // one listener for each row at work, and MAX_CLAIMED bounds those
    this.#overdue = createOverdue(deps, { signal, onEnd, isActive: (uid) => this.#active.has(uid) });
    this.#pauses = new Pauses(deps, () => this.nudge());
  }

  /** Begins to claim rows. */
  async begin(): Promise<void> {
    if (this.#state !== "idle") return;
    const { gate } = this.#deps.store().deliveries;
    const suspects = gate.suspects();
    this.#state = "beginning";
    await Promise.all(suspects.map((uid) => this.#pauseCharged(uid)));
    // It may have been closed while the pauses were read.
    if (this.#isClosed) return;
    this.#state = "open";
    this.#freed = gate.onFree(() => this.nudge());
    this.#startTicking();
  }

  /** Looks for rows that are due. */
  nudge(): void {
    this.#look(this.#pauses.now());
  }

  /** The look at the time of the rows; one that has died is started again. Undefined while nothing is processed. */
  tick(): TickFacts | undefined {
    if (this.#state !== "open") return undefined;
    const age = Math.round(this.#deps.ctx.clock.monotonic() - this.#tickedAt);
    const wasDead = age > DEAD_AFTER_TICKS * TICK_MS;
    if (wasDead) this.#startTicking();
    return { intervalMs: TICK_MS, age, wasDead };
  }

  /** Claims nothing more; what is under way goes on. */
  close(): void {
    this.#state = "closed";
    void this.#ticking?.dispose();
    void this.#freed?.dispose();
  }

  /** Gives back what is under way, after the step it is in, 4 s at most. */
  async stop(): Promise<void> {
    this.close();
    this.#pauses.end();
    this.#stopping.abort(sharedErrors.draining({}, { retryAfterMs: 2_000 }));
    await settledWithin(Promise.allSettled([...this.#active.values()]), STOP_MS);
  }

  #look(now: number): void {
    if (this.#state !== "open") return;
    if (this.#reading) {
      // Deliveries accepted while the rows were read may be missing among them.
      this.#again = Math.max(this.#again ?? 0, now);
      return;
    }
    this.#reading = this.#beginDue(now)
      .catch((error: unknown) => this.#onUnreadable(error))
      .finally(() => {
        const again = this.#again;
        this.#reading = undefined;
        this.#again = undefined;
        if (again !== undefined) this.#look(again);
      });
  }

  async #beginDue(now: number): Promise<void> {
    if (this.#active.size >= MAX_CLAIMED) return;
    // Rows that are being claimed are still found: they must not hide the others.
    const due = await this.#deps.store().deliveries.due({ dirs: PROCESSED_DIRS, now, limit: MAX_CLAIMED });
    // A stop came while they were read: what is begun now would be given back by nobody.
    if (this.#state === "open") for (const row of this.#admitted(due)) this.#begin(row);
  }

  #onUnreadable(error: unknown): void {
    // A stop came while the rows were read; no timer may be set after it.
    if (this.#state !== "open") return;
    this.#deps.ctx.logger.warn("hook deliveries cannot be read; trying again", { error: messageOf(error) });
    this.#pauses.add("", READ_AGAIN_MS);
  }

  /** Rows that may begin now: nothing works on them, they do not pause, and the gate of the store lets them in. */
  #admitted(due: readonly DeliveryRow[]): DeliveryRow[] {
    const now = this.#deps.ctx.clock.now();
    const free = due.filter((row) => !this.#active.has(row.uid) && !this.#pauses.has(row.uid) && row.expiresAt > now);
    const uids = free.map(({ uid }) => uid);
    const admitted = new Set(this.#deps.store().deliveries.gate.admit(OWNER, uids));
    if (admitted.size < free.length) this.#pauses.add(OWNER, ASK_AGAIN_MS);
    return free.filter(({ uid }) => admitted.has(uid)).slice(0, MAX_CLAIMED - this.#active.size);
  }

  #begin(row: DeliveryRow): void {
    const { signal } = this.#stopping;
    const turn = this.#deps.store().deliveries.gate.enter(row.uid);
    const onRan = () => turn.leave({ isCleared: true });
    const options = { kind: "consumer", kept: row.uid, attributes: { "messaging.message.id": row.uid } } as const;
    const traced = this.#deps.ctx.tracing.span("hook delivery", options, () => processDelivery(row, { deps: this.#deps, signal, onRan }));
    const work = traced.then((done) => {
      this.#active.delete(row.uid);
      turn.leave({ isCleared: !signal.aborted });
      if (done?.state === "ended") this.#onEnd(row.uid);
      else if (done) this.#pauses.add(row.uid, done.inMs);
      this.nudge();
    });
    this.#active.set(row.uid, work);
  }

  #startTicking(): void {
    void this.#ticking?.dispose();
    this.#ticking = this.#deps.ctx.timers.setInterval(() => void this.#endOverdue(), TICK_MS);
    void this.#endOverdue();
  }

  async #endOverdue(): Promise<void> {
    const { clock, logger } = this.#deps.ctx;
    this.#tickedAt = clock.monotonic();
    try {
      await this.#overdue.expire();
    } catch (error) {
      if (!this.#stopping.signal.aborted) logger.warn("hook deliveries could not be scanned", { error: messageOf(error) });
    }
    // A pause that is not one of ours was another process's, or was given by a clock that was wrong.
    this.#look(Number.MAX_SAFE_INTEGER);
  }

  /** Rows that were charged for a crash wait, in later processes too: otherwise they would be the first at work in each of them, and in the way of each kill. */
  async #pauseCharged(uid: string): Promise<void> {
    const pauseMs = await this.#chargedMs(uid).catch((error: unknown) => {
      this.#deps.ctx.logger.warn("a delivery that may have ended the process cannot be read; it waits as long as one that has", {
        uid,
        error: messageOf(error),
      });
      return LONGEST_CHARGED_MS;
    });
    // No timer may be set after a stop.
    if (pauseMs > 0 && !this.#isClosed) this.#pauses.add(uid, Math.min(pauseMs, LONGEST_CHARGED_MS));
  }

  async #chargedMs(uid: string): Promise<number> {
    const row = await this.#deps.store().deliveries.get(uid);
    const isWaiting = row?.state === "accepted" && PROCESSED_DIRS.includes(row.dir);
    return isWaiting ? (row.notBefore ?? 0) - this.#deps.ctx.clock.now() : 0;
  }

  get #isClosed(): boolean {
    return this.#state === "closed";
  }
}

/** Pauses between two tries, by the steady clock: a wall clock that jumps neither shortens nor prolongs them. */
class Pauses {
  readonly #ctx: DeliveryDeps["ctx"];
  readonly #onOver: () => void;
  readonly #timers = new Map<string, Disposable>();
  /** Latest end of a pause that is over. */
  #over = 0;

  constructor({ ctx }: Pick<DeliveryDeps, "ctx">, onOver: () => void) {
    this.#ctx = ctx;
    this.#onOver = onOver;
  }

  /** The time to ask for rows by: those whose pause is over are due then. */
  now(): number {
    return Math.max(this.#ctx.clock.now(), this.#over);
  }

  has(id: string): boolean {
    return this.#timers.has(id);
  }

  add(id: string, ms: number): void {
    void this.#timers.get(id)?.dispose();
    const until = this.#ctx.clock.now() + ms;
    const timer = this.#ctx.timers.setTimeout(() => {
      this.#timers.delete(id);
      this.#over = Math.max(this.#over, until);
      this.#onOver();
    }, ms);
    this.#timers.set(id, timer);
  }

  end(): void {
    for (const timer of this.#timers.values()) void timer.dispose();
    this.#timers.clear();
  }
}
