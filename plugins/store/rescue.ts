import { renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { Sqlite } from "./native.ts";
import { identityOf, isSameFile } from "./open-files.ts";
import { nextFile } from "./restore.ts";
import { copyWhole, syncFile } from "./snapshots.ts";
import type { FileIdentity } from "./writer-messages.ts";

/**
 * Writes an open database, whose file has lost its name, to a file beside its future place. Nothing else has changed when it fails.
 * @param to the old name, when nobody else has taken it, or another one
 */
export async function copyForRescue(db: Sqlite, to: string): Promise<void> {
  const next = nextFile(to);
  const temp = `${next}.tmp`;
  const damage = await copyWhole(db, temp, "quick");
  if (damage !== undefined) throw Object.assign(new Error(damage), { name: "SqliteError", code: "SQLITE_CORRUPT" });
  renameSync(temp, next);
  syncFile(dirname(to));
}

/**
 * Closes the database and gives the copy its name. The log beside the old name is removed when it is ours: SQLite would apply it to whatever file stands
 * there at the next start.
 */
export function completeRescue(db: Sqlite, { from, to, ownLog }: { from: string; to: string; ownLog: FileIdentity | undefined }): void {
  // SQLite sees that its file is not the one of that name any more, and neither empties nor removes the log.
  db.close();
  const isOwnLog = from === to || isSameFile(identityOf(`${from}-wal`), ownLog);
  if (isOwnLog) for (const suffix of ["-wal", "-shm"]) rmSync(from + suffix, { force: true });
  renameSync(nextFile(to), to);
  syncFile(dirname(to));
}
