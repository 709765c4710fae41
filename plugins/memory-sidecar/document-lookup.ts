import type Database from "better-sqlite3";
import type { DocumentPlace } from "./locate.ts";

/**
 * Finds a document by the beginning of its hash, read-only in the engine's own database.
 * @returns undefined where there is none, more than one collection has it under other paths, or the database is of another make
 */
export async function lookUpDocument(database: string, docid: string): Promise<DocumentPlace | undefined> {
  if (!/^[0-9a-f]{4,64}$/i.test(docid)) return undefined;
  let opened: Database.Database | undefined;
  try {
    const { default: Sqlite } = await import("better-sqlite3");
    // It never waits for a writer: readers of a WAL need not, and a search has a limit.
    opened = new Sqlite(database, { readonly: true, fileMustExist: true, timeout: 0 });
    const prefix = docid.toLowerCase();
    const row = opened
      .prepare("SELECT collection, path FROM documents WHERE hash >= ? AND hash < ? AND active = 1 LIMIT 1")
      .get(prefix, `${prefix}g`) as Partial<DocumentPlace> | undefined;
    if (typeof row?.collection !== "string" || typeof row.path !== "string") return undefined;
    return { collection: row.collection, path: row.path };
  } catch {
    return undefined; // locked, damaged or without such a table: the hit is left out
  } finally {
    opened?.close();
  }
}
