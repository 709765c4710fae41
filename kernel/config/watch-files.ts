import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../sdk/errors.ts";
import type { FolderWatches } from "../../sdk/types/folder-watches.ts";
import type { Job } from "../operations/jobs.ts";
import { createFolderWatches, type OpenWatch } from "../process/folder-watches.ts";

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
  watchFolder?: OpenWatch;
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
  return new FileFollower(options);
}

class FileFollower implements FileWatch {
  readonly intervalMs: number;
  readonly #options: FileWatchOptions;
  readonly #timers: NonNullable<FileWatchOptions["timers"]>;
  readonly #now: () => number;
  readonly #watches: FolderWatches;
  readonly #warned = new Set<string>();
  #files: readonly string[] = [];
  #stamps = "";
  #bytes: string | undefined;
  #debounce: NodeJS.Timeout | undefined;
  #poll: unknown;
  #ranAt: number;
  #reading: AbortController | undefined;

  constructor(options: FileWatchOptions) {
    this.#options = options;
    this.intervalMs = options.pollMs ?? POLL_MS;
    this.#timers = options.timers ?? { setInterval, clearInterval: (timer) => clearInterval(timer as NodeJS.Timeout) };
    this.#now = options.now ?? (() => performance.now());
    this.#ranAt = this.#now();
    this.#watches = createFolderWatches({
      onEvent: (folder, _event, name) => {
        if (name === null || this.#files.some((path) => dirname(path) === folder && basename(path) === name)) this.#touched();
      },
      onLost: (folder, error) => this.#lost(folder, error),
      open: options.watchFolder,
    });
  }

  setFiles(paths: readonly string[]): void {
    const next = [...new Set(paths)].sort();
    if (next.length === this.#files.length && next.every((path, i) => path === this.#files[i])) return;
    this.#stop();
    this.#files = next;
    if (next.length === 0) return;
    this.#bytes = undefined;
    this.#start();
  }

  lastRanAgeMs(): number | undefined {
    return this.#poll === undefined ? undefined : Math.round(this.#now() - this.#ranAt);
  }

  revive(): boolean {
    const isDead = this.#poll !== undefined && this.#now() - this.#ranAt > DEAD_AFTER_PERIODS * this.intervalMs;
    if (!isDead) return false;
    this.#stop();
    this.#start();
    return true;
  }

  dispose(): void {
    this.#stop();
    this.#files = [];
  }

  #start(): void {
    this.#ranAt = this.#now();
    this.#poll = this.#timers.setInterval(() => void this.#look(), this.intervalMs);
    this.#watchMissingFolders();
    void this.#look();
  }

  #stop(): void {
    clearTimeout(this.#debounce);
    this.#timers.clearInterval(this.#poll);
    this.#poll = undefined;
    this.#reading?.abort();
    this.#watches.close();
  }

  #watchMissingFolders(): void {
    this.#watches.follow(this.#files.map((path) => ({ path: dirname(path) })));
  }

  #lost(folder: string, error: unknown): void {
    if (this.#warned.has(folder)) return;
    this.#warned.add(folder);
    this.#options.onWarning(
      `${folder} cannot be watched, so it is checked for changes every ${this.intervalMs / 1000} s: ${messageOf(error)}`,
    );
  }

  #touched(): void {
    clearTimeout(this.#debounce);
    this.#debounce = setTimeout(() => void this.#settle(), this.#options.debounceMs());
  }

  /** Reports a change once two reads of the files agree. */
  async #settle(): Promise<void> {
    const { fingerprint: read = fingerprint, onChange } = this.#options;
    this.#reading?.abort();
    this.#reading = new AbortController();
    const { signal } = this.#reading;
    let seen = await read(this.#files);
    for (let reads = 1; reads < MAX_READS && !signal.aborted; reads++) {
      await sleep(SETTLE_MS, undefined, { ref: false });
      const again = await read(this.#files);
      if (again === seen) break;
      seen = again;
    }
    if (signal.aborted || seen === this.#bytes) return;
    this.#bytes = seen;
    onChange();
  }

  /** The poll: compares times and sizes, and tries folders again that could not be watched. */
  async #look(): Promise<void> {
    this.#ranAt = this.#now();
    this.#watchMissingFolders();
    const followed = this.#files;
    const found = await stampsOf(followed);
    if (followed !== this.#files || found === this.#stamps) return;
    this.#stamps = found;
    this.#touched();
  }
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
