import {
  backoffDelayMs,
  type Clock,
  type CommitOptions,
  commonErrors,
  createError,
  type Disposable,
  type Logger,
  messageOf,
  type OpResult,
  type StoreOp,
  type SvcError,
  type Timers,
  withLimit,
  writeFileAtomic,
} from "svc/sdk";
import { createExpiryClock, type ExpiryClock } from "svc/sdk/internal";
import { createCommitQueue, type Pending, type QueueLimits } from "./commit-queue.ts";
import { encodeAll, endsDelivery } from "./encode-commit.ts";
import { storeErrors } from "./errors.ts";
import type { CommitOutcome } from "./group-commit.ts";
import type { LeaseOp, WriteOp } from "./operations.ts";
import { suspectMark } from "./restore.ts";
import type { StorageFault } from "./sqlite-fault.ts";
import { type StorageReason, storageAdvice, storageUnavailable } from "./storage-unavailable.ts";
import type { FileIdentity, Opened, OpenFiles, WriterReply, WriterRequest, WriterSetup } from "./writer-messages.ts";
import { startWriterThread, type WriterThread } from "./writer-thread.ts";

const openTimeoutMs = 25_000;
const requestTimeoutMs = 60_000;
/** The whole database is copied. */
const rescueTimeoutMs = 600_000;
const drainTimeoutMs = 3_000;
const closeTimeoutMs = 2_000;
/** Until the second reading of a clock that is not believed. */
const doubtMs = 60_000;
const longestRestartMs = 30_000;
/** A thread that lived this long did not end because it was started: the next one starts after the short pause. */
const stableMs = 60_000;
/** So many deliveries end before old ones are dropped without waiting for the hour: a busy webhook ends hundreds in a second. */
const endedPerCleaning = 1_000;

export interface StoreWriterOptions {
  path: string;
  clock: Clock;
  logger: Logger;
  /** Called after each change of `reason`. */
  onStatus(): void;
  /** Called after each transaction with its time in milliseconds. */
  onGroup?(ms: number): void;
  /** A commit is stored; called before its caller hears of it. */
  onStored(ops: readonly WriteOp[]): void;
  /** Another writer thread is up; what became of commits that the last one had is unknown. */
  onRestarted(): void;
  /** Another file is written to from now on; called before anything is stored in it. */
  onMoved(path: string): void;
  limits: QueueLimits;
  /** Pause before the writer tries a faulty disk again. */
  probeMs: number;
  /** First pause before a dead thread is started again; doubles up to 30 s. */
  restartMs: number;
  maintenanceMs: number;
  timers: Pick<Timers, "setInterval">;
  setup: Pick<WriterSetup, "failpoint" | "faults">;
  /** Tests only. */
  startThread?: typeof startWriterThread;
}

/**
 * The main thread's side of all writes: a queue of commits, and a thread that stores them.
 *
 * | `reason` | Commits | Leaves it |
 * |---|---|---|
 * | none | are queued and stored | by a fault, or the end of the thread |
 * | `full`, `readonly`, `io` | are refused, those that wait fail | when a probe, every `probeMs`, is stored |
 * | `down` | the same | when another thread is up; one is started with backoff |
 * | `corrupt` | the same | never: writing into a damaged file makes it worse, the next start restores it |
 * | `closed` | the same | never |
 *
 * One request is with the thread at a time. While it is answered commits gather: they are the next transaction. There is no gather timer: measured, waiting 3 ms
 * costs nine tenths of the throughput.
 */
export class StoreWriter {
  readonly #options: StoreWriterOptions;
  readonly #queue: ReturnType<typeof createCommitQueue>;
  #path: string;
  #files: OpenFiles = { database: { dev: 0, ino: 0 }, log: undefined };
  #reason: StorageReason | undefined;

  /** The thread that was started last; it takes requests once it `#isReady`. */
  #thread: WriterThread | undefined;
  #isReady = false;
  #upSince = 0;
  #failedStarts = 0;
  #restart: NodeJS.Timeout | undefined;
  #probe: NodeJS.Timeout | undefined;

  #isSending = false;
  #sent: Promise<void> = Promise.resolve();
  #maintenance: Disposable | undefined;
  #expiry: ExpiryClock | undefined;
  #doubt: NodeJS.Timeout | undefined;
  #isMaintenanceDue = false;
  #maintainedLast = false;
  #endedDeliveries = 0;

