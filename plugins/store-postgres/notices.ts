import { isRecord, type Logger, type StoreChange } from "svc/sdk";
import { type ChangeFeed, changeOf, type Kind } from "./change-feed.ts";
import type { Database, Link } from "./database.ts";
import { faultText } from "./faults.ts";
import type { WriteOp } from "./operations.ts";

/** A notice must be shorter than 8,000 bytes; what is longer says "read again". */
const mostBytes = 7_500;
/** Changes that wait for the notice before; more of them say "read again". */
const mostKeys = 1_000;
/** Beats of its own that a listener may miss. */
const mostMissed = 2;

interface Options {
  database: Database;
  link: Link;
  channel: string;
  gatewayId(): number;
  feed: ChangeFeed;
  logger: Logger;
  /** Sessions may have changed. */
  onSessions(): void;
}

/** Tells the other gateways what was stored, one notice for a group of commits, and hears of theirs. */
export interface Notices {
  stored(ops: readonly WriteOp[]): void;
  /** Called with each renewal: a listener that did not hear the last beat is taken for deaf, and everybody is told to read again. */
  beat(): void;
  isListening(): boolean;
  close(): Promise<void>;
}

export async function createNotices({ database, link, channel, gatewayId, feed, logger, onSessions }: Options): Promise<Notices> {
  let waiting = new Map<Kind, Set<string>>();
  let size = 0;
  let isSending = false;
  let isClosed = false;
  let beats = 0;
  let heard = 0;

  const resync = () => {
    onSessions();
    feed.resync();
  };
  const receive = (payload: string) => {
    const notice = parseNotice(payload);
    if (!notice) return;
    if (notice.g === gatewayId()) {
      if (notice.b !== undefined) heard = Math.max(heard, notice.b);
      return;
    }
    if (notice.r) return resync();
    for (const change of notice.c ?? []) {
      if (change.kind === "sessions") onSessions();
      feed.announce(change);
    }
  };
  const send = (payload: object) => link.query("SELECT pg_notify($1, $2)", [channel, JSON.stringify({ g: gatewayId(), ...payload })]);
  const flush = async () => {
    isSending = true;
    // The group is settled first: nobody waits for a notice.
    await Promise.resolve();
    while (waiting.size > 0 && !isClosed) {
      const changes = [...waiting].map(([kind, keys]) => ({ kind, keys: [...keys] }));
      const isMuch = size > mostKeys || Buffer.byteLength(JSON.stringify(changes)) > mostBytes;
      waiting = new Map();
      size = 0;
      try {
        await send(isMuch ? { r: 1 } : { c: changes });
      } catch (error) {
        logger.debug("a notice to other gateways was lost; they look by themselves", { fault: faultText(error) });
      }
    }
    isSending = false;
  };

  const listener = await keepListening({ database, channel, logger, onNotice: receive, onListen: resync });
  let missed = 0;
  return {
    stored(ops) {
      for (const op of ops) {
        const [kind, key] = changeOf(op) ?? [];
        if (kind === undefined || key === undefined || size > mostKeys) continue;
        const keys = waiting.get(kind) ?? new Set();
        if (!keys.has(key)) size += 1;
        waiting.set(kind, keys.add(key));
      }
      if (!isSending && waiting.size > 0) void flush();
    },
    beat() {
      missed = heard < beats ? missed + 1 : 0;
      if (missed > 0) resync();
      if (missed >= mostMissed) listener.renew();
      beats += 1;
      send({ b: beats }).catch((error: unknown) => logger.debug("the listener could not be tried", { fault: faultText(error) }));
    },
    isListening: () => heard >= beats - 1,
    async close() {
      isClosed = true;
      await listener.close();
    },
  };
}

interface Listening {
  database: Database;
  channel: string;
  logger: Logger;
  onNotice(payload: string): void;
  onListen(): void;
}

/** Listens; the driver connects again where it notices that its connection has ended, and `renew` replaces a link that is silent. */
async function keepListening({
  database,
  channel,
  logger,
  onNotice,
  onListen,
}: Listening): Promise<{ renew(): void; close(): Promise<void> }> {
  const subscribe = () => database.listen(channel, { onNotice, onListen });
  let subscription = await subscribe();
  let isRenewing = false;
  let isClosed = false;
  const replace = async () => {
    await subscription.close().catch(() => undefined);
    subscription = await subscribe();
    if (isClosed) await subscription.close();
  };
  return {
    renew() {
      if (isRenewing) return;
      isRenewing = true;
      replace()
        .catch((error: unknown) => logger.debug("the listener could not be renewed", { fault: faultText(error) }))
        .finally(() => {
          isRenewing = false;
        });
    },
    async close() {
      isClosed = true;
      await subscription.close().catch(() => undefined);
    },
  };
}

interface Notice {
  g: number;
  r?: number;
  b?: number;
  c?: StoreChange[];
}

const kinds: ReadonlySet<unknown> = new Set<Kind>(["sessions", "messages", "runs", "deliveries", "systemEvents", "kv"]);

/** Parses a notice; anybody who may write the database can send one, so anything else is left out. */
function parseNotice(payload: string): Notice | undefined {
  try {
    const value: unknown = JSON.parse(payload);
    if (!isRecord(value) || typeof value.g !== "number") return undefined;
    const changes = Array.isArray(value.c) ? value.c : [];
    const isSound = changes.every((change) => isRecord(change) && kinds.has(change.kind) && Array.isArray(change.keys));
    return isSound ? (value as unknown as Notice) : undefined;
  } catch {
    return undefined;
  }
}
