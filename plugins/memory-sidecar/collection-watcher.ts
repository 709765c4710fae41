import { type FSWatcher, watch } from "node:fs";
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import type { Timers } from "svc/sdk";
import type { Collection } from "./collections.ts";

/** Tells when files of collections may have changed. */
export interface CollectionWatcher {
  /** Looks for folders that came or went. */
  rescan(): Promise<void>;
  close(): void;
}

export interface CollectionWatcherOptions {
  collections: readonly Collection[];
  timers: Pick<Timers, "setTimeout">;
  onChange(): void;
  /** Called once, when something cannot be watched; changes are found at the next interval then. */
  onFailure(path: string, code: string): void;
}

/** One handle a folder. */
const MAX_FOLDERS = 4_096;
const RESCAN_MS = 500;
/** Folders that nobody looks into, wherever they stand below a root. */
const ignoredNames = new Set([".git", "node_modules", ".pnpm-store", ".venv", "venv", ".tox", "__pycache__"]);

/** Watches the folders of all collections but exported transcripts, which svc writes itself. */
export function createCollectionWatcher(options: CollectionWatcherOptions): CollectionWatcher {
  return new FolderWatcher(options);
}

class FolderWatcher implements CollectionWatcher {
  readonly #options: CollectionWatcherOptions;
  readonly #open = new Map<string, FSWatcher>();
  #rescan: { dispose(): unknown } | undefined;
  #scanning: Promise<void> | undefined;
  #isClosed = false;
  #hasFailed = false;
  #isFirstScan = true;

  constructor(options: CollectionWatcherOptions) {
    this.#options = options;
  }

  rescan(): Promise<void> {
    this.#scanning ??= this.#scan().finally(() => {
      this.#scanning = undefined;
    });
    return this.#scanning;
  }

  close(): void {
    this.#isClosed = true;
    void this.#rescan?.dispose();
    for (const handle of this.#open.values()) handle.close();
    this.#open.clear();
  }

  async #scan(): Promise<void> {
    const wanted = new Set<string>();
    for (const { root, pattern, source } of this.#options.collections) {
      if (source === "sessions") continue;
      if (pattern.includes("/")) await this.#addTree(root, wanted);
      else wanted.add(root);
    }
    if (this.#isClosed) return;
    for (const [path, handle] of this.#open) {
      if (wanted.has(path)) continue;
      handle.close();
      this.#open.delete(path);
    }
    const added = [...wanted].filter((path) => this.#watch(path));
    // Notes may have come before the watch of their folder began.
    if (added.length > 0 && !this.#isFirstScan) this.#options.onChange();
    this.#isFirstScan = false;
  }

  async #addTree(root: string, wanted: Set<string>): Promise<void> {
    const waiting = [root];
    for (let folder = waiting.pop(); folder !== undefined && !this.#isClosed; folder = waiting.pop()) {
      if (wanted.size >= MAX_FOLDERS) return this.#fail(folder, "TOO_MANY_FOLDERS");
      const below = await foldersIn(folder);
      if (below === undefined) continue;
      wanted.add(folder);
      waiting.push(...below);
    }
  }

  /** @returns whether it was not watched before */
  #watch(path: string): boolean {
    if (this.#open.has(path)) return false;
    try {
      const handle = watch(path, { persistent: false }, (event, name) => this.#onEvent(event, name));
      handle.on("error", () => {
        handle.close();
        this.#open.delete(path);
        this.#changed();
      });
      this.#open.set(path, handle);
      return true;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? "EIO";
      if (code !== "ENOENT") this.#fail(path, code);
      return false;
    }
  }

  #onEvent(event: string, name: string | null): void {
    if (name === null || /\.md$/i.test(name)) this.#options.onChange();
    else if (event === "rename" && !ignoredNames.has(name)) this.#scheduleRescan();
  }

  /** A folder may have come with notes in it. */
  #changed(): void {
    this.#options.onChange();
    this.#scheduleRescan();
  }

  #scheduleRescan(): void {
    if (this.#rescan || this.#isClosed) return;
    this.#rescan = this.#options.timers.setTimeout(() => {
      this.#rescan = undefined;
      void this.rescan();
    }, RESCAN_MS);
  }

  #fail(path: string, code: string): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#options.onFailure(path, code);
  }
}

/** Real folders in a folder; undefined when it cannot be read. */
async function foldersIn(path: string): Promise<string[] | undefined> {
  try {
    const below: string[] = [];
    for await (const entry of await opendir(path)) {
      if (entry.isDirectory() && !ignoredNames.has(entry.name)) below.push(join(path, entry.name));
    }
    return below;
  } catch {
    return undefined;
  }
}
