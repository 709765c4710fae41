import { mkdir, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive, processStartTime } from "../../sdk/process-owner.ts";
import type { FileLockOptions } from "../../sdk/types/cli.ts";
import { createExclusive, readLock, removeStale } from "./lock.ts";

const RETRY_MS = 25;
/** Time limit for removing a lock without an owner. */
const REMOVE_LIMIT_MS = 10_000;

/**
 * Runs while holding a lock file, so that of all processes with such work one is at it at a time. The file appears with its owner in it or not at
 * all, a pid that belongs to another process by now is told by its start time, and only the own lock is given back.
 * @throws what `busy` makes
 */
export async function withFileLock<T>(lock: string, work: () => Promise<T>, options: FileLockOptions): Promise<T> {
  const { waitMs, staleAfterMs, busy } = options;
  const mine = { pid: process.pid, startTime: processStartTime(process.pid), createdAt: Date.now() };
  await mkdir(dirname(lock), { recursive: true, mode: 0o700 });
  const started = performance.now();
  let seen: { since: number; createdAt: number | undefined } | undefined;
  while (!(await createExclusive(lock, mine))) {
    const owner = await readLock(lock);
    if (seen?.createdAt !== owner?.createdAt || !seen) seen = { since: performance.now(), createdAt: owner?.createdAt };
    const ageMs = Math.max(performance.now() - seen.since, Date.now() - ((await stat(lock).catch(() => undefined))?.mtimeMs ?? Date.now()));
    const isOver = performance.now() - started >= waitMs + REMOVE_LIMIT_MS;
    if (ageMs >= staleAfterMs && !(owner && isAlive(owner)) && !isOver) {
      await removeStale(lock, owner);
      continue;
    }
    if (performance.now() - started >= waitMs) throw busy(owner);
    await sleep(RETRY_MS);
  }
  try {
    return await work();
  } finally {
    const owner = await readLock(lock);
    if (owner?.pid === mine.pid && owner.createdAt === mine.createdAt) await rm(lock, { force: true });
  }
}
