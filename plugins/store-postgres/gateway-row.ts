import { type Clock, type Logger, messageOf } from "svc/sdk";
import type { Link } from "./database.ts";
import { faultText } from "./faults.ts";
import type { LeaseBook } from "./leases.ts";

/** Identity of a gateway in the table `gateway`. */
export interface GatewayIdentity {
  bootId: string;
  /** Same for each start with one state folder, which belongs to one process: an earlier start of it is dead, whatever its lease says. */
  instance: string;
  version: string;
}

export interface GatewayRow {
  /** Number of the row; another one after this gateway was fenced. */
  id(): number;
  /** Boots of this instance that did not take leave: the gateway was killed. */
  readonly deadBoots: readonly string[];
  /** Milliseconds since the last renewal that the database confirmed. */
  ageMs(): number;
  /** Takes leave: others need not wait for the end of the lease. */
  close(): Promise<void>;
}

interface Options {
  link: Link;
  identity: GatewayIdentity;
  ttlMs: number;
  clock: Pick<Clock, "monotonic">;
  logger: Logger;
  book: LeaseBook;
  /** Called after each renewal. */
  onRenewed(): void;
}

/** Registers this gateway and renews its row every third of the lease; all its leases hang on this one row. */
export async function registerGateway(options: Options): Promise<GatewayRow> {
  const { link, identity, ttlMs, clock, logger, book, onRenewed } = options;
  let rows = 0;
  let row = await insertRow(link, identity, { ttlMs, nth: ++rows });
  let renewedAt = clock.monotonic();
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  const periodMs = ttlMs / 3;

  const renew = async () => {
    const sentAt = clock.monotonic();
    const tokens = await renewRow(link, row.id, ttlMs);
    if (tokens === undefined) {
      book.loseAll();
      row = await insertRow(link, identity, { ttlMs, nth: ++rows });
      logger.warn("this gateway was fenced, and has begun anew", { gateway: row.id });
    } else book.compare(tokens);
    renewedAt = sentAt;
    onRenewed();
  };
  // By the monotonic clock: the end of the lease as the database sees it is never earlier than this.
  const judge = () => {
    if (clock.monotonic() - renewedAt > ttlMs - periodMs / 2) book.loseAll();
  };
  const tick = () => {
    timer = setTimeout(() => {
      judge();
      void renew()
        .catch((error: unknown) => {
          logger.debug("the lease of this gateway could not be renewed", { fault: faultText(error) });
          judge();
        })
        .finally(() => {
          if (!isClosed) tick();
        });
    }, periodMs).unref();
  };
  tick();
  // Renewals may hang as long as a connection does; what is lost must be lost in time.
  const watch = setInterval(judge, periodMs / 2).unref();

  return {
    id: () => row.id,
    deadBoots: row.deadBoots,
    ageMs: () => clock.monotonic() - renewedAt,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      clearInterval(watch);
      book.loseAll();
      await leave(link, row.id).catch((error: unknown) =>
        logger.debug("the gateway's row stays until its lease ends", { fault: messageOf(error) }),
      );
    },
  };
}

async function insertRow(link: Link, { bootId, instance, version }: GatewayIdentity, { ttlMs, nth }: { ttlMs: number; nth: number }) {
  const bootName = nth === 1 ? bootId : `${bootId}#${nth}`;
  const dead = await link.query(
    `WITH dead AS (UPDATE gateway SET fenced_at = clock_timestamp() WHERE instance = $1 AND fenced_at IS NULL RETURNING id, boot_id),
       freed AS (DELETE FROM lease WHERE gateway_id IN (SELECT id FROM dead)),
       old AS (DELETE FROM gateway WHERE lease_until < clock_timestamp() - interval '7 days')
     SELECT boot_id FROM dead ORDER BY id`,
    [instance],
  );
  const [own] = await link.query(
    `INSERT INTO gateway (boot_id, instance, version, lease_until) VALUES ($1, $2, $3, clock_timestamp() + $4::double precision * interval '1 millisecond')
     ON CONFLICT (boot_id) DO UPDATE SET instance = excluded.instance, lease_until = excluded.lease_until, fenced_at = NULL RETURNING id`,
    [bootName, instance, version, ttlMs],
  );
  return { id: Number(own?.id), deadBoots: nth === 1 ? dead.map(({ boot_id }) => String(boot_id).replace(/#\d+$/, "")) : [] };
}

/** Tokens of the leases that the gateway holds; undefined when it was fenced, or its row is gone. */
async function renewRow(link: Link, id: number, ttlMs: number): Promise<Map<string, number> | undefined> {
  const [renewed] = await link.query(
    `UPDATE gateway SET lease_until = clock_timestamp() + $2::double precision * interval '1 millisecond' WHERE id = $1 AND fenced_at IS NULL RETURNING id`,
    [id, ttlMs],
  );
  if (!renewed) return undefined;
  const held = await link.query("SELECT name, token FROM lease WHERE gateway_id = $1", [id]);
  return new Map(held.map(({ name, token }) => [String(name), Number(token)]));
}

async function leave(link: Link, id: number): Promise<void> {
  await link.query("WITH freed AS (DELETE FROM lease WHERE gateway_id = $1) DELETE FROM gateway WHERE id = $1", [id]);
}
