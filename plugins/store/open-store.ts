import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { type Clock, type Logger, messageOf, type Store, type StoreStatus, SvcError } from "svc/sdk";
import "./errors.ts";
import { type QueueLimits, queueLimits } from "./commit-queue.ts";
import { openConnection, type Sqlite } from "./native.ts";
import { createReader, type Reads } from "./reader.ts";
import { Refusal } from "./refusal.ts";
import { isLocked, storageFault } from "./sqlite-fault.ts";
import { storageUnavailable } from "./storage-unavailable.ts";
import { createStoreWriter, type StoreWriter } from "./store-writer.ts";
import type { Opened, StorageFaults } from "./writer-messages.ts";

/** A read waits this long for a lock of another process; it holds up the main thread, so not longer. */
const readLockWaitMs = 20;
const mostUnreadable = 1_000;
const hourMs = 3_600_000;

export interface OpenStoreOptions {
  /** File of the database; its folder is made with mode 0700. */
  path: string;
  clock: Clock;
  logger: Logger;
  /** Called after each change of `status().ok` or its reason. */
  onStatus?: () => void;
  limits?: Partial<QueueLimits>;
  /** Pause between attempts on a faulty disk; default 5 s. */
  probeMs?: number;
  /** First pause before a dead writer thread is started again; default 100 ms, doubling to 30 s. */
  restartMs?: number;
  maintenanceMs?: number;
  /** Tests only: see `failpoint.ts`. */
  failpoint?: string;
  /** Tests only: see `writer-messages.ts`. */
  faults?: StorageFaults;
}

export interface OpenStore extends Store, Pick<Reads, "kvCount"> {
  /** Writes what waits (bounded), truncates the log, closes. Later calls reject with `storage-unavailable`. */
  close(): Promise<void>;
}

/**
 * Opens the state database: writer thread, migrations, read connection.
 * @throws {SvcError} `store-too-new`, `store-migration-failed`, `store-native-missing`, `store-open-failed`
 */
export async function openStore(options: OpenStoreOptions): Promise<OpenStore> {
  const { path, logger } = options;
  await makeFolder(path);
  const sessions = { version: 1 };
  const writer = createStoreWriter({
    path,
    logger,
    clock: options.clock,
    onStatus: options.onStatus ?? (() => undefined),
    onStored(ops) {
      if (ops.some(({ op }) => op.startsWith("session."))) sessions.version += 1;
    },
    limits: { ...queueLimits, ...options.limits },
    probeMs: options.probeMs ?? 5_000,
    restartMs: options.restartMs ?? 100,
    maintenanceMs: options.maintenanceMs ?? hourMs,
    setup: {
      ...(options.failpoint === undefined ? {} : { failpoint: options.failpoint }),
      ...(options.faults === undefined ? {} : { faults: options.faults }),
    },
  });
  const opened = await writer.open();
  announce(opened, logger);
  let db: Sqlite | undefined;
  try {
    db = await openConnection(path, { readonly: true, timeout: readLockWaitMs });
    return joinStore(path, { writer, opened, logger, db, sessions });
  } catch (error) {
    await writer.close(() => db?.close());
    if (error instanceof Refusal) throw new SvcError(error.code, error.fields);
    throw new SvcError("store-open-failed", { path, reason: messageOf(error) }, { cause: error });
  }
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new SvcError("store-open-failed", { path, reason: messageOf(error) }, { cause: error });
  }
}

interface Parts {
  writer: StoreWriter;
  opened: Opened;
  logger: Logger;
  db: Sqlite;
  /** Grows with each commit that may have changed a session. */
  sessions: { version: number };
}

function joinStore(path: string, { writer, opened, logger, db, sessions }: Parts): OpenStore {
  const unreadable = new Set<string>();
  const setAsideBefore = db.prepare("SELECT count(*) FROM set_aside").pluck().get() as number;
  const reads: Reads = createReader(db, {
    onUnreadable(table, row) {
      const id = `${table}:${String(row)}`;
      if (unreadable.has(id) || unreadable.size >= mostUnreadable) return;
      unreadable.add(id);
      logger.warn("a row of the state database could not be read and is skipped", { table, row });
    },
    toError(error) {
      if (!db.open) return storageUnavailable("closed");
      if (isLocked(error)) return new SvcError("storage-busy", { queued: writer.queuedOps }, { cause: error });
      const fault = storageFault(error);
      if (fault === "corrupt") writer.reportDamage(error);
      return fault ? storageUnavailable(fault, error) : error;
    },
  });
  return {
    ...reads,
    sessions: { ...reads.sessions, version: () => sessions.version },
    commit: (ops, { signal } = {}) => writer.commit(ops, signal),
    status(): StoreStatus {
      const { reason, queuedOps: queued } = writer;
      const unreadableRows = setAsideBefore + unreadable.size;
      return {
        ok: reason === undefined,
        ...(reason === undefined ? {} : { reason }),
        queued,
        path,
        ...(opened.damaged === undefined ? {} : { damaged: opened.damaged }),
        ...(unreadableRows === 0 ? {} : { unreadableRows }),
      };
    },
    // The reader goes first: the last connection to close removes the log, and a read-only one cannot.
    close: () => writer.close(() => db.close()),
  };
}

function announce(opened: Opened, logger: Logger): void {
  if (opened.damaged) logger.error("the state database was damaged; it was kept and a fresh one was started", { kept: opened.damaged });
  if (opened.migrated && opened.migrated.from > 0) logger.info("state database brought up to date", opened.migrated);
}
