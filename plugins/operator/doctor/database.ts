import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { CliContext } from "svc/sdk";
import type { OwnFinding } from "./checks.ts";

/** Damage of the state database; undefined: none is known. */
export interface DatabaseEvidence {
  path: string;
  fault: string | undefined;
}

/** A larger file is looked at by its first page only: a start checks it. */
const MAX_CHECKED_BYTES = 64 * 1024 * 1024;
const LIMIT_MS = 20_000;

/** Checks a copy, so that nothing is written beside the database; a module that crashes takes its own process along. */
const script = `
const { copyFileSync, existsSync, mkdtempSync, openSync, readSync, rmSync } = require("node:fs");
const { join } = require("node:path");
const [pack, path, isSmall] = process.argv.slice(1);
const fault = () => {
  const head = Buffer.alloc(16);
  readSync(openSync(path, "r"), head, 0, 16, 0);
  if (String(head) !== "SQLite format 3\\0") return "file is not a database";
  if (isSmall !== "1") return "";
  const folder = mkdtempSync(join(require("node:os").tmpdir(), "svc-doctor-"));
  try {
    for (const end of ["", "-wal"]) if (existsSync(path + end)) copyFileSync(path + end, join(folder, "copy" + end));
    const Database = require("node:module").createRequire(pack)("better-sqlite3");
    const db = new Database(join(folder, "copy"));
    const [first] = db.pragma("quick_check(1)");
    db.close();
    return first.quick_check === "ok" ? "" : first.quick_check.split("\\n").at(-1);
  } catch (error) {
    return String(error.code).startsWith("SQLITE_") ? error.message : "";
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
process.stdout.write(fault().slice(0, 500));
`;

/** Looks for damage while no gateway runs; one that runs says so itself. */
export async function gatherDatabase(cli: CliContext): Promise<DatabaseEvidence> {
  const path = join(cli.paths.stateDir, "state.sqlite");
  const size = (await stat(path).catch(() => undefined))?.size ?? 0;
  if (size === 0 || (await cli.lockOwner())) return { path, fault: undefined };
  const args = ["-e", script, join(cli.paths.packageRoot, "package.json"), path, size <= MAX_CHECKED_BYTES ? "1" : "0"];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { timeout: LIMIT_MS, signal: cli.signal, windowsHide: true }, (error, stdout) =>
      resolve({ path, fault: error || stdout === "" ? undefined : (stdout.split("\n", 1)[0] ?? stdout) }),
    );
  });
}

/** Findings about the state database. Pure. */
export function databaseFindings({ path, fault }: DatabaseEvidence): OwnFinding[] {
  if (fault === undefined) return [];
  const message = `the state database is damaged (${fault}); a start, or the command below, keeps it aside, restores the newest snapshot and takes over what can be read`;
  return [{ id: "sessions/corrupt", severity: "error", path, message, fix: "svc sessions repair" }];
}
