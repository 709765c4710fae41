import { mkdir, rm, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SvcError } from "../errors.ts";
import { createExclusive, isAlive, processStartTime, readLock, removeStale } from "../host/lock.ts";
import "./errors.ts";

/** A dead owner's lock is taken over after this; until then it may be that of a process this one cannot see. */
const STALE_AFTER_MS = 10_000;
const WAIT_MS = 15_000;
const RETRY_MS = 25;

/** How long a writer waits; tests make it short. */
export interface LockTimes {
  staleAfterMs?: number;
  waitMs?: number;
}

/**
 * Runs while holding `<path>.lock`, so that of all writers of a config file (the gateway, commands, people's scripts) one works at a time.
 * @throws {SvcError} `config-locked` with the owner's pid when it could not be had within 15 s
 */
export async function withConfigLock<T>(path: string, work: () => Promise<T>, times: LockTimes = {}): Promise<T> {
  const { staleAfterMs = STALE_AFTER_MS, waitMs = WAIT_MS } = times;
  const lock = `${path}.lock`;
  const mine = { pid: process.pid, startTime: processStartTime(process.pid), createdAt: Date.now() };
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const started = performance.now();
  let seen: { since: number; createdAt: number | undefined } | undefined;
  while (!(await createExclusive(lock, mine))) {
    const owner = await readLock(lock);
    if (seen?.createdAt !== owner?.createdAt || !seen) seen = { since: performance.now(), createdAt: owner?.createdAt };
    const ageMs = Math.max(performance.now() - seen.since, Date.now() - ((await stat(lock).catch(() => undefined))?.mtimeMs ?? Date.now()));
    if (ageMs >= staleAfterMs && !(owner && isAlive(owner))) {
      await removeStale(lock, owner);
      continue;
    }
    if (performance.now() - started >= waitMs) {
      throw new SvcError("config-locked", {
        file: basename(path),
        lock: basename(lock),
        pid: owner?.pid ?? "unknown",
        seconds: waitMs / 1000,
      });
    }
    await sleep(RETRY_MS);
  }
  try {
    return await work();
  } finally {
    const owner = await readLock(lock);
    if (owner?.pid === mine.pid && owner.createdAt === mine.createdAt) await rm(lock, { force: true });
  }
}
