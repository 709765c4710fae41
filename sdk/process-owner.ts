import { readFileSync } from "node:fs";

/** Enough to tell a live owner from a recycled pid. */
export interface LockOwner {
  pid: number;
  /** Field 22 of `/proc/<pid>/stat` on Linux, else null. */
  startTime: string | null;
  createdAt: number;
}

/** Does the process still run that wrote this? A recycled pid is told apart by its start time. */
export function isAlive(owner: LockOwner): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  const now = processStartTime(owner.pid);
  return now === null || owner.startTime === null || now === owner.startTime;
}

/** Start time of a process in clock ticks since boot; null where there is no `/proc`. */
export function processStartTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}
