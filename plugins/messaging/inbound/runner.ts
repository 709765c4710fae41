import { setMaxListeners } from "node:events";
import { type DeliveryRow, type Disposable, type Lease, messageOf, settledWithin } from "svc/sdk";
import {
  commitWhenAvailable,
  createExpiryClock,
  deliveryOwner,
  type ExpiryClock,
  isStaleWrite,
  reached,
  sharedErrors,
  timeOrderedId,
  untilAvailable,
} from "svc/sdk/internal";
import { IN, type InboundDeps } from "./inbound-deps.ts";
import { fail, MAX_ATTEMPTS, processInbound } from "./process.ts";
import { decodeInbound } from "./stored.ts";

/** Messages that wait or are being answered: of one session, and of all. What is too much is refused, so that other accepted work keeps its room in the store. */
const MAX_OF_SESSION = 100;
const MAX_OPEN = 1_000;
/** Rows claimed at a time: of one session, more than `messages.queue.cap` lets wait, and of all. */
const MAX_CLAIMED_OF_SESSION = 24;
const MAX_CLAIMED = 64;
/** Rows looked at in one round: as many as have a place; more only where those that are found leave places free. Each is decoded on the main thread. */
const ROUND = 2 * MAX_CLAIMED;
const LONG_ROUND = 500;
const TICK_MS = 60_000;
/** After the rows could not be read, and while suspects of a crash go one after the other. */
const LOOK_AGAIN_MS = 1_000;
const STOP_MS = 4_000;
const PAGE = 100;
const MAX_PAGES = 30;
/** Name of this queue at the gate of the store. */
const OWNER = "in";

/** Room for one message. */
export interface Slot {
  uid: string;
  /** The message is not stored after all. */
  release(): void;
}

/** Has stored messages of channels answered: in order inside a session, sessions side by side. */
export class InboundRunner {
  readonly #deps: InboundDeps;
  readonly #stopping = new AbortController();
  /** Work on rows, by uid. */
  readonly #active = new Map<string, { sessionKey: string; done: Promise<void> }>();
  /** Resolves when the newest claimed message of a session was handed over. */
  readonly #handedOver = new Map<string, Promise<void>>();
  /** Messages that have not ended, by session. */
  readonly #open = new Map<string, number>();
  #openCount = 0;
  #state: "idle" | "beginning" | "open" | "closed" = "idle";
  #role: Lease | undefined;
  #expiry: ExpiryClock | undefined;
  #freed: Disposable | undefined;
  #ticking: Disposable | undefined;
  #later: Disposable | undefined;
  #reading: Promise<void> | undefined;
  #isNudged = false;
  /** Sessions whose oldest message could not be claimed, until when they rest. */
  readonly #resting = new Map<string, number>();
  #wakesAt: number | undefined;

