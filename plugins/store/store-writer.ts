import { type Clock, type Logger, messageOf, type OpResult, type StoreOp, SvcError, writeFileAtomic } from "svc/sdk";
import { createCommitQueue, type Pending, type QueueLimits } from "./commit-queue.ts";
import { createLinkKeeper } from "./link-keeper.ts";
import { suspectMark } from "./open-database.ts";
import { encodeOp } from "./operations.ts";
import { Refusal } from "./refusal.ts";
import { createStorageState } from "./storage-state.ts";
import { type StorageReason, storageUnavailable } from "./storage-unavailable.ts";
import type { Opened, WriterReply, WriterRequest, WriterSetup } from "./writer-messages.ts";

const requestTimeoutMs = 60_000;
const drainTimeoutMs = 3_000;
const closeTimeoutMs = 2_000;

export interface StoreWriterOptions {
  path: string;
  clock: Clock;
  logger: Logger;
  onStatus(): void;
  limits: QueueLimits;
  /** Pause before the writer tries a faulty disk again. */
  probeMs: number;
  restartMs: number;
  maintenanceMs: number;
  setup: Pick<WriterSetup, "failpoint" | "faults">;
}

/** The main thread's side of all writes. */
export interface StoreWriter {
  open(): Promise<Opened>;
  commit(ops: StoreOp[], signal?: AbortSignal): Promise<OpResult[]>;
  /** A reader met damage: no more writes until the next start, which checks the file. */
  reportDamage(cause: unknown): void;
  readonly reason: StorageReason | undefined;
  readonly queuedOps: number;
  /** Writes what waits (3 s at most), calls `beforeLast`, truncates the log and ends the thread. */
  close(beforeLast: () => void): Promise<void>;
}

/**
 * One group of commits is with the writer at a time; commits that arrive meanwhile become the next transaction. No gather timer: measured,
 * waiting 3 ms costs nine tenths of the throughput (performance, section 1).
 */
export function createStoreWriter(options: StoreWriterOptions): StoreWriter {
  const { path, logger, clock } = options;
  const queue = createCommitQueue(options.limits);
  let pumping: Promise<void> | undefined;
  let maintenanceDue = false;
  let maintainedLast = false;
  let maintenanceTimer: NodeJS.Timeout | undefined;
  let closing: Promise<void> | undefined;

  const state = createStorageState({
    logger,
    probeMs: options.probeMs,
    probe: async () => (await ask({ type: "probe" }))?.type === "healthy",
    onFault(reason, cause) {
      queue.failAll(() => storageUnavailable(reason, cause));
      if (reason === "corrupt") markSuspect(path, logger);
      options.onStatus();
    },
    onHealed() {
      options.onStatus();
      wake();
    },
  });
  const keeper = createLinkKeeper({
    path,
    clock,
    restartMs: options.restartMs,
    setup: options.setup,
    onUp: () => state.restarted(),
    onDown: (error) => state.fail("down", error),
  });

  /** Undefined when the thread is gone; every fault of the storage is noted before this returns. */
  async function ask(request: WriterRequest): Promise<WriterReply | undefined> {
    const reply = await keeper.link?.request(request, requestTimeoutMs).catch(() => undefined);
    if (reply?.type === "failed" && reply.fault !== "locked") state.fail(reply.fault, new Error(reply.message));
    if (reply?.type === "refused") state.fail("io", new SvcError(reply.refusal.code, reply.refusal.fields));
    return reply;
  }

  /** In a microtask, so that the commits of one synchronous stretch of the caller travel together. */
  function wake(): void {
    pumping ??= Promise.resolve()
      .then(pump)
      .finally(() => {
        pumping = undefined;
      });
  }

  async function pump(): Promise<void> {
    while (!state.reason && (maintenanceDue || queue.waiting > 0)) {
      // Taking turns: neither maintenance nor commits starve the other.
      if (maintenanceDue && !(maintainedLast && queue.waiting > 0)) await maintain();
      else await writeGroup(queue.takeGroup());
    }
  }

  async function writeGroup(group: Pending[]): Promise<void> {
    maintainedLast = false;
    const reply = await ask({ type: "group", commits: group.map((pending) => pending.ops) });
    if (reply?.type === "group") settle(group, reply.outcomes);
    else if (reply?.type === "failed" && reply.fault === "locked") failGroup(group, () => new SvcError("storage-busy", { queued: queue.queuedOps }));
    else failGroup(group, () => storageUnavailable(state.reason ?? "down", reply ? undefined : new SvcError("worker-down", { worker: "store" })));
  }

  async function maintain(): Promise<void> {
    maintainedLast = true;
    const reply = await ask({ type: "maintain", now: clock.now() });
    maintenanceDue = reply?.type === "maintained" && reply.more;
  }

  function wantMaintenance(): void {
    maintenanceDue = true;
    wake();
  }

  async function close(beforeLast: () => void): Promise<void> {
    clearInterval(maintenanceTimer);
    maintenanceDue = false;
    await withLimit(pumping ?? Promise.resolve(), drainTimeoutMs);
    state.close();
    queue.failAll(() => storageUnavailable("closed"));
    beforeLast();
    await keeper.link?.request({ type: "close" }, closeTimeoutMs).catch((error: unknown) => logger.warn("the state database was not closed cleanly", { error: messageOf(error) }));
    await keeper.close();
  }

  return {
    async open() {
      const opened = await keeper.open();
      maintenanceTimer = setInterval(wantMaintenance, options.maintenanceMs);
      maintenanceTimer.unref();
      wantMaintenance();
      return opened;
    },
    async commit(ops, signal) {
      const reason = closing ? "closed" : state.reason;
      if (reason) throw storageUnavailable(reason);
      const added = queue.add(encodeAll(ops), signal);
      wake();
      return added;
    },
    reportDamage: (cause) => state.fail("corrupt", cause),
    get reason() {
      return closing ? "closed" : state.reason;
    },
    get queuedOps() {
      return queue.queuedOps;
    },
    close(beforeLast) {
      closing ??= close(beforeLast);
      return closing;
    },
  };
}
