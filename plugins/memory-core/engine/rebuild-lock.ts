import { randomUUID } from "node:crypto";
import { closeSync, linkSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { waitMs } from "./embedding/retry.ts";
import { codeOf, IndexFault } from "./fault.ts";

interface LockRecord {
  pid: number;
  /** Start of that process in clock ticks since boot, where `/proc` tells: a recycled pid is somebody else. */
  startTime: string | null;
}

export function rebuildLockPath(dbPath: string): string {
  return `${dbPath}.reindex-lock`;
}

const withoutLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);
const POLL_MS = 100;
const MAX_WAIT_MS = 5_000;

/**
 * Takes the lock of a rebuild, waiting a little for another process. A record of a dead process, or of this one (an earlier thread), holds nobody up.
 * @returns how to release it
 * @throws {IndexFault} `memory-index-locked`; the signal's reason
 */
export async function takeRebuildLock(
  dbPath: string,
  { signal, maxWaitMs = MAX_WAIT_MS }: { signal: AbortSignal; maxWaitMs?: number },
): Promise<() => void> {
  const path = rebuildLockPath(dbPath);
  const mine: LockRecord = { pid: process.pid, startTime: startTimeOf(process.pid) };
  const until = performance.now() + maxWaitMs;
  for (let stolen = 0; !createExclusive(dbPath, mine); ) {
    const pid = liveOwner(dbPath);
    if (pid === undefined && stolen++ < 3) {
      rmSync(path, { force: true });
      continue;
    }
    if (performance.now() >= until) {
      throw new IndexFault("memory-index-locked", { path: dbPath, pid: pid ?? 0, reason: `it is being rebuilt by process ${pid ?? 0}` });
    }
    await waitMs(POLL_MS, signal);
  }
  return () => rmSync(path, { force: true });
}

/** Pid of another live process that rebuilds this index. */
export function liveOwner(dbPath: string): number | undefined {
  const record = readRecord(rebuildLockPath(dbPath));
  if (!record || record.pid === process.pid || !isAlive(record)) return undefined;
  return record.pid;
}

/** Put in place with its content: an empty one, even for a moment, would be taken for nobody's. */
function createExclusive(dbPath: string, record: LockRecord): boolean {
  const path = rebuildLockPath(dbPath);
  const written = `${dbPath}.tmp-${randomUUID()}`; // goes with the other leftovers after a crash
  try {
    writeNew(written, record);
    linkSync(written, path);
    return true;
  } catch (error) {
    const code = codeOf(error) ?? "";
    if (code === "EEXIST" || code === "ENOENT") return false; // taken, or cleaned up by another process
    if (!withoutLinks.has(code)) throw error;
    return createInPlace(path, record);
  } finally {
    rmSync(written, { force: true });
  }
}

function writeNew(path: string, record: LockRecord): void {
  const fd = openSync(path, "wx", 0o600);
  try {
    writeSync(fd, JSON.stringify(record));
  } finally {
    closeSync(fd);
  }
}

/** Creates the lock on a file system without links. */
function createInPlace(path: string, record: LockRecord): boolean {
  try {
    writeNew(path, record);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

function readRecord(path: string): LockRecord | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (typeof value !== "object" || value === null || typeof (value as LockRecord).pid !== "number") return undefined;
    return value as LockRecord;
  } catch {
    return undefined; // missing or torn: nobody's
  }
}

function isAlive(record: LockRecord): boolean {
  try {
    process.kill(record.pid, 0);
  } catch (error) {
    if (codeOf(error) === "ESRCH") return false;
  }
  const now = startTimeOf(record.pid);
  return now === null || record.startTime === null || now === record.startTime;
}

/** Field 22 of `/proc/<pid>/stat`; null where there is no `/proc`. */
function startTimeOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}
