import { closeSync, openSync } from "node:fs";
import Sqlite from "better-sqlite3";
import type { Tokenizer } from "../index-settings.ts";
import { IndexFault, reasonOf } from "./fault.ts";
import { type IndexIdentity, OLDEST_READABLE, parseIdentity, SCHEMA_VERSION } from "./identity.ts";
import { IDENTITY_KEY, schemaSql } from "./schema.ts";

export type Database = Sqlite.Database;
export type Statement = Sqlite.Statement<unknown[]>;

const PAGE_SIZE = 8192;
const CACHE_KIB = 6_144;
/**
 * Cache of an index that is being built. With 64 MB, in which most segments could be joined, it was hardly quicker, and the thread kept 50 MB of them for good: what is
 * freed in small pieces does not go back to the system.
 */
const BUILD_CACHE_KIB = 16_384;
/** Time a write of another process is waited for. */
export const BUSY_TIMEOUT_MS = 5_000;

/** An open index that answers; undefined when there is no usable one at `path`. */
export function openIndex(path: string): { db: Database; identity: IndexIdentity } | undefined {
  let db: Database;
  try {
    db = new Sqlite(path, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw new IndexFault("memory-index-unusable", { path, reason: reasonOf(error) }, { cause: error });
  }
  try {
    const identity = readIdentity(db);
    if (!identity && hasTables(db)) {
      throw new IndexFault("memory-index-unusable", { path, reason: "it is a database of something else; choose another store.path" });
    }
    if (!identity || !isReadable(identity)) {
      db.close();
      return undefined;
    }
    tune(db, "WAL", "NORMAL");
    return { db, identity };
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * A new index beside the live one. It has no journal: whatever interrupts its making, it is thrown away as a whole,
 * so each page is written once.
 */
export function createIndex(path: string, tokenizer: Tokenizer): Database {
  closeSync(openSync(path, "wx", 0o600)); // notes are nobody else's business, wherever store.path points
  const db = new Sqlite(path, { timeout: BUSY_TIMEOUT_MS });
  db.pragma(`page_size = ${PAGE_SIZE}`);
  db.pragma("auto_vacuum = INCREMENTAL");
  tune(db, "OFF", "OFF");
  db.pragma(`cache_size = -${BUILD_CACHE_KIB}`);
  db.exec(schemaSql(tokenizer));
  return db;
}

export function writeIdentity(db: Database, identity: IndexIdentity): void {
  db.prepare("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)").run(IDENTITY_KEY, JSON.stringify(identity));
}

/** True for a file that is no database, or a damaged one: its rows contradict each other, which our writes alone never bring about. */
export function isCorrupt(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && /^SQLITE_(CORRUPT|NOTADB|CONSTRAINT)/.test(error.code);
}

export function isReadonly(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code.startsWith("SQLITE_READONLY");
}

/** Another process is writing. */
export function isBusy(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code.startsWith("SQLITE_BUSY");
}

function isReadable({ schemaVersion }: IndexIdentity): boolean {
  return schemaVersion >= OLDEST_READABLE && schemaVersion <= SCHEMA_VERSION;
}

function tune(db: Database, journal: "WAL" | "OFF", synchronous: "NORMAL" | "OFF"): void {
  db.pragma(`journal_mode = ${journal}`);
  db.pragma(`synchronous = ${synchronous}`);
  db.pragma("foreign_keys = ON");
  db.pragma(`cache_size = -${CACHE_KIB}`);
  db.pragma("temp_store = MEMORY");
}

function readIdentity(db: Database): IndexIdentity | undefined {
  const table = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'").get();
  if (!table) return undefined;
  const row = db.prepare("SELECT value FROM meta WHERE key = ?").get(IDENTITY_KEY) as { value: string } | undefined;
  return row ? parseIdentity(row.value) : undefined;
}

function hasTables(db: Database): boolean {
  return db.prepare("SELECT 1 FROM sqlite_master LIMIT 1").get() !== undefined;
}

function isMissing(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code === "SQLITE_CANTOPEN";
}
