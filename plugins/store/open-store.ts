import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { type Clock, createError, type Leases, type Logger, messageOf, type Store, type Timers } from "svc/sdk";
import type { Notice } from "svc/sdk/internal";
import { type ChangeFeed, createChangeFeed } from "./change-feed.ts";
import { type QueueLimits, queueLimits } from "./commit-queue.ts";
import { storeErrors } from "./errors.ts";
import { createFileGuard, type FileEvent, type FileGuard, guardMs } from "./file-guard.ts";
import { detachedText, fileNotice, lostFileText, restoredFigures, restoredNotice } from "./incidents.ts";
import { createLeases, type LeaseBook } from "./leases.ts";
import { openConnection, reopenConnection, type Sqlite } from "./native.ts";
import type { Reads } from "./reader.ts";
import { Refusal } from "./refusal.ts";
import { createSnapshotKeeper, type SnapshotKeeper } from "./snapshot-keeper.ts";
import { isLocked, storageFault } from "./sqlite-fault.ts";
import { type EmbeddedStatus, storageAdvice, storageUnavailable } from "./storage-unavailable.ts";
import { StoreWriter } from "./store-writer.ts";
import { createSuspects, readCrashScene, type Suspects } from "./suspects.ts";
import { createSwitchedReader, type SwitchedReader } from "./switched-reader.ts";
import type { SyncStore } from "./sync-store.ts";
import type { Opened, StorageFaults } from "./writer-messages.ts";

/** A read waits this long for a lock of another process; it holds up the main thread, so not longer. */
const readLockWaitMs = 20;
const mostUnreadable = 1_000;
const hourMs = 3_600_000;

const nodeTimers: Pick<Timers, "setInterval"> = {
  setInterval(fn, periodMs) {
    const timer = setInterval(fn, periodMs).unref();
    return { dispose: () => clearInterval(timer) };
  },
};

export interface OpenStoreOptions {
  /** File of the database; its folder is made with mode 0700. */
  path: string;
  clock: Clock;
  logger: Logger;
  /** Called after each change of what `status()` says about whether and where the store can write. */
  onStatus?: () => void;
  /** Something happened to the database that an operator should hear of later, too. */
  onNotice?: (notice: Notice) => void;
  /** The database was found to be damaged while it was in use: only another start can help. */
  onDamage?: (message: string) => void;
  /** Called after each transaction with its time in milliseconds. */
  onGroup?: (ms: number) => void;
  limits?: Partial<QueueLimits>;
  /** Pause between attempts on a faulty disk; default 5 s. */
  probeMs?: number;
  /** First pause before a dead writer thread is started again; default 100 ms, doubling to 30 s. */
  restartMs?: number;
  /** Between two rounds of retention, by `timers`; default one hour. */
  maintenanceMs?: number;
  /** Default: those of Node, which keep no process alive. */
  timers?: Pick<Timers, "setInterval">;
  /** Between two snapshots; default one hour. */
  snapshotMs?: number;
  /** Before the first one; default 1 min, 5 s after an unclean end. */
  firstSnapshotMs?: number;
  /** Between two looks whether the file still is in its place; default 20 s. */
  guardMs?: number;
  /** Tests only: see `failpoint.ts`. */
  failpoint?: string;
  /** Tests only: see `writer-messages.ts`. */
  faults?: StorageFaults;
}

