import { spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "vitest";
import { needs, skippedFor } from "./needs.ts";
import { freePort } from "./ports.ts";
import { needsPackages } from "./vendored.ts";

/** Password in the addresses of these servers, which let everybody in: tests look for it in logs. */
export const databasePassword = "secret-of-the-database";

/** A throw-away PostgreSQL server on the loopback interface. */
export interface PgCluster {
  readonly url: string;
  readonly port: number;
  restart(mode: "fast" | "immediate"): void;
  stop(mode: "fast" | "immediate"): void;
  start(): void;
  remove(): void;
}

const versionsFolder = "/usr/lib/postgresql";

/** Folder of the newest installed server; undefined where there is none of version 15 or newer. */
export function pgBin(): string | undefined {
  try {
    const newest = readdirSync(versionsFolder)
      .map(Number)
      .filter((version) => version >= 15)
      .sort((a, b) => b - a)[0];
    return newest === undefined ? undefined : join(versionsFolder, String(newest), "bin");
  } catch {
    return undefined;
  }
}

/** `describe` and `test` for tests that need a PostgreSQL server and the driver of the store; skipped by name where one is missing. */
export async function needsPostgres(): Promise<ReturnType<typeof needs>> {
  if (process.env.SVC_TEST_PG === undefined) {
    const found = needs("pg_lsclusters");
    if (found.describe !== describe) return found;
    if (pgBin() === undefined) return skippedFor("initdb of PostgreSQL 15 or newer");
  }
  return needsPackages("store-postgres");
}

/** Database of a server that runs already, as `SVC_TEST_PG` names it, or of a new one. */
export async function anyDatabase(): Promise<{ url: string; remove(): void }> {
  const url = process.env.SVC_TEST_PG;
  return url === undefined ? startCluster() : { url, remove: () => undefined };
}

/** Starts a server of its own for a test file. */
export async function startCluster(): Promise<PgCluster> {
  const bin = String(pgBin());
  const dir = mkdtempSync(join(tmpdir(), "svc-pg-"));
  const port = await freePort();
  const isRoot = process.getuid?.() === 0;
  if (isRoot) {
    const [uid, gid] = ["-u", "-g"].map((flag) => Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout));
    chownSync(dir, uid ?? 0, gid ?? 0);
  }
  // The server refuses to run as root.
  const asOwner = isRoot ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] : [];
  const run = (command: string, ...args: string[]) => {
    const [program = "", ...rest] = [...asOwner, join(bin, command), ...args];
    const { status, error } = spawnSync(program, rest, { cwd: dir, stdio: "ignore", timeout: 60_000 });
    if (status !== 0) throw new Error(`${command} failed (${error?.message ?? `exit ${status}`})`);
  };
  const data = join(dir, "data");
  const start = () =>
    run(
      "pg_ctl",
      "-D",
      data,
      "-l",
      join(dir, "log"),
      "-w",
      "-o",
      `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${dir}`,
      "start",
    );
  const stop = (mode: string) => run("pg_ctl", "-D", data, "-m", mode, "-w", "stop");
  run("initdb", "-D", data, "-U", "svc", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync");
  start();
  let isUp = true;
  return {
    port,
    url: `postgres://svc:${databasePassword}@127.0.0.1:${port}/postgres`,
    restart(mode) {
      stop(mode);
      start();
    },
    stop(mode) {
      stop(mode);
      isUp = false;
    },
    start() {
      start();
      isUp = true;
    },
    remove() {
      if (isUp) stop("immediate");
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
