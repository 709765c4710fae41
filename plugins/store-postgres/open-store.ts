import { type Clock, isSvcError, type Leases, type Logger, messageOf, type Store, type StoreStatus } from "svc/sdk";
import { type ChangeFeed, createChangeFeed } from "./change-feed.ts";
import { type QueueLimits, queueLimits } from "./commit-queue.ts";
import type { Database, Link, Param, Row } from "./database.ts";
import { databaseErrors } from "./errors.ts";
import { faultText, isTransient, storageAdvice, storageFault, storageUnavailable } from "./faults.ts";
import { type GatewayIdentity, type GatewayRow, registerGateway } from "./gateway-row.ts";
import { createLeases, type LeaseBook } from "./leases.ts";
import { migrate } from "./migrate.ts";
import { createNotices, type Notices } from "./notices.ts";
import { createReads, type Reads } from "./reads.ts";
import { Refusal } from "./refusal.ts";
import { dropOldRows } from "./retention.ts";
import { readServerFacts, type ServerFacts, unsuitability } from "./server-checks.ts";
import { createSuspects, readCrashScene, type Suspects } from "./suspects.ts";
import { Writer } from "./writer.ts";

const hourMs = 3_600_000;
const closeMs = 3_000;
const mostUnreadable = 1_000;

export interface OpenStoreOptions {
  database: Database;
  /** Location without secrets. */
  endpoint: string;
  schema: string;
  identity: GatewayIdentity;
  clock: Clock;
  logger: Logger;
  /** A lease that is not renewed for so long is free. */
  ttlMs: number;
  onStatus?: () => void;
  onGroup?: (ms: number) => void;
  limits?: Partial<QueueLimits>;
  /** Pause between attempts on a database that takes no writes; default 1 s. */
  probeMs?: number;
  /** Reason why a server may not keep the state; tests of SQL on another engine leave it out. */
  judge?: (facts: ServerFacts) => string | undefined;
}

/** The services, and what the plugin needs besides. */
export interface OpenStore {
  readonly service: Store;
  readonly leases: Leases;
  /** Facts about the server, as of now. */
  facts(): Promise<ServerFacts>;
  /** Round trip of a read in milliseconds. @throws {SvcError} `storage-unavailable` */
  roundTripMs(): Promise<number>;
  isListening(): boolean;
  leaseAgeMs(): number;
  kvCount(scope: string): Promise<number>;
  /** Writes what waits (bounded), gives the leases back, closes. */
  close(): Promise<void>;
}

/**
 * Opens the store: checks, migration, this gateway's row, connections.
 * @throws {SvcError} `database-unsuitable`, `schema-too-new`, `schema-migration-failed`, `database-unusable`
 */
export async function openStore(options: OpenStoreOptions): Promise<OpenStore> {
  const { database, endpoint, logger } = options;
  const links: Link[] = [];
  const open = (role: Parameters<Database["link"]>[0]) => {
    const link = database.link(role);
    links.push(link);
    return link;
  };
  try {
    const keeper = open("writer");
    const facts = await readServerFacts(keeper, () => options.clock.now());
    const reason = (options.judge ?? unsuitability)(facts);
    if (reason !== undefined) throw databaseErrors.databaseUnsuitable({ endpoint, reason });
    const migrated = await migrate(keeper, options);
    if (migrated.to > migrated.from) logger.info("schema of the database migrated", { ...migrated });
    return await assemble(options, { keeper, open });
  } catch (error) {
    await Promise.allSettled(links.map((link) => link.close()));
    if (isSvcError(error)) throw error;
    throw databaseErrors.databaseUnusable(
      { endpoint, reason: "code" in (error as object) ? faultText(error) : messageOf(error) },
      { cause: error },
    );
  }
}

interface Links {
  /** For what has time: migration, retention. */
  keeper: Link;
  open(role: Parameters<Database["link"]>[0]): Link;
}

async function assemble(options: OpenStoreOptions, { keeper, open }: Links): Promise<OpenStore> {
  const { database, logger, clock } = options;
  const onStatus = options.onStatus ?? (() => undefined);
  const sessions = { version: 1 };
  const feed = createChangeFeed(logger);
  const notifier = open("notifier");
  const readers = open("readers");
  const late: { notices?: Notices; gateway?: GatewayRow } = {};
  const gatewayId = () => late.gateway?.id() ?? 0;
  const bump = () => {
    sessions.version += 1;
  };
  const writer = new Writer({
    connect: () => database.link("writer"),
    gatewayId,
    clock,
    logger,
    limits: { ...queueLimits, ...options.limits },
    probeMs: options.probeMs ?? 1_000,
    onStatus,
    onStored(ops) {
      if (ops.some(({ op }) => op.startsWith("session."))) bump();
      feed.stored(ops);
      late.notices?.stored(ops);
    },
    onRecovered() {
      bump();
      feed.resync();
    },
    ...(options.onGroup ? { onGroup: options.onGroup } : {}),
  });
  const closing = new AbortController();
  const book = createLeases({ commit: (op) => writer.commit([op]), waitMs: options.ttlMs + 2_000, clock, signal: closing.signal });
  try {
    const gateway = await registerGateway({ ...options, link: notifier, book, onRenewed: () => late.notices?.beat() });
    late.gateway = gateway;
    const query = guardedQuery(readers, { writer });
    const unreadable = createUnreadable(logger);
    const reads = createReads({ query, onUnreadable: unreadable.add });
    const scene = await readCrashScene(query, { boots: gateway.deadBoots, now: clock.now() });
    if (scene.forgive.length > 0) await writer.commit([...scene.forgive]);
    const suspects = createSuspects(scene, () => clock.monotonic());
    const notices = await createNotices({
      database,
      link: notifier,
      channel: `svc_${options.schema}`,
      gatewayId,
      feed,
      logger,
      onSessions: bump,
    });
    late.notices = notices;
    return join({
      options,
      closing,
      keeper,
      notifier,
      readers,
      query,
      writer,
      book,
      gateway,
      notices,
      feed,
      reads,
      suspects,
      sessions,
      unreadable,
    });
  } catch (error) {
    await late.gateway?.close();
    await writer.close(0);
    throw error;
  }
}

