import { existsSync, type FSWatcher, lstatSync, watch } from "node:fs";
import { join } from "node:path";
import { codeOf } from "./fault.ts";
import { ignoredNames, isMarkdown, type WatchedDirectory } from "./listing.ts";

export interface DirectoryWatcher {
  /** Watches exactly these from now on. Returns true when one was added: files may have come before its watch began. */
  follow(directories: readonly WatchedDirectory[]): boolean;
  /** True while every directory is watched. */
  readonly isComplete: boolean;
  close(): void;
}

export interface WatcherOptions {
  /** Names besides Markdown files that matter. */
  isNote?(name: string): boolean;
  /** Called once when things have been quiet. */
  onQuiet(): void;
  /** Called once, when watching is not possible; changes are then found by the next search. */
  onFailure(path: string, code: string): void;
  debounceMs: number;
}

/** One handle a directory, not one a file: ten thousand notes in a hundred folders cost a hundred. */
const MAX_DIRECTORIES = 8_192;
/** A file that is being written settles in this time. */
const SETTLE_MS = 200;
/** Somebody who writes without a pause does not put off the sync for ever. */
const MAX_DEBOUNCES = 4;

/** Tells when notes below some directories have changed. */
export function createDirectoryWatcher(options: WatcherOptions): DirectoryWatcher {
  const open = new Map<string, { key: string; handle: FSWatcher }>();
  const quiet = createDebounce(Math.max(SETTLE_MS, options.debounceMs), options.onQuiet);
  let failed = false;

  const fail = (path: string, code: string) => {
    if (failed) return;
    failed = true;
    options.onFailure(path, code);
  };
  const drop = (path: string) => {
    open.get(path)?.handle.close();
    open.delete(path);
  };
  const add = ({ path, key }: WatchedDirectory) => {
    try {
      const handle = watch(path, { persistent: true }, (event, name) => {
        const isNote = name !== null && options.isNote?.(name) === true;
        if (isNote || isRelevant({ directory: path, event, name }, (below) => open.has(below))) quiet.touch();
      });
      handle.on("error", () => {
        drop(path);
        quiet.touch();
      });
      open.set(path, { key, handle });
      return true;
    } catch (error) {
      const code = codeOf(error) ?? "EIO";
      if (code === "ENOENT") quiet.touch();
      else fail(path, code);
      return false;
    }
  };

  return {
    follow(directories) {
      const wanted = new Map(directories.slice(0, MAX_DIRECTORIES).map((directory) => [directory.path, directory.key]));
      if (directories.length > MAX_DIRECTORIES) fail(directories[MAX_DIRECTORIES]?.path ?? "", "TOO_MANY_DIRECTORIES");
      for (const [path, { key }] of open) if (wanted.get(path) !== key) drop(path);
      let added = false;
      for (const [path, key] of wanted) if (!open.has(path)) added = add({ path, key }) || added;
      return added;
    },
    get isComplete() {
      return !failed;
    },
    close() {
      quiet.cancel();
      for (const path of [...open.keys()]) drop(path);
    },
  };
}

/** A note changed, or a directory came or went; other files of a workspace are written all the time. */
function isRelevant(
  { directory, event, name }: { directory: string; event: string; name: string | null },
  isWatched: (path: string) => boolean,
): boolean {
  if (name === null || isMarkdown(name)) return true;
  if (event !== "rename" || ignoredNames.has(name)) return false;
  const path = join(directory, name);
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats ? stats.isDirectory() : isWatched(path) || !existsSync(directory);
  } catch {
    return true; // cannot be told: a sync will
  }
}

function createDebounce(delayMs: number, run: () => void) {
  let timer: NodeJS.Timeout | undefined;
  let first = 0;
  const fire = () => {
    timer = undefined;
    run();
  };
  return {
    touch() {
      const now = performance.now();
      if (timer === undefined) first = now;
      clearTimeout(timer);
      timer = setTimeout(fire, Math.min(delayMs, Math.max(0, first + MAX_DEBOUNCES * delayMs - now)));
    },
    cancel() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
