import { type Clock, type CommitOptions, commonErrors, type Logger, type OpResult, type StoreOp } from "svc/sdk";
import { type CommitOutcome, type CommitQueue, createCommitQueue, type Pending, type QueueLimits } from "./commit-queue.ts";
import type { Link } from "./database.ts";
import { decodeOutcomes } from "./decode-outcomes.ts";
import { answerWithin, codeOf, faultText, isTransient, type StorageReason, storageFault, storageUnavailable } from "./faults.ts";
import { encodeOp, type LeaseOp, locksOf, type WriteOp } from "./operations.ts";
import { Refusal } from "./refusal.ts";

/** A group that a deadlock or a conflict has undone is sent again, at most so often. */
const mostTries = 5;
/** A probe that takes longer has failed. */
const probeAnswerMs = 5_000;

export interface WriterOptions {
  /** Opens another connection for writing; the one before is given up. */
  connect(): Link;
  /** Number of this gateway's row. */
  gatewayId(): number;
  clock: Pick<Clock, "monotonic">;
  logger: Logger;
  limits: QueueLimits;
  probeMs: number;
  onStatus(): void;
  /** Called for each stored commit, before its caller hears of it. */
  onStored(ops: readonly WriteOp[]): void;
  /** Called when the database takes commits again: others may have written meanwhile. */
  onRecovered(): void;
  onGroup?: ((ms: number) => void) | undefined;
}

/** Sends groups of commits, one at a time, on one connection; knows whether the database takes them. */
export class Writer {
  readonly #options: WriterOptions;
  readonly #queue: CommitQueue;
  #link: Link;
  #isBusy = false;
  #reason: StorageReason | undefined;
  #probe: NodeJS.Timeout | undefined;
  #idle: (() => void) | undefined;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#queue = createCommitQueue(options.limits);
    this.#link = options.connect();
  }

  get reason(): StorageReason | undefined {
    return this.#reason;
  }

  get queuedOps(): number {
    return this.#queue.queuedOps;
  }

  async commit(ops: ReadonlyArray<StoreOp | LeaseOp>, { signal, fence }: CommitOptions = {}): Promise<OpResult[]> {
    if (this.#reason) throw storageUnavailable(this.#reason);
    const check: LeaseOp[] = fence ? [{ op: "lease.check", name: fence.name, token: fence.token }] : [];
    const encoded = [...check, ...ops].map((op) => (isLeaseOp(op) ? op : encodeOp(op)));
    const results = this.#queue.add(encoded, { signal, stored: this.#options.onStored });
    this.#pump();
    return fence ? (await results).slice(1) : results;
  }

  /** Something else than a commit has met a fault. */
  report(reason: StorageReason, cause: unknown): void {
    if (this.#reason === undefined) this.#fail(reason, cause);
  }

  /** Writes what waits, for at most `ms`, and ends. */
  async close(ms: number): Promise<void> {
    if (this.#reason === undefined && (this.#isBusy || this.#queue.waiting > 0)) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
        timer = setTimeout(resolve, ms);
      });
      clearTimeout(timer);
    }
    this.#reason = "closed";
    clearTimeout(this.#probe);
    this.#queue.failAll(() => storageUnavailable("closed"));
    await this.#link.close().catch(() => undefined);
  }

  #pump(): void {
    if (this.#isBusy || this.#reason !== undefined) return;
    const group = this.#queue.takeGroup();
    if (group.length === 0) return this.#idle?.();
    this.#isBusy = true;
    void this.#send(group).finally(() => {
      this.#isBusy = false;
      // The next group takes what callers add when they hear of this one.
      setImmediate(() => this.#pump());
    });
  }

  async #send(group: Pending[]): Promise<void> {
    const began = this.#options.clock.monotonic();
    try {
      settle(group, await this.#apply(group.map(({ ops }) => ops)));
      this.#options.onGroup?.(this.#options.clock.monotonic() - began);
    } catch (error) {
      const fault = storageFault(error);
      if (!fault && group.length > 1) {
        // One of them is not what the functions expect; it must not take the others with it.
        for (const one of group) await this.#send([one]);
        return;
      }
      const toError = fault
        ? () => lostError(fault, error)
        : () => new Refusal("store-invalid-op", { reason: faultText(error) }, { cause: error });
      if (fault) this.#fail(fault, error);
      for (const pending of group) pending.fail(toError());
    }
  }

  async #apply(commits: WriteOp[][]): Promise<CommitOutcome[]> {
    const locks = JSON.stringify(locksOf(commits));
    const text = JSON.stringify(commits);
    for (let tries = 1; ; tries++) {
      try {
        const [row] = await this.#link.query("SELECT apply_group($1, $2, $3) AS outcomes", [text, locks, this.#options.gatewayId()]);
        return decodeOutcomes(String(row?.outcomes));
      } catch (error) {
        if (!isTransient(error) || tries >= mostTries) throw error;
        this.#options.logger.debug("a group of commits is sent again", { code: codeOf(error), tries });
      }
    }
  }

  #fail(reason: StorageReason, cause: unknown): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#options.logger.error(`the database takes no writes (${reason}); tried again every ${this.#options.probeMs / 1000} s`, {
      fault: faultText(cause),
    });
    this.#queue.failAll(() => storageUnavailable(reason));
    this.#options.onStatus();
    this.#probeLater();
  }

  /** A standby says no more than that it is read-only. */
  async #reasonOf(error: unknown): Promise<StorageReason> {
    const reason = storageFault(error) ?? "unreachable";
    if (reason !== "readonly") return reason;
    const [row] = await answerWithin(probeAnswerMs, this.#link.query("SELECT pg_is_in_recovery()::integer AS standby")).catch(() => []);
    return Number(row?.standby) === 1 ? "standby" : reason;
  }

  #probeLater(): void {
    clearTimeout(this.#probe);
    this.#probe = setTimeout(() => void this.#probeNow(), this.#options.probeMs).unref();
  }

  async #probeNow(): Promise<void> {
    const before = this.#link;
    this.#link = this.#options.connect();
    void before.close().catch(() => undefined);
    try {
      await answerWithin(probeAnswerMs, this.#link.query("UPDATE probe SET n = n + 1 WHERE id = 1"));
    } catch (error) {
      const reason = await this.#reasonOf(error);
      if (this.#reason !== "closed" && this.#reason !== reason) {
        this.#reason = reason;
        this.#options.onStatus();
      }
      if (this.#reason !== "closed") this.#probeLater();
      return;
    }
    if (this.#reason === "closed") return;
    this.#reason = undefined;
    this.#options.logger.info("the database takes writes again");
    this.#options.onStatus();
    this.#options.onRecovered();
    this.#pump();
  }
}

/** Error of a group whose answer was lost: nobody knows whether it was stored, and callers ask, as they do when a writer thread has ended. */
function lostError(fault: StorageReason, cause: unknown): Refusal {
  return storageUnavailable(fault, fault === "unreachable" ? commonErrors.workerDown({ worker: "store" }, { cause }) : cause);
}

function settle(group: Pending[], outcomes: CommitOutcome[]): void {
  for (const [at, pending] of group.entries()) {
    const outcome = outcomes[at];
    if (outcome) pending.settle(outcome);
    else pending.fail(storageUnavailable("io"));
  }
}

function isLeaseOp(op: StoreOp | LeaseOp): op is LeaseOp {
  return op.op.startsWith("lease.");
}
