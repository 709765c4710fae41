import { type Dirent, lstatSync, readdirSync, realpathSync, type Stats } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { codeOf } from "./fault.ts";
import { ignoredNames } from "./memory-paths.ts";
import type { Pacer } from "./pacer.ts";

/** A file to index. */
export interface ListedFile {
  absolute: string;
  /** Without any symlink; what is opened later has to be this. */
  real: string;
  /** Identity: relative to the workspace, with `/`. */
  path: string;
  mtimeMs: number;
  size: number;
}

/** A directory to watch; `key` changes when another directory takes its place. */
export interface WatchedDirectory {
  path: string;
  key: string;
}

/** A directory whose files are taken, as it was when it was read. */
export interface ReadDirectory {
  /** Without any symlink. */
  real: string;
  key: string;
}

export interface Listing {
  files: ListedFile[];
  directories: WatchedDirectory[];
  /** Directories that were read, by path; others are only watched for what may come. */
  tree: Map<string, ReadDirectory>;
  /** Paths that could not be read. */
  problems: Array<{ path: string; code: string }>;
}

/** Files of an agent. */
export const MAX_FILES = 200_000;

/** A look at paths by the rules of the listing: no symlinks, each real file once, nothing fatal. */
export class Walk {
  readonly listing: Listing = { files: [], directories: [], tree: new Map(), problems: [] };
  readonly #workspace: string;
  readonly #isTaken: (path: string) => boolean;
  readonly #seenFiles = new Set<string>();
  readonly #seenDirectories = new Set<string>();
  readonly #watched = new Set<string>();

  constructor(workspace: string, isTaken: (path: string) => boolean) {
    this.#workspace = workspace;
    this.#isTaken = isTaken;
  }

  async addExtra(path: string, pacer: Pacer): Promise<void> {
    const stats = this.#lstat(path);
    if (stats?.isDirectory()) return this.addTree(path, pacer);
    if (this.#isTaken(path)) this.addFile(path, undefined);
    this.watchNearest(dirname(path));
  }

  /** Adds a directory with all below it, unless it is missing or a symlink. */
  async addTree(root: string, pacer: Pacer): Promise<void> {
    const stats = this.#lstat(root);
    const real = stats?.isDirectory() ? this.#realpath(root) : undefined;
    if (real === undefined) return this.watchNearest(dirname(root));
    const open = [{ path: root, real }];
    for (let directory = open.pop(); directory; directory = open.pop()) {
      await pacer.breathe();
      for (const below of await this.#readDirectory(directory, pacer)) open.push(below);
    }
  }

  /** `real`: its real path when the caller knows it. */
  addFile(path: string, real: string | undefined): void {
    const stats = this.#lstat(path);
    if (!stats?.isFile()) return;
    const key = real ?? this.#realpath(path);
    if (key === undefined || this.#seenFiles.has(key)) return;
    if (this.listing.files.length >= MAX_FILES) return this.#problem(path, "TOO_MANY_FILES");
    this.#seenFiles.add(key);
    this.listing.files.push({
      absolute: path,
      real: key,
      path: identityOf(this.#workspace, path),
      mtimeMs: Math.floor(stats.mtimeMs),
      size: stats.size,
    });
  }

  /** Watches a directory, or the nearest one above it that exists: whatever is created later begins there. */
  watchNearest(path: string): void {
    for (let at = path; ; at = dirname(at)) {
      const stats = this.#stat(at);
      if (stats?.isDirectory()) return this.#watch(at, stats);
      if (dirname(at) === at) return;
    }
  }

  /** Files of one directory are added; its real sub-directories are returned, last first. */
  async #readDirectory(directory: { path: string; real: string }, pacer: Pacer): Promise<Array<{ path: string; real: string }>> {
    if (this.#seenDirectories.has(directory.real)) return [];
    this.#seenDirectories.add(directory.real);
    const stats = this.#lstat(directory.path);
    if (stats) this.#watch(directory.path, stats);
    if (stats) this.listing.tree.set(directory.path, { real: directory.real, key: keyOf(stats) });
    const below: Array<{ path: string; real: string }> = [];
    for (const entry of this.#entries(directory.path)) {
      const child = { path: join(directory.path, entry.name), real: join(directory.real, entry.name) };
      if (entry.isFile() && this.#isTaken(child.path)) this.addFile(child.path, child.real);
      else if (entry.isDirectory() && !ignoredNames.has(entry.name)) below.push(child);
      await pacer.breathe();
    }
    return below.reverse();
  }

  #entries(path: string): Dirent[] {
    try {
      return readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch (error) {
      this.#failed(path, error);
      return [];
    }
  }

  #watch(path: string, stats: Stats): void {
    if (this.#watched.has(path)) return;
    this.#watched.add(path);
    this.listing.directories.push({ path, key: keyOf(stats) });
  }

  #lstat(path: string): Stats | undefined {
    try {
      return lstatSync(path, { throwIfNoEntry: false });
    } catch (error) {
      this.#failed(path, error);
      return undefined;
    }
  }

  #stat(path: string): Stats | undefined {
    try {
      return lstatSync(realpathSync.native(path));
    } catch {
      return undefined; // missing: the caller goes one level up
    }
  }

  #realpath(path: string): string | undefined {
    try {
      return realpathSync.native(path);
    } catch (error) {
      this.#failed(path, error);
      return undefined;
    }
  }

  #failed(path: string, error: unknown): void {
    const code = codeOf(error) ?? "EIO";
    if (code !== "ENOENT" && code !== "ENOTDIR") this.#problem(path, code);
  }

  #problem(path: string, code: string): void {
    if (this.listing.problems.length < 100) this.listing.problems.push({ path, code });
  }
}

/** Changes when another directory takes the place of one. */
export function keyOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

/** The identity of a file in the index. */
export function identityOf(workspace: string, absolute: string): string {
  return relative(workspace, absolute).split(sep).join("/");
}
