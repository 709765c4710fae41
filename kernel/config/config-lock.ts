import { mkdir, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { withFileLock } from "../process/file-lock.ts";
import { configErrors } from "./errors.ts";

/** A dead owner's lock is taken over after this; until then it may be that of a process this one cannot see. */
const STALE_AFTER_MS = 10_000;
const WAIT_MS = 15_000;

/** Time limits of a writer; tests make them short. */
export interface LockTimes {
  staleAfterMs?: number;
  waitMs?: number;
}

/**
 * Runs while holding `<file>.lock`, so that of all writers of a config file (the gateway, commands, people's scripts) one works at a time. A file
 * that is reached by several names has one lock, beside the file itself.
 * @param work gets the file's own path, links followed
 * @throws {SvcError} `config-locked` with the owner's pid when it could not be had within 15 s
 */
export async function withConfigLock<T>(path: string, work: (file: string) => Promise<T>, times: LockTimes = {}): Promise<T> {
  const { staleAfterMs = STALE_AFTER_MS, waitMs = WAIT_MS } = times;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await ownPath(path);
  const lock = `${file}.lock`;
  const busy = (owner: { pid: number } | undefined) =>
    configErrors.configLocked({
      file: basename(path),
      lock: basename(lock),
      pid: owner?.pid ?? "unknown",
      seconds: waitMs / 1000,
    });
  return withFileLock(lock, () => work(file), { waitMs, staleAfterMs, busy });
}

/** Real path of a file that exists or would be created: a folder may have several names too. */
async function ownPath(path: string): Promise<string> {
  return realpath(path).catch(async () => join(await realpath(dirname(path)), basename(path)));
}
