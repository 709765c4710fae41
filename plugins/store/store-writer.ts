import {
  type Clock,
  type CommitOptions,
  createError,
  type Logger,
  messageOf,
  type OpResult,
  type StoreOp,
  withLimit,
  writeFileAtomic,
} from "svc/sdk";
import { createCommitQueue, type QueueLimits } from "./commit-queue.ts";
import { storeErrors } from "./errors.ts";
import { createLinkKeeper, type LinkKeeper } from "./link-keeper.ts";
import { encodeOp, type LeaseOp, type WriteOp } from "./operations.ts";
import { Refusal } from "./refusal.ts";
import { suspectMark } from "./restore.ts";
import { createStorageState, type StorageState } from "./storage-state.ts";
import { type StorageReason, storageUnavailable } from "./storage-unavailable.ts";
import type { FileIdentity, Opened, OpenFiles, WriterReply, WriterRequest, WriterSetup } from "./writer-messages.ts";
import { createPump } from "./writer-pump.ts";

const requestTimeoutMs = 60_000;
/** The whole database is copied. */
const rescueTimeoutMs = 600_000;
const drainTimeoutMs = 3_000;
const closeTimeoutMs = 2_000;
/** So many deliveries end before old ones are dropped without waiting for the hour: a busy door ends hundreds in a second. */
const endedPerCleaning = 1_000;

export interface StoreWriterOptions {
  path: string;
  clock: Clock;
  logger: Logger;
  onStatus(): void;
  /** A commit is stored; called before its caller hears of it. */
  onStored(ops: readonly WriteOp[]): void;
  /** Another writer thread is up; what became of commits that the last one had is unknown. */
  onRestarted(): void;
  /** Another file is written to from now on; called before anything is stored in it. */
  onMoved(path: string): void;
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
  commit(ops: ReadonlyArray<StoreOp | LeaseOp>, options?: CommitOptions): Promise<OpResult[]>;
  /** A reader met damage: no more writes until the next start, which checks the file. */
  reportDamage(cause: unknown): void;
  /** Brings what is in the log into the database. */
  checkpoint(): Promise<void>;
  /** The file that is written to. */
  readonly path: string;
  readonly files: OpenFiles;
  /** See the request `rescue`. @throws {SvcError} when it could not be written; nothing has changed then */
  rescue(moveTo: string, ownLog: FileIdentity | undefined): Promise<void>;
  readonly reason: StorageReason | undefined;
  readonly queuedOps: number;
  /** Takes nothing more, writes what waits (3 s at most), waits for `finish`, truncates the log and ends the thread. */
  close(finish: () => Promise<void> | void): Promise<void>;
}

/** Joins queue, pump, thread and storage state. */
export function createStoreWriter(options: StoreWriterOptions): StoreWriter {
  const { logger, clock, restartMs, setup, probeMs } = options;
  let { path } = options;
  let files: OpenFiles = { database: { dev: 0, ino: 0 }, log: undefined };
  const queue = createCommitQueue(options.limits);
  let maintenance: NodeJS.Timeout | undefined;
  let closing: Promise<void> | undefined;
  let ended = 0;
  let marked: Promise<void> | undefined;

  const state: StorageState = createStorageState({
    logger,
    probeMs,
    probe: async () => (await ask({ type: "probe" }))?.type === "healthy",
    onFault(reason, cause) {
      queue.failAll(() => storageUnavailable(reason, cause));
      if (reason === "corrupt") marked = markSuspect(path, logger);
      options.onStatus();
    },
    onHealed() {
      options.onStatus();
      pump.wake();
    },
  });
  const keeper: LinkKeeper = createLinkKeeper({
    path: () => path,
    clock,
    restartMs,
    setup,
    onUp(opened) {
      files = opened.files;
      state.restarted();
      options.onRestarted();
    },
    onDown: (error) => state.fail("down", error),
  });
  const pump = createPump({ queue, ask, blocked: () => state.reason, now: () => clock.now() });

  async function ask(request: WriterRequest): Promise<WriterReply | undefined> {
    const reply = await keeper.link?.request(request, requestTimeoutMs).catch(() => undefined);
    if (reply?.type === "failed" && reply.fault !== "locked") state.fail(reply.fault, new Error(reply.message));
    if (reply?.type === "refused") state.fail("io", createError(storeErrors, reply.refusal.code, reply.refusal.fields));
    return reply;
  }

  async function close(finish: () => Promise<void> | void): Promise<void> {
    clearInterval(maintenance);
    await withLimit(pump.drain(), drainTimeoutMs, () => undefined);
    state.close();
    queue.failAll(() => storageUnavailable("closed"));
    await finish();
    await keeper.link?.request({ type: "close" }, closeTimeoutMs).catch((error: unknown) => {
      logger.warn("the state database was not closed cleanly", { error: messageOf(error) });
    });
    await keeper.close();
    await marked;
  }

  const stored = (ops: readonly WriteOp[]) => {
    options.onStored(ops);
    ended += ops.filter(endsDelivery).length;
    if (ended < endedPerCleaning || closing) return;
    ended = 0;
    pump.wantMaintenance();
  };

  const reason = () => (closing ? "closed" : state.reason);
  return {
    async open() {
      const opened = await keeper.open();
      files = opened.files;
      maintenance = setInterval(() => pump.wantMaintenance(), options.maintenanceMs);
      maintenance.unref();
      pump.wantMaintenance();
      return opened;
    },
    commit(ops, { signal, fence } = {}) {
      const blocked = reason();
      if (blocked) return Promise.reject(storageUnavailable(blocked));
      try {
        const encoded = encodeAll(ops);
        if (fence) encoded.unshift({ op: "lease.check", name: fence.name, token: fence.token });
        const added = queue.add(encoded, { signal, stored });
        pump.wake();
        return fence ? added.then((results) => results.slice(1)) : added;
      } catch (error) {
        return Promise.reject(error);
      }
    },
    reportDamage: (cause) => state.fail("corrupt", cause),
    async checkpoint() {
      await ask({ type: "checkpoint" });
    },
    get path() {
      return path;
    },
    get files() {
      return files;
    },
    async rescue(moveTo, ownLog) {
      const reply = await keeper.link?.request({ type: "rescue", moveTo, ownLog }, rescueTimeoutMs);
      if (reply?.type !== "rescued") throw new Error(reply?.type === "failed" ? reply.message : "the writer thread is being restarted");
      path = reply.path;
      files = reply.files;
      options.onMoved(path);
    },
    get reason() {
      return reason();
    },
    get queuedOps() {
      return queue.queuedOps;
    },
    close(finish) {
      closing ??= close(finish);
      return closing;
    },
  };
}

function endsDelivery(op: WriteOp): boolean {
  return op.op === "delivery.finish" || (op.op === "delivery.accept" && ("done" in op || op.row.ended_at !== null));
}

function encodeAll(ops: ReadonlyArray<StoreOp | LeaseOp>): WriteOp[] {
  try {
    return ops.map((op) => (isLeaseOp(op) ? op : encodeOp(op)));
  } catch (error) {
    throw error instanceof Refusal ? createError(storeErrors, error.code, error.fields) : error;
  }
}

function isLeaseOp(op: StoreOp | LeaseOp): op is LeaseOp {
  return op.op.startsWith("lease.");
}

function markSuspect(path: string, logger: Logger): Promise<void> {
  return writeFileAtomic(suspectMark(path), "").catch((error: unknown) => {
    logger.warn("could not write the marker that makes the next start check the database", { error: messageOf(error) });
  });
}
