import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rename, rm } from "node:fs/promises";
import { messageOf, sleep, writeFileAtomic } from "svc/sdk";
import { holdFolder, isAlive, KeyedMutex } from "svc/sdk/internal";
import { memoryErrors } from "../errors.ts";
import { STATE_FOLDER } from "./state-files.ts";

const NAME = "short-term-promotion.lock";
const WAIT_MS = 10_000;
const RETRY_MS = 40;
/** A lock of a dead process is left alone for this long: it may be a process of another container. */
const STALE_MS = 60_000;

/** Parts of this process that work on one workspace take turns, and so do processes. */
const turns = new KeyedMutex();
/** Locks that this process holds, by workspace. */
const held = new Set<string>();

interface Owner {
  pid: number;
  since: number;
  text: string;
}

export interface LockOptions {
  signal: AbortSignal;
  waitMs?: number;
  /** Waits for the lock of a dead process until it may be taken over: for a sweep that was cut off with its gateway and goes on. */
  isPatient?: boolean;
  nowMs?: () => number;
}

/**
 * Runs while nobody else changes the state of dreaming in this workspace.
 * @throws {SvcError} `dream-locked` after 10 s; `unsafe-file` and errors of the system when the folder cannot be used
 */
export function withDreamLock<T>(workspace: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  return turns.run(workspace, async () => {
    options.signal.throwIfAborted();
    await mkdir(workspace, { recursive: true, mode: 0o700 });
    const folder = await holdFolder(workspace, STATE_FOLDER, { make: true });
    const path = folder.pathOf(NAME);
    try {
      const own = await acquire(workspace, path, options);
      try {
        return await work();
      } finally {
        held.delete(workspace);
        if ((await ownerOf(path))?.text === own) await rm(path, { force: true });
      }
    } finally {
      await folder.close();
    }
  });
}

async function acquire(
  workspace: string,
  path: string,
  { signal, waitMs = WAIT_MS, isPatient = false, nowMs = Date.now }: LockOptions,
): Promise<string> {
  const begun = performance.now();
  for (;;) {
    const own = `${process.pid}:${nowMs()}`;
    if (await make(path, own)) {
      held.add(workspace);
      return own;
    }
    const owner = await ownerOf(path);
    if (owner && isStale(owner, { workspace, now: nowMs() })) await takeAway(path, owner);
    else if (performance.now() - begun >= (isPatient && owner && isGone(owner, workspace) ? STALE_MS + waitMs : waitMs))
      throw memoryErrors.dreamLocked({ path: [...STATE_FOLDER, NAME].join("/"), pid: owner?.pid ?? "unknown" });
    else await sleep(RETRY_MS, signal);
  }
}

/** A link makes the lock with its owner in it: nobody ever sees one without. @returns false when there is one already */
async function make(path: string, owner: string): Promise<boolean> {
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await writeFileAtomic(draft, owner);
    await link(draft, path);
    return true;
  } catch (error) {
    // ENOENT: another process took the draft for a leftover.
    if (!["EEXIST", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return false;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Owner of the lock as it stands in the file; a file that names none counts as held since 1970 by nobody. */
async function ownerOf(path: string): Promise<Owner | undefined> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const [, pid = "0", since = "0"] = /^(\d{1,10}):(\d{1,16})$/.exec(text.slice(0, 40).trim()) ?? [];
  return { pid: Number(pid), since: Number(since), text };
}

/** After a restart in a container the old lock names the pid that this process has, too. */
function isStale(owner: Owner, { workspace, now }: { workspace: string; now: number }): boolean {
  return now - owner.since >= STALE_MS && isGone(owner, workspace);
}

function isGone({ pid, since }: Owner, workspace: string): boolean {
  if (pid === process.pid) return !held.has(workspace);
  return pid <= 0 || !isAlive({ pid, startTime: null, createdAt: since });
}

/** Moves a stale lock aside; when another process was faster, what was moved is its lock, and it is put back. */
async function takeAway(path: string, stale: Owner): Promise<void> {
  const aside = `${path}.${randomBytes(6).toString("hex")}`;
  const moved = await rename(path, aside).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw error;
    },
  );
  if (!moved) return;
  if ((await ownerOf(aside))?.text !== stale.text) await rename(aside, path);
  else await rm(aside, { force: true });
}

/** A lock that nobody holds any more; undefined without one. */
export async function staleLock(workspace: string, nowMs: number): Promise<{ pid: number } | undefined> {
  return inState(workspace, async (path) => {
    const owner = await ownerOf(path);
    return owner && isStale(owner, { workspace, now: nowMs }) ? { pid: owner.pid } : undefined;
  });
}

/** Removes a lock that nobody holds any more. @returns whether there was one */
export async function removeStaleLock(workspace: string, nowMs: number): Promise<boolean> {
  const removed = await inState(workspace, async (path) => {
    const owner = await ownerOf(path);
    if (!owner || !isStale(owner, { workspace, now: nowMs })) return false;
    await takeAway(path, owner);
    return true;
  });
  return removed ?? false;
}

async function inState<T>(workspace: string, work: (path: string) => Promise<T>): Promise<T | undefined> {
  const folder = await holdFolder(workspace, STATE_FOLDER).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new Error(`${STATE_FOLDER.join("/")}: ${messageOf(error)}`, { cause: error });
  });
  if (!folder) return undefined;
  try {
    return await work(folder.pathOf(NAME));
  } finally {
    await folder.close();
  }
}