  #marked: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: StoreWriterOptions) {
    this.#options = options;
    this.#path = options.path;
    this.#queue = createCommitQueue(options.limits);
  }

  /** The file that is written to. */
  get path(): string {
    return this.#path;
  }

  get files(): OpenFiles {
    return this.#files;
  }

  /** Why commits are refused; undefined while they are taken. */
  get reason(): StorageReason | undefined {
    return this.#closing ? "closed" : this.#reason;
  }

  get queuedOps(): number {
    return this.#queue.queuedOps;
  }

  /** Starts the thread and opens the database. @throws {SvcError} the reason of the opening, or `store-open-failed` */
  async open(): Promise<Opened> {
    const opened = await this.#startThread({ again: false });
    this.#files = opened.files;
    this.#expiry = createExpiryClock(this.#options.clock, opened.lastSeenAt);
    this.#maintenance = this.#options.timers.setInterval(() => this.#wantMaintenance(), this.#options.maintenanceMs);
    this.#wantMaintenance();
    return opened;
  }

  /** See `Store.commit`. */
  commit(ops: ReadonlyArray<StoreOp | LeaseOp>, { signal, fence }: CommitOptions = {}): Promise<OpResult[]> {
    const { reason } = this;
    if (reason) return Promise.reject(storageUnavailable(reason));
    try {
      const encoded = encodeAll(ops);
      if (fence) encoded.unshift({ op: "lease.check", name: fence.name, token: fence.token });
      const added = this.#queue.add(encoded, { signal, stored: this.#stored });
      this.#send();
      return fence ? added.then((results) => results.slice(1)) : added;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** A reader met damage: no more writes until the next start, which checks the file. */
  reportDamage(cause: unknown): void {
    this.#fail("corrupt", cause);
  }

  /** Brings what is in the log into the database. */
  async checkpoint(): Promise<void> {
    await this.#ask({ type: "checkpoint" });
  }

  /** See the request `rescue`. @throws {Error} when it could not be written; nothing has changed then */
  async rescue(moveTo: string, ownLog: FileIdentity | undefined): Promise<void> {
    const reply = await this.#present()?.request({ type: "rescue", moveTo, ownLog }, rescueTimeoutMs);
    if (reply?.type !== "rescued") throw new Error(reply?.type === "failed" ? reply.message : "the writer thread is being restarted");
    this.#path = reply.path;
    this.#files = reply.files;
    this.#options.onMoved(reply.path);
  }

  /** Takes nothing more, writes what waits (3 s at most), waits for `finish`, truncates the log and ends the thread. */
  close(finish: () => Promise<void> | void): Promise<void> {
    this.#closing ??= this.#close(finish);
    return this.#closing;
  }

  async #close(finish: () => Promise<void> | void): Promise<void> {
    void this.#maintenance?.dispose();
    clearTimeout(this.#doubt);
    this.#isMaintenanceDue = false;
    await withLimit(this.#sent, drainTimeoutMs, () => undefined);
    clearTimeout(this.#probe);
    this.#reason = "closed";
    this.#queue.failAll(() => storageUnavailable("closed"));
    await finish();
    await this.#present()
      ?.request({ type: "close" }, closeTimeoutMs)
      .catch((error: unknown) => {
        this.#options.logger.warn("the state database was not closed cleanly", { error: messageOf(error) });
      });
    this.#isReady = false;
    clearTimeout(this.#restart);
    await this.#thread?.terminate();
    await this.#marked;
  }

  // Commits on their way to the thread.

  /** In a microtask, so that the commits of one synchronous stretch of the caller travel together. */
  #send(): void {
    if (this.#isSending) return;
    this.#isSending = true;
    this.#sent = Promise.resolve().then(() => this.#sendAll());
  }

  async #sendAll(): Promise<void> {
    try {
      // Old rows are dropped in turns with commits: neither starves the other.
      while (!this.#reason && (this.#isMaintenanceDue || this.#queue.waiting > 0)) {
        if (this.#isMaintenanceDue && !(this.#maintainedLast && this.#queue.waiting > 0)) await this.#maintain();
        else await this.#sendGroup(this.#queue.takeGroup());
      }
    } finally {
      // In the same turn as the last look at the queue: a commit that comes later begins anew.
      this.#isSending = false;
    }
  }

  async #sendGroup(group: Pending[]): Promise<void> {
    this.#maintainedLast = false;
    const { clock, onGroup } = this.#options;
    const begun = clock.monotonic();
    const reply = await this.#ask({ type: "group", commits: group.map((pending) => pending.ops) });
    if (reply?.type === "group") {
      onGroup?.(clock.monotonic() - begun);
      return settle(group, reply.outcomes);
    }
    const locked = reply?.type === "failed" && reply.fault === "locked";
    for (const pending of group) {
      pending.fail(locked ? storeErrors.storageBusy({ queued: this.queuedOps }) : unavailable(this.#reason, reply));
    }
  }

  readonly #stored = (ops: readonly WriteOp[]): void => {
    this.#options.onStored(ops);
    this.#endedDeliveries += ops.filter(endsDelivery).length;
    if (this.#endedDeliveries < endedPerCleaning || this.#closing) return;
    this.#endedDeliveries = 0;
    this.#wantMaintenance();
  };

  #wantMaintenance(): void {
    this.#isMaintenanceDue = true;
    this.#send();
  }

  async #maintain(): Promise<void> {
    this.#maintainedLast = true;
    const now = this.#expiry?.read();
    if (now === undefined) return this.#maintainLater();
    const reply = await this.#ask({ type: "maintain", now });
    this.#isMaintenanceDue &&= reply?.type === "maintained" && reply.more;
  }

  /** The clock went forward by more than a day at once. What it would end waits for a second reading. */
  #maintainLater(): void {
    this.#isMaintenanceDue = false;
    clearTimeout(this.#doubt);
    this.#doubt = setTimeout(() => this.#wantMaintenance(), doubtMs);
    this.#doubt.unref();
  }

  /** Undefined when the thread is gone. A fault of the storage has taken effect before it returns. */
  async #ask(request: WriterRequest): Promise<WriterReply | undefined> {
    const reply = await this.#present()
      ?.request(request, requestTimeoutMs)
      .catch(() => undefined);
    if (reply?.type === "failed" && reply.fault !== "locked") this.#fail(reply.fault, new Error(reply.message));
    if (reply?.type === "refused") this.#fail("io", createError(storeErrors, reply.refusal.code, reply.refusal.fields));
    return reply;
  }

  #present(): WriterThread | undefined {
    return this.#isReady ? this.#thread : undefined;
  }

  // Faults, and what ends them.

  #fail(reason: StorageFault | "down", cause: unknown): void {
    if (this.#reason === "closed" || this.#reason === "corrupt") return;
    const { logger, onStatus } = this.#options;
    if (this.#reason !== reason) {
      logger.error(storageAdvice[reason], { reason, cause: cause instanceof Error ? cause.message : undefined });
    }
    this.#reason = reason;
    this.#queue.failAll(() => storageUnavailable(reason, cause));
    if (reason === "corrupt") this.#marked = markSuspect(this.#path, logger);
    onStatus();
    if (isProbed(reason)) this.#probeLater();
  }

  #heal(): void {
    this.#reason = undefined;
    this.#options.logger.info("the state database accepts writes again");
    this.#options.onStatus();
    this.#send();
  }

  #probeLater(): void {
    clearTimeout(this.#probe);
    this.#probe = setTimeout(() => void this.#probeNow(), this.#options.probeMs);
    this.#probe.unref();
  }

  async #probeNow(): Promise<void> {
    const reply = await this.#ask({ type: "probe" });
    if (!isProbed(this.#reason)) return;
    if (reply?.type === "healthy") this.#heal();
    else this.#probeLater();
  }

  // The life of the thread.

  async #startThread({ again }: { again: boolean }): Promise<Opened> {
    const { clock, setup, startThread = startWriterThread } = this.#options;
    const path = this.#path;
    // A failpoint is for the first thread; the one that takes over must live.
    const kept = again ? (setup.faults ? { faults: setup.faults } : {}) : setup;
    const thread = startThread({ path, now: clock.now(), again, ...kept }, (error) => this.#threadEnded(thread, error));
    this.#thread = thread;
    try {
      const opened = toOpened(await thread.request({ type: "open" }, openTimeoutMs), path);
      this.#isReady = true;
      this.#upSince = clock.monotonic();
      return opened;
    } catch (error) {
      await thread.terminate();
      throw error;
    }
  }

  #threadEnded(thread: WriterThread, error: SvcError): void {
    if (this.#thread !== thread || !this.#isReady) return;
    this.#isReady = false;
    this.#fail("down", error);
    if (this.#options.clock.monotonic() - this.#upSince > stableMs) this.#failedStarts = 0;
    this.#startLater();
  }

  #startLater(): void {
    if (this.#reason === "closed") return;
    this.#failedStarts += 1;
    const delayMs = backoffDelayMs(this.#failedStarts, { firstMs: this.#options.restartMs, maxMs: longestRestartMs });
    this.#restart = setTimeout(() => void this.#startAgain(), delayMs);
    this.#restart.unref();
  }

  async #startAgain(): Promise<void> {
    const isClosed = () => this.#reason === "closed";
    if (isClosed()) return;
    try {
      const opened = await this.#startThread({ again: true });
      if (isClosed()) return;
      this.#files = opened.files;
      if (this.#reason === "down") this.#heal();
      this.#options.onRestarted();
    } catch {
      this.#startLater();
    }
  }
}

function settle(group: Pending[], outcomes: CommitOutcome[]): void {
  for (const [at, pending] of group.entries()) {
    const outcome = outcomes[at];
    if (outcome) pending.settle(outcome);
    else pending.fail(storageUnavailable("down"));
  }
}

function unavailable(reason: StorageReason | undefined, reply: WriterReply | undefined): SvcError {
  if (reply) return storageUnavailable(reason ?? "io");
  return storageUnavailable(reason ?? "down", commonErrors.workerDown({ worker: "store" }));
}

function isProbed(reason: StorageReason | undefined): boolean {
  return reason === "full" || reason === "readonly" || reason === "io";
}

function toOpened(reply: WriterReply, path: string): Opened {
  if (reply.type === "opened") return reply;
  if (reply.type === "refused") throw createError(storeErrors, reply.refusal.code, reply.refusal.fields);
  throw storeErrors.storeOpenFailed({ path, reason: reply.type === "failed" ? reply.message : messageOf(reply.type) });
}

function markSuspect(path: string, logger: Logger): Promise<void> {
  return writeFileAtomic(suspectMark(path), "").catch((error: unknown) => {
    logger.warn("could not write the marker that makes the next start check the database", { error: messageOf(error) });
  });
}
