import type { Database, Link, LinkRole, Param, Row } from "./database.ts";
import { answerWithin, codeOf, NO_ANSWER } from "./faults.ts";

/** The parts of the package `postgres` that this plugin uses. */
export type PostgresLibrary = (url: string, options: object) => Sql;

interface Sql {
  unsafe(text: string, params?: readonly Param[], options?: { prepare?: boolean }): PromiseLike<Row[]>;
  listen(channel: string, onNotice: (payload: string) => void, onListen: () => void): Promise<{ unlisten(): Promise<void> }>;
  end(options: { timeout: number }): Promise<void>;
}

export interface DriverSettings {
  url: string;
  schema: string;
  /** Connections for reads. */
  pool: number;
  /** `verify-full`: the certificate of the server is checked; `off`: no encryption. */
  tls: "verify-full" | "off";
}

const statementMs = { writer: 30_000, readers: 10_000, notifier: 5_000 } as const;
/** Time that the server has to say that a statement took too long; after that there is no answer to come. */
const graceMs = 5_000;
const deadPeerMs = 10_000;
const connectSeconds = 5;

/** Opens connections with the driver `postgres`; nothing connects before its first use. */
export function createPostgresDriver(library: PostgresLibrary, settings: DriverSettings): Database {
  const open = (role: LinkRole | "listener") => library(settings.url, optionsOf(role, settings));
  return {
    link: (role) => toLink(() => open(role), statementMs[role] + graceMs),
    async listen(channel, { onNotice, onListen }) {
      const sql = open("listener");
      try {
        await sql.listen(channel, onNotice, onListen);
      } catch (error) {
        await sql.end({ timeout: 0 });
        throw error;
      }
      return { close: () => sql.end({ timeout: 0 }) };
    },
  };
}

function optionsOf(role: LinkRole | "listener", { schema, pool, tls }: DriverSettings): object {
  return {
    max: role === "readers" ? pool : 1,
    ssl: tls === "off" ? false : { rejectUnauthorized: true },
    connect_timeout: connectSeconds,
    idle_timeout: 0,
    max_lifetime: null,
    keep_alive: 5,
    // The driver waits this long between attempts; a database that is back is used within a second.
    backoff: (attempt: number) => Math.min(1, 0.1 * 2 ** attempt),
    onnotice: () => undefined,
    fetch_types: false,
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
    connection: {
      application_name: `svc ${role}`,
      search_path: schema,
      ...(role === "listener" ? {} : { statement_timeout: statementMs[role] }),
      idle_in_transaction_session_timeout: deadPeerMs,
      tcp_user_timeout: deadPeerMs,
      // A notice that a crash loses is one that the next resync makes up for.
      ...(role === "notifier" ? { synchronous_commit: "off" } : {}),
      ...(role === "readers" ? { default_transaction_read_only: "on" } : {}),
    },
  };
}

/**
 * A link whose statements each have an answer within a limit. The driver has been seen to forget a statement whose connection was cut: its promise never settles, and
 * whoever waits for it stands still. Its connections are given up then, and the next statement opens others.
 */
function toLink(open: () => Sql, limitMs: number): Link {
  let sql = open();
  return {
    async query(text, params = []) {
      const asked = sql;
      try {
        return [...(await answerWithin(limitMs, asked.unsafe(text, params, { prepare: true })))];
      } catch (error) {
        if (codeOf(error) === NO_ANSWER && asked === sql) {
          sql = open();
          void asked.end({ timeout: 0 }).catch(() => undefined);
        }
        throw error;
      }
    },
    async script(text) {
      await sql.unsafe(text);
    },
    close: () => sql.end({ timeout: 0 }),
  };
}
