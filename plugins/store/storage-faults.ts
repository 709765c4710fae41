import { readFileSync } from "node:fs";
import type { Sqlite } from "./native.ts";
import { faultAt, type StorageFaults } from "./writer-messages.ts";

const noPageLimit = 4_294_967_294;

/** Makes the planned faults real. SQLite itself runs out of pages or refuses to write; an I/O error is thrown as SQLite throws one. */
export function applyFaults(db: Sqlite, faults: StorageFaults | undefined): void {
  if (!faults) return;
  const named = faults instanceof Int32Array ? undefined : textOf(faults.file);
  const isOn = (fault: keyof typeof faultAt) =>
    faults instanceof Int32Array ? Atomics.load(faults, faultAt[fault]) === 1 : named === fault;
  db.pragma(`max_page_count = ${isOn("full") ? 1 : noPageLimit}`);
  db.pragma(`query_only = ${isOn("readonly") ? 1 : 0}`);
  if (isOn("io")) throw Object.assign(new Error("disk I/O error"), { name: "SqliteError", code: "SQLITE_IOERR_WRITE" });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
