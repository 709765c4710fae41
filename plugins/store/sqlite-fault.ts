/** Reasons why the database does not take writes. `io`: a read, write or fsync failed. */
export type StorageFault = "full" | "readonly" | "corrupt" | "io";

/** SQLite's result code of a thrown error, such as `SQLITE_FULL`; undefined for anything else. */
export function sqliteCode(error: unknown): string | undefined {
  const code = error instanceof Error && error.name === "SqliteError" ? (error as Error & { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** The fault of the storage behind an error; undefined when the storage is not to blame. Codes: sqlite.org/rescode.html. */
export function storageFault(error: unknown): StorageFault | undefined {
  const code = sqliteCode(error);
  if (code === undefined) return undefined;
  if (code.startsWith("SQLITE_FULL")) return "full";
  if (code.startsWith("SQLITE_READONLY")) return "readonly";
  if (code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB") return "corrupt";
  if (/^SQLITE_(IOERR|CANTOPEN|NOMEM|PROTOCOL|NOLFS)/.test(code)) return "io";
  return undefined;
}

/** Another process holds the lock; waiting helps, nothing is broken. */
export function isLocked(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(sqliteCode(error) ?? "");
}