/** Synchronous reads for this plugin, and the services that are made of them. */
export interface OpenStore extends SyncStore, Pick<Reads, "kvCount"> {
  readonly service: Store;
  readonly leases: Leases;
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
  const feed = createChangeFeed(logger);
  const resync = () => {
    sessions.version += 1;
    feed.resync();
  };
  const late: { reader?: SwitchedReader; snapshots?: SnapshotKeeper } = {};
  const writer = new StoreWriter({
    path,
    logger,
    clock: options.clock,
    onStatus: options.onStatus ?? (() => undefined),
    ...(options.onGroup ? { onGroup: options.onGroup } : {}),
    onStored(ops) {
      late.snapshots?.changed();
      if (ops.some(({ op }) => op.startsWith("session."))) sessions.version += 1;
      feed.stored(ops);
    },
    onRestarted: resync,
    onMoved(moved) {
      late.reader?.switchTo(reopenConnection(moved, { readonly: true, timeout: readLockWaitMs }));
      resync();
    },
    limits: { ...queueLimits, ...options.limits },
    probeMs: options.probeMs ?? 5_000,
    restartMs: options.restartMs ?? 100,
    maintenanceMs: options.maintenanceMs ?? hourMs,
    timers: options.timers ?? nodeTimers,
    setup: {
      ...(options.failpoint === undefined ? {} : { failpoint: options.failpoint }),
      ...(options.faults === undefined ? {} : { faults: options.faults }),
    },
  });
  const opened = await writer.open();
  announce(opened, options);
  let db: Sqlite | undefined;
  try {
    db = await openConnection(path, { readonly: true, timeout: readLockWaitMs });
    const unreadable = createUnreadable(db, logger);
    const reader = createSwitchedReader(db, {
      onUnreadable: unreadable.add,
      toError: (error, isOpen) => toReadError(error, { isOpen, writer }),
    });
    const scene = readCrashScene(db, { isUnclean: opened.unclean === true, now: options.clock.now() });
    // Rows that are to be forgiven are forgiven before anybody looks at it.
    if (scene.forgive.length > 0) await writer.commit([...scene.forgive]);
    const suspects = createSuspects(scene, () => options.clock.monotonic());
    const guard = createGuard(options, writer);
    const snapshots = createSnapshotKeeper({
      path: () => writer.path,
      clock: options.clock,
      logger,
      intervalMs: options.snapshotMs ?? hourMs,
      isUnclean: opened.unclean === true,
      firstMs: options.firstSnapshotMs,
      async prepare() {
        await guard.look();
        await writer.checkpoint();
      },
      onDamage(message) {
        writer.reportDamage(new Error(message));
        options.onDamage?.(message);
      },
    });
    Object.assign(late, { reader, snapshots });
    const leases = createLeases({ commit: (op) => writer.commit([op]), tokens: () => reader.reads.leases(), clock: options.clock });
    return joinStore({ writer, opened, reader, suspects, guard, snapshots, unreadable, sessions, feed, leases });
  } catch (error) {
    await writer.close(() => void db?.close());
    if (error instanceof Refusal) throw createError(storeErrors, error.code, error.fields);
    throw storeErrors.storeOpenFailed({ path, reason: messageOf(error) }, { cause: error });
  }
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw storeErrors.storeOpenFailed({ path, reason: messageOf(error) }, { cause: error });
  }
}

interface Parts {
  writer: StoreWriter;
  opened: Opened;
  reader: SwitchedReader;
  suspects: Suspects;
  guard: Guard;
  snapshots: SnapshotKeeper;
  unreadable: Unreadable;
  /** Grows with each commit that may have changed a session. */
  sessions: { version: number };
  feed: ChangeFeed;
  leases: LeaseBook;
}

function joinStore({ writer, opened, reader, suspects, guard, snapshots, unreadable, sessions, feed, leases }: Parts): OpenStore {
  const { restored } = opened;
  const status = (): EmbeddedStatus => {
    const { reason, queuedOps: queued, path: endpoint } = writer;
    const notReady = reason === undefined ? guard.trouble() : storageAdvice[reason];
    const snapshotAt = snapshots.newestAt();
    return {
      ok: reason === undefined,
      ...(reason === undefined ? {} : { reason }),
      ...(notReady === undefined ? {} : { notReady }),
      queued,
      backend: "sqlite",
      endpoint,
      ...(restored?.damaged === undefined ? {} : { damaged: restored.damaged }),
      ...(restored === undefined ? {} : { restored: restoredFigures(restored) }),
      ...(unreadable.count() === 0 ? {} : { unreadableRows: unreadable.count() }),
      ...(snapshotAt === undefined ? {} : { snapshotAt }),
    };
  };
  const { leases: _, ...reads } = reader.reads;
  const version = () => sessions.version;
  const commit: Store["commit"] = (ops, given) => writer.commit(ops, given);
  return {
    ...reads,
    sessions: { ...reads.sessions, version },
    deliveries: {
      ...reads.deliveries,
      ...suspects,
      abandoned: ({ boot, ...rest }) => reads.deliveries.abandoned({ ...rest, owners: [boot] }),
    },
    runs: { ...reads.runs, unfinished: () => reads.runs.unfinished() },
    commit,
    status,
    leases: { acquire: leases.acquire },
    service: {
      commit,
      status,
      changes: (listener) => feed.subscribe(listener),
      sessions: { ...promised(reads.sessions), version },
      messages: promised(reads.messages),
      transcripts: promised(reads.transcripts),
      runs: {
        get: async (runId) => reads.runs.get(runId),
        unfinished: async ({ expired = false } = {}) => reads.runs.unfinished(expired ? leases.owners() : []),
      },
      idempotency: promised(reads.idempotency),
      systemEvents: promised(reads.systemEvents),
      deliveries: {
        ...promised(reads.deliveries),
        abandoned: async (query) => reads.deliveries.abandoned({ ...query, owners: leases.owners() }),
        ...suspects,
      },
      kv: promised(reads.kv),
    },
    close: () =>
      writer.close(async () => {
        leases.close();
        await guard.close();
        await snapshots.close();
        // The reader goes before the writer: the last connection to close removes the log, and a read-only one cannot.
        reader.close();
      }),
  };
}

