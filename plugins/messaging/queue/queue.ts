import { type DeliveryRow, type Disposable, type Lease, messageOf, settledWithin } from "svc/sdk";
import { createExpiryClock, type ExpiryClock } from "svc/sdk/internal";
import { attempt } from "./attempt.ts";
import { endCutOff, fail, isCutOff, isPassing, untilStored } from "./ends.ts";
import { OUT, type QueueKit } from "./kit.ts";
import { readOutgoing } from "./message.ts";
import { recoverLeftBehind } from "./recover.ts";

/** Messages on their way at a time; each lane has one of them at most. */
const MAX_ACTIVE = 8;
/** Rows looked at in one round. */
const ROUND = 100;
/** And when some of them wait for an account: one of each lane. */
const MOST_LANES = 1_000;
/** Pause after a fault of the storage. */
const PAUSE_MS = 5_000;
/** The wall clock may jump: nobody sleeps longer than this. */
const LONGEST_SLEEP_MS = 60_000;
const SHORTEST_SLEEP_MS = 250;
/** Suspects of a crash go one after the other; who waits for that asks again. */
const ASK_AGAIN_MS = 1_000;
/** Name of this queue at the gate of the store. */
const OWNER = "out";
/** Time for calls under way at a stop, and for noting those that were cut off. */
const STOP_MS = { sending: 2_000, noting: 1_500 };

/** Carries out the rows `out`: one after the other in a lane, some lanes at a time. */
export class Queue {
  readonly #kit: QueueKit;
  /** Work on rows, by uid. */
  readonly #active = new Map<string, Promise<void>>();
  /** Aborted at a stop: calls under way end as unknown. */
  readonly #cut = new AbortController();
  #state: "closed" | "open" | "stopping" = "closed";
  #role: Lease | undefined;
  #expiry: ExpiryClock | undefined;
  #freed: Disposable | undefined;
  #timer: Disposable | undefined;
  #reading: Promise<void> | undefined;
  /** Nudged while the rows were read. */
  #isNudged = false;
  #pausedUntil = 0;
  #problem: string | undefined;

  constructor(kit: QueueKit) {
    this.#kit = kit;
  }

