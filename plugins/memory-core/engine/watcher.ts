import { existsSync, type FSWatcher, lstatSync, watch } from "node:fs";
import { join } from "node:path";
import { codeOf } from "./fault.ts";
import { createFileNews, MAX_CHANGED_FILES } from "./file-news.ts";
import { ignoredNames, isMarkdown } from "./memory-paths.ts";
import type { WatchedDirectory } from "./walk.ts";

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
  /** Called once when things have been quiet, with the notes that changed; undefined: more than them may have changed. */
  onQuiet(changed: readonly string[] | undefined): void;
  /** Called once, when watching is not possible; changes are then found by the next search. */
  onFailure(path: string, code: string): void;
  debounceMs: number;
}

/** One handle a directory, not one a file: ten thousand notes in a hundred folders cost a hundred. */
const MAX_DIRECTORIES = 8_192;
/** A file that is being written settles in this time. */
const SETTLE_MS = 200;
/** Maximum number of debounce periods, so that a writer without pauses does not put off the sync for ever. */
const MAX_DEBOUNCES = 4;
/** The system keeps 16,384 events for a thread that is busy, and drops what comes then without a word. */
const MAX_EVENTS = 8_192;
const EVENTS_MS = 1_000;

/** Tells when notes below some directories have changed. */
export function createDirectoryWatcher(options: WatcherOptions): DirectoryWatcher {
  const open = new Map<string, { key: string; handle: FSWatcher }>();
  const news = createFileNews(MAX_CHANGED_FILES);
  const quiet = createDebounce(Math.max(SETTLE_MS, options.debounceMs), () => options.onQuiet(news.take()));
  const isFlood = createFloodGauge();
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
  /** Something happened that a look at single notes does not show. */
  const unclear = () => {
    news.unclear();
    quiet.touch();
  };
  const onEvent = (directory: string, event: string, name: string | null) => {
    if (isFlood() || name === null) return unclear();
    const path = join(directory, name);
    if ((isMarkdown(name) || options.isNote?.(name)) && !open.has(path)) {
      news.add(path);
      quiet.touch();
    } else if (event === "rename" && isOfDirectory({ directory, name }, (below) => open.has(below))) unclear();
  };
  const add = ({ path, key }: WatchedDirectory) => {
    try {
      const handle = watch(path, { persistent: true }, (event, name) => onEvent(path, event, name));
      handle.on("error", () => {
        drop(path);
        unclear();
      });
      open.set(path, { key, handle });
      return true;
    } catch (error) {
      const code = codeOf(error) ?? "EIO";
      if (code === "ENOENT") unclear();
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

/** A directory came or went; other files of a workspace are written all the time. */
function isOfDirectory({ directory, name }: { directory: string; name: string }, isWatched: (path: string) => boolean): boolean {
  if (ignoredNames.has(name)) return false;
  const path = join(directory, name);
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats?.isDirectory() || isWatched(path) || !existsSync(directory);
  } catch {
    return true; // cannot be told: a sync will
  }
}

/** True once events come so fast that some may have been dropped. */
function createFloodGauge(): () => boolean {
  let since = 0;
  let events = 0;
  return () => {
    const now = performance.now();
    if (now - since > EVENTS_MS) {
      since = now;
      events = 0;
    }
    events++;
    return events > MAX_EVENTS;
  };
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
