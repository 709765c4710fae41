import { createHash, randomBytes } from "node:crypto";
import { link, mkdir, realpath, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf, type SvcError } from "../../sdk/errors.ts";
import { writeFileAtomic } from "../../sdk/files.ts";
import { readRegularFile } from "../../sdk/internal/files/read-regular.ts";
import { isAlive, type LockOwner, processStartTime } from "../../sdk/process-owner.ts";
import { hostErrors } from "./errors.ts";

/** Process that holds the lock of a state directory. */
export interface LockRecord extends LockOwner {
  configPath: string;
  stateDir: string;
  port: number | null;
  version: string;
  /** True when it serves the certificate of `--https`, which no config names. */
  localTls?: boolean;
}

export interface HeldLock {
  /** Adds what became known later, such as the port. */
  update(fields: Partial<LockRecord>): Promise<void>;
  /**
   * Writes the lock again where it was removed or damaged.
   * @returns the other process when a living one has taken it
   * @throws {SvcError} `lock-unusable`
   */
  keep(): Promise<"kept" | "restored" | LockRecord>;
  release(): Promise<void>;
}

const RETRY_MS = 100;
const DEFAULT_WAIT_MS = 5_000;
/** Reclaiming takes a moment; a right to it that is older was left by a crash. */
const RECLAIM_MS = 5_000;
const RECLAIM_RETRY_MS = 5;
/** Time a start tries to remove a lock without an owner. */
const REMOVE_LIMIT_MS = 2 * RECLAIM_MS;
const MAX_BYTES = 65_536;

export function stateLockPath(stateDir: string): string {
  return join(stateDir, "gateway", "state.lock");
}

type NewRecord = Omit<LockRecord, "pid" | "startTime" | "createdAt">;

/** Lock of a config file, beside the file itself by whatever name it is reached, so that gateways with different state directories meet there. */
export async function configLockPath(configPath: string): Promise<string> {
  const real = await realpath(configPath).catch(() => configPath);
  return join(dirname(real), `gateway.${createHash("sha1").update(real).digest("hex").slice(0, 8)}.lock`);
}

/**
 * Takes the one writer lock of a state directory, waiting at most 5 s. Leftovers of a dead owner are reclaimed silently.
 * @throws {SvcError} `lock-held` with the owner's pid; `lock-unusable` when what stands in its place is neither a lock nor can be removed
 */
export async function acquireStateLock(record: NewRecord, waitMs = DEFAULT_WAIT_MS): Promise<HeldLock> {
  const path = stateLockPath(record.stateDir);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return acquire(path, record, { waitMs, refuse: ({ pid }) => hostErrors.lockHeld({ pid, waitedMs: waitMs }) });
}

/**
 * Takes the lock of the config file that a gateway is about to run with; the one gateway that runs with it also writes it. Undefined when there is no
 * such file, or its folder takes no files: nobody writes there.
 * @throws {SvcError} `config-lock-held` with the owner's pid and state directory
 */