  /** Becomes the one queue that sends, and takes over what another boot or instance has left. Nothing is sent yet. Tries until the storage lets it. */
  async recover(): Promise<void> {
    let hasFailed = false;
    const takeOver = async () => {
      try {
        // While the storage was away the role may have been lost; without it, what this queue sends itself would be found as left behind.
        if (!this.#role || this.#role.lost.aborted) this.#role = await this.#kit.acquire();
        await recoverLeftBehind(this.#kit, this.#cut.signal);
      } catch (error) {
        if (!hasFailed && isPassing(error)) {
          const message = "messages of an earlier process cannot be taken over yet; trying again";
          this.#kit.logger.warn(message, { error: messageOf(error) });
        }
        hasFailed = true;
        throw error;
      }
    };
    await untilStored(this.#kit, takeOver, this.#cut.signal);
  }

  /** From here on messages are sent. */
  open(): void {
    if (this.#state === "closed") {
      this.#state = "open";
      this.#freed = this.#kit.store().deliveries.gate.onFree(() => this.nudge());
    }
    this.nudge();
  }

  /** Something may be due. */
  nudge(): void {
    void this.#timer?.dispose();
    this.#timer = undefined;
    if (this.#state !== "open") return;
    const restMs = this.#pausedUntil - this.#kit.clock.monotonic();
    if (restMs > 0) return this.#sleep(restMs);
    // One reading at a time: two of the same rows would begin each of them twice.
    this.#isNudged = this.#reading !== undefined;
    if (this.#isNudged) return;
    this.#reading = this.#beginDue()
      .catch((error: unknown) => this.#onUnreadable(error))
      .finally(() => {
        this.#reading = undefined;
        // Messages that came while the rows were read may be missing among them.
        if (this.#isNudged) this.nudge();
      });
  }

  /** Resolves when calls under way are settled or noted as unknown. */
  async stop(): Promise<void> {
    this.#state = "stopping";
    void this.#timer?.dispose();
    void this.#freed?.dispose();
    const settled = () => Promise.all(this.#active.values());
    await settledWithin(settled(), STOP_MS.sending);
    this.#cut.abort(new Error("the gateway stops"));
    await settledWithin(settled(), STOP_MS.noting);
    // The next queue finds the rows that could not be noted.
    await this.#role
      ?.release()
      .catch((error: unknown) => this.#kit.logger.debug("the role of the queue was not given back", { error: messageOf(error) }));
  }

  /** Returns why nothing is sent at present. */
  problem(): string | undefined {
    return this.#problem;
  }

  /** Resolves when nothing is read and nothing is under way. */
  async settled(): Promise<void> {
    while (this.#reading || this.#active.size > 0) await Promise.all([this.#reading, ...this.#active.values()]);
  }

  async #beginDue(): Promise<void> {
    const { deliveries } = this.#kit.store();
    const now = this.#kit.clock.now();
    // A clock that is far past the newest row at the start has jumped, too.
    this.#expiry ??= createExpiryClock(this.#kit.clock, (await deliveries.list({ dirs: OUT, limit: 1 }))[0]?.updatedAt);
    const isDoubted = this.#expiry.read() === undefined;
    // Overdue messages are never sent. While the clock is doubted they are not failed either, and must not hide those that are in time.
    const limit = isDoubted ? ROUND : MAX_ACTIVE + this.#active.size;
    const [late, found, next] = await Promise.all([
      isDoubted ? [] : deliveries.overdue({ dirs: OUT, now, limit: ROUND }),
      deliveries.due({ dirs: OUT, now, limit }),
      deliveries.nextAt(OUT),
    ]);
    // A stop came while the rows were read.
    if (this.#state !== "open") return;
    const ended = late.filter((row) => !this.#active.has(row.uid) && row.state !== "sending");
    for (const row of ended.slice(0, this.#places)) this.#begin(row.uid, () => expire(row, this.#kit));
    const waiting = found.filter((row) => !this.#canSend(row));
    // Rows that wait for a stopped account must not hide rows that could go.
    const isHidden = waiting.length > 0 && found.length === limit;
    const all = isHidden ? await deliveries.due({ dirs: OUT, now, limit: MOST_LANES }) : found;
    if (this.#isStopping) return;
    const due = all.filter((row) => !this.#active.has(row.uid) && row.expiresAt > now && this.#canSend(row));
    const uids = due.map(({ uid }) => uid);
    const admitted = new Set(deliveries.gate.admit(OWNER, uids));
    const beginning = due.filter(({ uid }) => admitted.has(uid)).slice(0, this.#places);
    for (const row of beginning) this.#begin(row.uid, () => this.#tryAlone(row));
    if (admitted.size < uids.length) this.#sleep(ASK_AGAIN_MS);
    else if (next !== undefined) this.#sleep(Math.max(next - now, waiting.length > 0 ? PAUSE_MS : 0));
  }

  /** Undecided rows count as sendable: the try says what is wrong with them. */
  #canSend({ uid, payload }: DeliveryRow): boolean {
    const message = readOutgoing(uid, payload);
    return message === undefined || this.#kit.canSend(message.route);
  }

  get #isStopping(): boolean {
    return this.#state !== "open";
  }

  get #places(): number {
    return MAX_ACTIVE - this.#active.size;
  }

  #begin(uid: string, work: () => Promise<void>): void {
    const held = this.#kit.hold(`message ${uid}`);
    const job = work()
      .then(
        () => {
          this.#problem = undefined;
        },
        (error: unknown) => this.#pause(error),
      )
      .finally(() => {
        this.#active.delete(uid);
        void held.dispose();
        this.nudge();
      });
    this.#active.set(uid, job);
  }

  /** One try, known to the gate: while a suspect of a crash is sent nothing else is. */
  async #tryAlone(row: DeliveryRow): Promise<void> {
    const turn = this.#kit.store().deliveries.gate.enter(row.uid);
    try {
      await attempt(row, this.#kit, this.#cut.signal);
    } finally {
      turn.leave({ isCleared: !this.#cut.signal.aborted });
    }
  }

  #onUnreadable(error: unknown): void {
    // A stop came while the rows were read; no timer may be set after it.
    if (this.#state !== "open") return;
    this.#pause(error);
    this.#sleep(PAUSE_MS);
  }

  /** Nothing is sent for a while; the first fault in a row is logged. */
  #pause(error: unknown): void {
    const seconds = PAUSE_MS / 1_000;
    if (this.#problem === undefined) this.#kit.logger.warn("the message queue is paused", { error: messageOf(error), seconds });
    this.#problem = messageOf(error);
    this.#pausedUntil = this.#kit.clock.monotonic() + PAUSE_MS;
  }

  #sleep(ms: number): void {
    void this.#timer?.dispose();
    const waitMs = Math.min(LONGEST_SLEEP_MS, Math.max(SHORTEST_SLEEP_MS, ms));
    this.#timer = this.#kit.timers.setTimeout(() => this.nudge(), waitMs);
  }
}

async function expire(row: DeliveryRow, kit: QueueKit): Promise<void> {
  const message = readOutgoing(row.uid, row.payload);
  if (message && (await isCutOff(message, kit))) return endCutOff(row, kit);
  const { attempt: tries, uid } = row;
  const said = typeof row.result?.reason === "string" ? row.result.reason : undefined;
  const [reason, what] = said === undefined ? ["it had no turn", "it had no turn"] : [said, "no try succeeded"];
  if (message) return fail(kit, { row, message, attempt: tries, outcome: "expired", reason, what });
  await kit.store().commit([
    {
      op: "delivery.finish",
      uid,
      from: ["accepted", "uncertain"],
      state: "expired",
      result: { reason: "unreadable" },
      at: kit.clock.now(),
    },
  ]);
}