  constructor(deps: InboundDeps) {
    this.#deps = deps;
    setMaxListeners(0, this.#stopping.signal); // one listener for each row at work, and MAX_CLAIMED bounds those
  }

  /** Takes up what another process or instance has left, then begins to claim. Tries until the storage lets it. @throws any other fault; it may be called again */
  async begin(): Promise<void> {
    if (this.#state !== "idle") return;
    this.#state = "beginning";
    try {
      await this.#takeUp();
    } catch (error) {
      if (!this.#isClosed) this.#state = "idle";
      throw error;
    }
    if (this.#isClosed) return;
    this.#state = "open";
    this.#freed = this.#deps.store().deliveries.gate.onFree(() => this.nudge());
    this.#ticking = this.#deps.ctx.timers.setInterval(() => void this.#tick(), TICK_MS);
    void this.#tick();
  }

  async #takeUp(): Promise<void> {
    const { signal } = this.#stopping;
    await untilAvailable(
      async () => {
        // While the storage was away the role may have been lost; without it, what this instance runs itself would be found as left behind.
        if (!this.#role || this.#role.lost.aborted) this.#role = await this.#deps.acquire();
        await this.#recover();
        await this.#takeOver();
      },
      signal,
      this.#deps,
    );
  }

  /** Room for a message of a session; undefined when too many wait. */
  reserve(sessionKey: string): Slot | undefined {
    const of = this.#open.get(sessionKey) ?? 0;
    if (of >= MAX_OF_SESSION || this.#openCount >= MAX_OPEN) return undefined;
    this.#add(sessionKey, 1);
    return { uid: timeOrderedId(this.#deps.ctx.clock.now()), release: () => this.#add(sessionKey, -1) };
  }

  /** Looks for messages that are due. */
  nudge(): void {
    if (this.#state !== "open") return;
    this.#isNudged = this.#reading !== undefined;
    if (this.#isNudged) return;
    this.#reading = this.#beginDue()
      .catch((error: unknown) => {
        if (this.#state === "open")
          this.#deps.ctx.logger.warn("messages from channels cannot be read; trying again", { error: messageOf(error) });
        this.#lookAgain();
      })
      .finally(() => {
        this.#reading = undefined;
        // Messages that came while the rows were read may be missing among them.
        if (this.#isNudged) this.nudge();
      });
  }

  /** Number of messages that wait or are being answered. */
  get openCount(): number {
    return this.#openCount;
  }

  /** Claims nothing more; what is under way goes on. */
  close(): void {
    this.#state = "closed";
    for (const one of [this.#ticking, this.#freed, this.#later]) void one?.dispose();
  }

  /** Gives back what is under way, 4 s at most. Rows stay. */
  async stop(): Promise<void> {
    this.close();
    this.#stopping.abort(sharedErrors.draining({}, { retryAfterMs: 2_000 }));
    await settledWithin(Promise.allSettled([...this.#active.values()].map(({ done }) => done)), STOP_MS);
    await this.#role
      ?.release()
      .catch((error: unknown) =>
        this.#deps.ctx.logger.debug("the role of the inbound runner was not given back", { error: messageOf(error) }),
      );
  }

  get #isClosed(): boolean {
    return this.#state === "closed";
  }

  async #beginDue(): Promise<void> {
    if (this.#active.size >= MAX_CLAIMED) return;
    const now = this.#deps.ctx.clock.now();
    const { deliveries } = this.#deps.store();
    for (const limit of [ROUND, LONG_ROUND]) {
      const due = await deliveries.due({ dirs: IN, now, limit });
      // A stop came while they were read: what is begun now would be given back by nobody.
      if (this.#state !== "open") return;
      const isGated = this.#beginAmong(due, now);
      if (isGated || due.length < limit || this.#active.size >= MAX_CLAIMED) break;
    }
    if (this.#active.size < MAX_CLAIMED) this.#sleepUntilNext(await deliveries.nextAt(IN), now);
  }

  /** Begins those that have a place. @returns true when the gate holds some of them back */
  #beginAmong(due: readonly DeliveryRow[], now: number): boolean {
    this.#wakeRested();
    const free = due.filter((row) => !this.#active.has(row.uid) && row.expiresAt > now && !this.#resting.has(sessionOf(row)));
    const uids = free.map(({ uid }) => uid);
    const admitted = new Set(this.#deps.store().deliveries.gate.admit(OWNER, uids));
    const isGated = admitted.size < uids.length;
    if (isGated) this.#lookAgain();
    const claimed = new Map<string, number>();
    for (const { sessionKey } of this.#active.values()) claimed.set(sessionKey, (claimed.get(sessionKey) ?? 0) + 1);
    for (const row of inTurn(free, claimed)) {
      const sessionKey = sessionOf(row);
      const of = claimed.get(sessionKey) ?? 0;
      if (this.#active.size >= MAX_CLAIMED) break;
      if (!admitted.has(row.uid) || of >= MAX_CLAIMED_OF_SESSION) continue;
      claimed.set(sessionKey, of + 1);
      this.#begin(row, sessionKey);
    }
    return isGated;
  }

  #begin(row: DeliveryRow, sessionKey: string): void {
    const { signal } = this.#stopping;
    const before = this.#handedOver.get(sessionKey) ?? Promise.resolve();
    let onHandedOver: () => void = () => undefined;
    const handedOver = new Promise<void>((resolve) => (onHandedOver = resolve));
    this.#handedOver.set(sessionKey, handedOver);
    const turn = this.#deps.store().deliveries.gate.enter(row.uid);
    const work = before
      .then(() => processInbound(row, { deps: this.#deps, signal, onHandedOver, onRan: () => turn.leave({ isCleared: true }) }))
      .then((processed) => {
        this.#active.delete(row.uid);
        // Whatever kept it from being claimed is still there if it is tried at once; the gate tells that a place is free.
        if (processed === "unclaimed") this.#resting.set(sessionKey, this.#deps.ctx.clock.monotonic() + LOOK_AGAIN_MS);
        if (this.#handedOver.get(sessionKey) === handedOver) this.#handedOver.delete(sessionKey);
        turn.leave({ isCleared: !signal.aborted });
        if (processed === "ended") this.#end(row);
        this.nudge();
      });
    this.#active.set(row.uid, { sessionKey, done: work });
  }

  #add(sessionKey: string, by: 1 | -1): void {
    const next = (this.#open.get(sessionKey) ?? 0) + by;
    if (next > 0) this.#open.set(sessionKey, next);
    else this.#open.delete(sessionKey);
    this.#openCount = Math.max(0, this.#openCount + by);
  }

  /** Counts what is open from before, and keeps its files; the store holds 2,000 unfinished rows at most. */
  async #takeOver(): Promise<void> {
    this.#open.clear();
    this.#openCount = 0;
    const rows = await this.#deps.store().deliveries.list({ dirs: IN, states: ["accepted", "running"], limit: MAX_OPEN });
    for (const row of rows) this.#add(sessionOf(row), 1);
    await this.#deps.media.takeOver(new Set(rows.flatMap(filesOf)));
  }

  /** A row that will not be looked at again. */
  #end(row: DeliveryRow): void {
    this.#add(sessionOf(row), -1);
    void this.#deps.media.remove(filesOf(row));
  }

  async #tick(): Promise<void> {
    this.#deps.media.expire();
    try {
      await this.#expire();
    } catch (error) {
      if (!this.#stopping.signal.aborted)
        this.#deps.ctx.logger.warn("messages from channels could not be scanned", { error: messageOf(error) });
    }
    this.nudge();
  }

  async #expire(): Promise<void> {
    const { deliveries } = this.#deps.store();
    const { signal } = this.#stopping;
    this.#expiry ??= createExpiryClock(this.#deps.ctx.clock, (await deliveries.list({ dirs: IN, limit: 1 }))[0]?.updatedAt);
    const now = this.#expiry.read();
    if (now === undefined) return;
    for (const row of await deliveries.overdue({ dirs: IN, now, limit: PAGE })) {
      if (row.state !== "accepted" || this.#active.has(row.uid)) continue;
      const hasEnded = await fail({ row, deps: this.#deps, signal }, "expired", "nobody could answer it for a day");
      if (hasEnded) this.#end(row);
    }
  }

  /** Rows that another boot, or an earlier instance, had claimed and did not end: back into the queue. */
  async #recover(): Promise<void> {
    const { signal } = this.#stopping;
    for (let page = 0; page < MAX_PAGES; page++) {
      const rows = await this.#deps.store().deliveries.abandoned({ dirs: IN, limit: PAGE });
      signal.throwIfAborted();
      if (rows.length === 0) return;
      await reached("inbound.before-recover");
      const done = await Promise.all(rows.map((row) => this.#recoverOne(row)));
      this.#deps.ctx.logger.warn(`${rows.length} messages from channels were being answered when an earlier process ended; they resume`);
      // Rows that could not be moved would be found again, and again.
      if (!done.includes(true)) return;
    }
  }

  /** A try counts only when its run had begun and nothing else was under way: then it is known who ended the process. */
  async #recoverOne(row: DeliveryRow): Promise<boolean> {
    const { deliveries } = this.#deps.store();
    const { signal } = this.#stopping;
    const verdict = deliveries.crashed(row.uid);
    const suspicion = deliveries.gate.suspicion(row.uid);
    const crashes = (typeof row.result?.crashes === "number" ? row.result.crashes : 0) + (verdict === "guilty" ? 1 : 0);
    const reason = "the gateway ended while it was answered";
    try {
      if (crashes >= MAX_ATTEMPTS || !decodeInbound(row)) {
        await fail(
          { row, deps: this.#deps, signal },
          "failed",
          crashes >= MAX_ATTEMPTS ? `${reason} each time` : "what is stored of it cannot be read",
        );
        return true;
      }
      const at = this.#deps.ctx.clock.now();
      const result = { reason, ...(suspicion > 0 ? { suspect: suspicion } : {}), ...(crashes > 0 ? { crashes } : {}) };
      const attempt = verdict === "guilty" ? row.attempt : Math.max(0, row.attempt - 1);
      const waitMs = verdict === "guilty" ? crashes * 5_000 : 0;
      const op = {
        op: "delivery.requeue" as const,
        uid: row.uid,
        from: ["running" as const],
        ...deliveryOwner(row),
        attempt,
        result,
        notBefore: at + waitMs,
        at,
      };
      await commitWhenAvailable([op], {
        deps: this.#deps,
        signal,
        isStored: async () => (await this.#deps.store().deliveries.get(row.uid))?.state !== "running",
      });
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (isStaleWrite(error)) return true;
      this.#deps.ctx.logger.error(`message ${row.uid}: it was left behind and could not be resumed`, { error: messageOf(error) });
      return false;
    }
  }

  #sleepUntilNext(next: number | undefined, now: number): void {
    // Rows that are due already wait for a place or a turn, and are looked for when one is free.
    if (this.#state === "open" && next !== undefined && next > now) this.#wake(Math.min(next - now, TICK_MS));
  }

  /** Sessions whose rest is over may be tried again; the first of the others wakes this. */
  #wakeRested(): void {
    const now = this.#deps.ctx.clock.monotonic();
    for (const [session, until] of this.#resting) {
      if (until <= now) this.#resting.delete(session);
      else this.#wake(until - now);
    }
  }

  #lookAgain(): void {
    if (this.#state === "open") this.#wake(LOOK_AGAIN_MS);
  }

  /** Looks for rows then, or sooner when that was asked for. */
  #wake(inMs: number): void {
    const at = this.#deps.ctx.clock.monotonic() + inMs;
    if (this.#wakesAt !== undefined && this.#wakesAt <= at) return;
    void this.#later?.dispose();
    this.#wakesAt = at;
    this.#later = this.#deps.ctx.timers.setTimeout(() => {
      this.#wakesAt = undefined;
      this.nudge();
    }, inMs);
  }
}

/** A lane is `in:<session key>:<uid>`. */
export function laneOf(sessionKey: string, uid: string): string {
  return `in:${sessionKey}:${uid}`;
}

/** Rows in the order in which places are given away: the second one of a session after the first one of every other. @param at rows of a session at work */
function inTurn(rows: readonly DeliveryRow[], at: ReadonlyMap<string, number>): DeliveryRow[] {
  const seen = new Map(at);
  const ranked = rows.map((row) => {
    const session = sessionOf(row);
    const rank = seen.get(session) ?? 0;
    seen.set(session, rank + 1);
    return { row, rank };
  });
  return ranked.toSorted((a, b) => a.rank - b.rank).map(({ row }) => row);
}

function filesOf(row: DeliveryRow): string[] {
  return decodeInbound(row)?.files.map(({ file }) => file) ?? [];
}

function sessionOf({ lane, uid }: Pick<DeliveryRow, "lane" | "uid">): string {
  return lane.slice("in:".length, -(uid.length + 1));
}
