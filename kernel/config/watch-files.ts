import { createHash } from "node:crypto";
import { type FSWatcher, watch } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../sdk/errors.ts";
import type { Job } from "../operations/jobs.ts";

/** Second source of changes, and the only one where watching is not possible. */
const POLL_MS = 5_000;
/** Two reads this far apart must agree: an editor may still be writing. */
const SETTLE_MS = 50;
/** A file that never stops changing is reported all the same after this many reads. */
const MAX_READS = 100;
/** Larger files are told apart by time and size alone. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Periods without a sign of life after which the poll counts as dead. */
const DEAD_AFTER_PERIODS = 3;

export interface FileWatchOptions {
  /** Quiet time after the last event before the files are read. */
  debounceMs(): number;
  /** The bytes of at least one file differ from what the last call saw. The first call follows `setFiles`: a file may have changed before it was watched. */
  onChange(): void;
  /** Called once for each folder that cannot be watched; polling goes on. */
  onWarning(message: string): void;
  /** Period of the stat poll; for tests. */
  pollMs?: number;
  /** Starts and stops the poll; for tests. */
  timers?: { setInterval(fn: () => void, ms: number): unknown; clearInterval(timer: unknown): void };
  /** Monotonic milliseconds; for tests. */
  now?: () => number;
  /** Tells two states of the files apart; for tests. */
  fingerprint?: (paths: readonly string[]) => Promise<string>;
  /** `fs.watch` of a folder; for tests. */
  watchFolder?: (folder: string, onEvent: (name: string | null) => void) => Pick<FSWatcher, "close" | "on">;
}

/** As a job: its poll. */
export interface FileWatch extends Job {
  /** Follows exactly these files from now on (absolute paths; a missing file may come). None stops it. */
  setFiles(paths: readonly string[]): void;
  dispose(): void;
}

/**
 * Follows files by watching their folders (editors replace files) and by a stat poll (mtime, size, inode) every 5 s. Reports once per burst of
 * events, after the files held still, and only when bytes differ. Without a folder watch (EMFILE, ENOSPC, network file systems) the poll does it alone.
 */
export function watchFiles(options: FileWatchOptions): FileWatch {
  const timers = options.timers ?? { setInterval, clearInterval: (timer) => clearInterval(timer as NodeJS.Timeout) };
  const periodMs = options.pollMs ?? POLL_MS;
  const read = options.fingerprint ?? fingerprint;
  const openFolder = options.watchFolder ?? watchFolder;
  const now = options.now ?? (() => performance.now());
  const folders = new Map<string, { close(): void }>();
  const warned = new Set<string>();
  let files: readonly string[] = [];
  let stamps = "";
  let bytes: string | undefined;
  let debounce: NodeJS.Timeout | undefined;
  let poll: unknown;
  let ranAt = now();
  let reading: AbortController | undefined;

  const arm = (folder: string) => {
    const names = new Set(files.filter((path) => dirname(path) === folder).map((path) => basename(path)));
    const failed = (error: unknown) => {
      folders.get(folder)?.close();
      folders.delete(folder);
      if (warned.has(folder)) return;
      warned.add(folder);
      options.onWarning(`${folder} cannot be watched, so it is checked for changes every ${periodMs / 1000} s: ${messageOf(error)}`);
    };
    try {
      const watcher = openFolder(folder, (name) => (name === null || names.has(name)) && touched());
      watcher.on("error", failed);
      folders.set(folder, watcher);
    } catch (error) {
      failed(error);
    }
  };

  const touched = () => {
    clearTimeout(debounce);
    debounce = setTimeout(() => void settle(), options.debounceMs());
  };

  const settle = async () => {
    reading?.abort();
    reading = new AbortController();
    const { signal } = reading;
    let seen = await read(files);
    for (let reads = 1; reads < MAX_READS && !signal.aborted; reads++) {
      await sleep(SETTLE_MS, undefined, { ref: false });
      const again = await read(files);
      if (again === seen) break;
      seen = again;
    }
    if (signal.aborted || seen === bytes) return;
    bytes = seen;
    options.onChange();
  };

  const look = async () => {
    ranAt = now();
    for (const folder of new Set(files.map((path) => dirname(path)))) if (!folders.has(folder)) arm(folder);
    const followed = files;
    const found = await stampsOf(followed);
    if (followed !== files || found === stamps) return;
    stamps = found;
    touched();
  };

  const stop = () => {
    clearTimeout(debounce);
    timers.clearInterval(poll);
    poll = undefined;
    reading?.abort();
    for (const folder of folders.values()) folder.close();
    folders.clear();
  };

  const start = () => {
    ranAt = now();
    poll = timers.setInterval(() => void look(), periodMs);
    for (const folder of new Set(files.map((path) => dirname(path)))) arm(folder);
  };

  const isDead = () => poll !== undefined && now() - ranAt > DEAD_AFTER_PERIODS * periodMs;

  return {
    intervalMs: periodMs,
    setFiles(paths) {
      const next = [...new Set(paths)].sort();
      if (next.length === files.length && next.every((path, i) => path === files[i])) return;
      stop();
      files = next;
      if (files.length === 0) return;
      bytes = undefined;
      start();
      void look();
    },
    lastRanAgeMs: () => (poll === undefined ? undefined : Math.round(now() - ranAt)),
    revive() {
      if (!isDead()) return false;
      stop();
      start();
      void look();
      return true;
    },
    dispose() {
      stop();
      files = [];
    },
  };
}

function watchFolder(folder: string, onEvent: (name: string | null) => void): FSWatcher {
  return watch(folder, { persistent: false }, (_event, name) => onEvent(name));
}

async function stampsOf(paths: readonly string[]): Promise<string> {
  const all = paths.map(async (path) => {
    const found = await stat(path).catch(() => undefined);
    return found ? `${found.mtimeMs}:${found.size}:${found.ino}` : "-";
  });
  return (await Promise.all(all)).join("|");
}

async function fingerprint(paths: readonly string[]): Promise<string> {
  const all = paths.map(async (path) => {
    try {
      const found = await stat(path);
      // A pipe would never end, and nobody's config is this large.
      if (!found.isFile() || found.size > MAX_BYTES) return `${found.mtimeMs}:${found.size}:${found.ino}`;
      return createHash("sha256")
        .update(await readFile(path))
        .digest("hex");
    } catch (error) {
      return `unreadable: ${(error as NodeJS.ErrnoException).code}`;
    }
  });
  return (await Promise.all(all)).join("|");
}