interface Parts {
  options: OpenStoreOptions;
  closing: AbortController;
  keeper: Link;
  notifier: Link;
  readers: Link;
  query: Query;
  writer: Writer;
  book: LeaseBook;
  gateway: GatewayRow;
  notices: Notices;
  feed: ChangeFeed;
  reads: Reads;
  suspects: Suspects;
  sessions: { version: number };
  unreadable: ReturnType<typeof createUnreadable>;
}

function join(parts: Parts): OpenStore {
  const { options, keeper, query, writer, book, gateway, notices, feed, reads, suspects, sessions } = parts;
  const retention = keepTidy(keeper, options.logger);
  const { kvCount, ...rest } = reads;
  return {
    service: {
      ...rest,
      commit: (ops, given) => writer.commit(ops, given),
      changes: (listener) => feed.subscribe(listener),
      status: () => toStatus(parts),
      sessions: { ...rest.sessions, version: () => sessions.version },
      deliveries: { ...rest.deliveries, ...suspects },
    },
    leases: { acquire: book.acquire },
    kvCount,
    facts: () => readServerFacts({ ...keeper, query }, () => options.clock.now()),
    async roundTripMs() {
      const began = options.clock.monotonic();
      await query("SELECT 1 AS one");
      return options.clock.monotonic() - began;
    },
    isListening: notices.isListening,
    leaseAgeMs: gateway.ageMs,
    async close() {
      parts.closing.abort(storageUnavailable("closed"));
      retention.stop();
      await writer.close(closeMs);
      await notices.close();
      await gateway.close();
      await Promise.allSettled([parts.notifier, parts.readers, keeper].map((link) => link.close()));
    },
  };
}

function toStatus({ options, writer, unreadable }: Parts): StoreStatus {
  const { reason, queuedOps: queued } = writer;
  return {
    ok: reason === undefined,
    ...(reason === undefined ? {} : { reason, notReady: storageAdvice[reason] }),
    queued,
    backend: "postgres",
    endpoint: options.endpoint,
    ...(unreadable.count() === 0 ? {} : { unreadableRows: unreadable.count() }),
  };
}

type Query = (text: string, params?: readonly Param[]) => Promise<Row[]>;

/** Reads are repeated once when their connection was cut, and after a conflict: they change nothing. */
function guardedQuery(link: Link, { writer }: { writer: Writer }): Query {
  const once = async (text: string, params?: readonly Param[]) => {
    if (writer.reason === "closed") throw storageUnavailable("closed");
    return link.query(text, params);
  };
  return async (text, params) => {
    try {
      return await once(text, params).catch((error: unknown) => {
        if (error instanceof Refusal) throw error;
        if (isTransient(error) || (storageFault(error) === "unreachable" && writer.reason === undefined)) return once(text, params);
        throw error;
      });
    } catch (error) {
      const fault = error instanceof Refusal ? undefined : storageFault(error);
      if (fault === undefined) throw error;
      writer.report(fault, error);
      throw storageUnavailable(fault, error);
    }
  };
}

/** Drops old rows a minute after the start, and every hour. */
function keepTidy(link: Link, logger: Logger): { stop(): void } {
  const end = new AbortController();
  const run = () => {
    dropOldRows(link, end.signal).catch((error: unknown) =>
      logger.debug("old rows stay until the next round", { fault: faultText(error) }),
    );
  };
  const first = setTimeout(run, 60_000).unref();
  const timer = setInterval(run, hourMs).unref();
  return {
    stop() {
      end.abort();
      clearTimeout(first);
      clearInterval(timer);
    },
  };
}

function createUnreadable(logger: Logger) {
  const seen = new Set<string>();
  return {
    add(table: string, row: unknown) {
      const id = `${table}:${String(row)}`;
      if (seen.has(id) || seen.size >= mostUnreadable) return;
      seen.add(id);
      logger.warn("a row of the database could not be read and is skipped", { table, row });
    },
    count: () => seen.size,
  };
}