export async function acquireConfigLock(record: NewRecord, waitMs = DEFAULT_WAIT_MS): Promise<HeldLock | undefined> {
  const { configPath } = record;
  if (!(await stat(configPath).catch(() => undefined))) return undefined;
  const refuse = ({ pid, stateDir }: LockRecord) => hostErrors.configLockHeld({ pid, configPath, stateDir });
  try {
    return await acquire(await configLockPath(configPath), record, { waitMs, refuse });
  } catch (error) {
    if (["EACCES", "EPERM", "EROFS", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

async function acquire(
  path: string,
  record: NewRecord,
  { waitMs, refuse }: { waitMs: number; refuse(owner: LockRecord): SvcError },
): Promise<HeldLock> {
  const mine: LockRecord = { ...record, pid: process.pid, startTime: processStartTime(process.pid), createdAt: Date.now() };
  const deadlineMs = performance.now() + waitMs;
  const removeUntilMs = deadlineMs + REMOVE_LIMIT_MS;
  for (;;) {
    if (await createExclusive(path, mine)) return held(path, mine);
    const owner = await readLock(path);
    if (!owner || !isAlive(owner)) {
      if (performance.now() >= removeUntilMs) throw unusable(path, "it belongs to no process and comes back each time it is removed");
      await removeStale(path, owner);
      continue;
    }
    if (performance.now() >= deadlineMs) throw refuse(owner);
    await sleep(RETRY_MS);
  }
}

/** The live owner of a state directory's lock, if there is one. */
export async function readLockOwner(stateDir: string): Promise<LockRecord | undefined> {
  const owner = await readLock(stateLockPath(stateDir)).catch(() => undefined); // what this user may not read is not this user's gateway
  return owner && isAlive(owner) ? owner : undefined;
}

function held(path: string, mine: LockRecord): HeldLock {
  let isReleased = false;
  return {
    async keep() {
      if (isReleased) return "kept";
      const owner = await readLock(path);
      if (owner?.pid === mine.pid && owner.startTime === mine.startTime) return "kept";
      if (owner && isAlive(owner)) return owner;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await removeStale(path, owner);
      // Of a process that was faster the next call tells.
      if (isReleased || !(await createExclusive(path, mine))) return "kept";
      return "restored";
    },
    async update(fields) {
      Object.assign(mine, fields);
      await writeFileAtomic(path, JSON.stringify(mine));
    },
    async release() {
      isReleased = true;
      const owner = await readLock(path);
      if (owner?.pid === mine.pid && owner.startTime === mine.startTime) await rm(path, { force: true });
    },
  };
}

/** Appears with its content or not at all: a link of a finished temp file. */
export async function createExclusive(path: string, record: LockOwner): Promise<boolean> {
  const temp = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  await writeFile(temp, JSON.stringify(record), { mode: 0o600 });
  try {
    await link(temp, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(temp, { force: true });
  }
}

/**
 * The record in a lock file, of whoever; undefined when it is missing or damaged.
 * @throws {SvcError} `lock-unusable` when this user may not read it: it may be a living gateway's
 */
export async function readLock(path: string): Promise<LockRecord | undefined> {
  return parseLock((await readLockText(path)) ?? "");
}

/** Undefined: there is no such file. What is no regular file (a link, a FIFO) reads as one that is damaged. */
async function readLockText(path: string): Promise<string | undefined> {
  try {
    return String(await readRegularFile(path, { maxBytes: MAX_BYTES, followLink: false }));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === "EACCES" || code === "EPERM") throw unusable(path, `this user may not read it (${code})`);
    return "";
  }
}

function unusable(path: string, reason: string): SvcError {
  return hostErrors.lockUnusable({ path, reason });
}

function parseLock(text: string): LockRecord | undefined {
  try {
    const record = JSON.parse(text) as LockRecord | null;
    return record && Number.isInteger(record.pid) && record.pid > 0 ? record : undefined;
  } catch {
    return undefined; // damaged by hand: nobody's
  }
}

/**
 * Removes a dead owner's file. Only who holds the right to reclaim removes anything, and looks again first: of several that found the
 * same leftover, none can take away the lock that the fastest of them has made meanwhile.
 */
export async function removeStale(path: string, seen: LockOwner | undefined): Promise<void> {
  const right = `${path}.reclaim`;
  try {
    await writeFile(right, "", { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    const mtimeMs = (await stat(right).catch(() => undefined))?.mtimeMs ?? Date.now();
    // A time that is ahead was written by a clock that was wrong, then or now.
    if (Math.abs(Date.now() - mtimeMs) > RECLAIM_MS) await remove(right);
    else await sleep(RECLAIM_RETRY_MS);
    return;
  }
  try {
    const text = await readLockText(path);
    // Given back meanwhile: what stands there in a moment is somebody's new lock.
    if (text === undefined) return;
    const now = parseLock(text);
    if (now?.pid === seen?.pid && now?.createdAt === seen?.createdAt) await remove(path);
  } finally {
    await rm(right, { force: true });
  }
}

/** @throws {SvcError} `lock-unusable`, for a folder too: nobody knows what is in it */
async function remove(path: string): Promise<void> {
  try {
    await rm(path, { force: true });
  } catch (error) {
    throw unusable(path, `it cannot be removed (${(error as NodeJS.ErrnoException).code ?? messageOf(error)})`);
  }
}