type Promised<Part> = {
  [Name in keyof Part]: Part[Name] extends (...args: infer Args) => infer Result ? (...args: Args) => Promise<Result> : never;
};

/** The same reads as promises. A read takes microseconds here and happens at the call: it sees what was stored by then. */
function promised<Part extends object>(part: Part): Promised<Part> {
  const reads = Object.entries(part).map(([name, read]: [string, (...args: unknown[]) => unknown]) => {
    return [name, async (...args: unknown[]) => read(...args)];
  });
  return Object.fromEntries(reads) as Promised<Part>;
}

interface Guard extends FileGuard {
  /** Present problem with the location of the file. */
  trouble(): string | undefined;
}

function createGuard({ logger, clock, onStatus, onNotice, ...options }: OpenStoreOptions, writer: StoreWriter): Guard {
  let lost: string | undefined;
  let detached: string | undefined;
  const onEvent = (event: FileEvent) => {
    const before = lost;
    lost = event.kind === "failed" ? lostFileText(event) : undefined;
    if (event.kind === "detached") detached = detachedText(event);
    if (event.kind !== "failed") {
      const notice = fileNotice(event, clock.now());
      logger.error(notice.message, { path: event.path });
      onNotice?.(notice);
    } else if (before === undefined) logger.error(lost as string);
    onStatus?.();
  };
  const guard = createFileGuard({
    logger,
    intervalMs: options.guardMs ?? guardMs,
    path: () => writer.path,
    files: () => writer.files,
    now: () => clock.now(),
    rescue: (moveTo, ownLog) => writer.rescue(moveTo, ownLog),
    onEvent,
  });
  return { ...guard, trouble: () => lost ?? detached };
}

interface Unreadable {
  add(table: string, row: unknown): void;
  count(): number;
}

/** Rows that were skipped, each counted once, and those that an earlier process has set aside. */
function createUnreadable(db: Sqlite, logger: Logger): Unreadable {
  const setAsideBefore = db.prepare("SELECT count(*) FROM set_aside").pluck().get() as number;
  const seen = new Set<string>();
  return {
    add(table, row) {
      const id = `${table}:${String(row)}`;
      if (seen.has(id) || seen.size >= mostUnreadable) return;
      seen.add(id);
      logger.warn("a row of the state database could not be read and is skipped", { table, row });
    },
    count: () => setAsideBefore + seen.size,
  };
}

function toReadError(error: unknown, { isOpen, writer }: { isOpen: boolean; writer: StoreWriter }): unknown {
  if (!isOpen) return storageUnavailable("closed");
  if (isLocked(error)) return storeErrors.storageBusy({ queued: writer.queuedOps }, { cause: error });
  const fault = storageFault(error);
  if (fault === "corrupt") writer.reportDamage(error);
  return fault ? storageUnavailable(fault, error) : error;
}

function announce({ restored, migrated }: Opened, { logger, path, clock, onNotice }: OpenStoreOptions): void {
  if (restored) {
    const notice = restoredNotice(restored, { path, now: clock.now() });
    logger.error(notice.message, { kept: restored.damaged, snapshot: restored.snapshot?.path });
    onNotice?.(notice);
  }
  if (migrated && migrated.from > 0) logger.info("state database migrated", { ...migrated });
}
