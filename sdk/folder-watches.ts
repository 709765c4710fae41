import { type FSWatcher, watch } from "node:fs";

/** A folder to watch. Another `key` means that another folder has taken its place: its watch is opened anew. */
export interface WatchedFolder {
  path: string;
  key?: string;
}

/** Watches of many folders, one handle each; what lies below a folder is not its concern. */
export interface FolderWatches {
  readonly size: number;
  /** Watches this one, too. Returns false when it is watched already, or cannot be. */
  add(folder: WatchedFolder): boolean;
  /** Watches exactly these from now on. Returns true when one was added: files may have come before its watch began. */
  follow(folders: Iterable<WatchedFolder>): boolean;
  has(path: string): boolean;
  close(): void;
}

export interface FolderWatchesOptions {
  /** An entry of a folder came, went or changed. `name` is null where the system does not tell it. */
  onEvent(folder: string, event: "rename" | "change", name: string | null): void;
  /** A watch has ended, or could not be opened; the folder is tried again when it is followed again. */
  onLost(folder: string, error: unknown, isOpen: boolean): void;
  /** Keep the process alive. Default false. */
  isPersistent?: boolean;
  /** Opens one watch; for tests. */
  open?: OpenWatch | undefined;
}

/** Opens the watch of one folder, as `fs.watch` does. */
export type OpenWatch = (
  folder: string,
  options: { persistent: boolean },
  onEvent: (event: "rename" | "change", name: string | null) => void,
) => Pick<FSWatcher, "close" | "on">;

/**
 * Watches folders with `fs.watch`: a handle for a folder costs a fraction of one for each file, and finds files that editors replace. The system may drop events;
 * whoever must not miss one looks for itself from time to time.
 */
export function createFolderWatches({ onEvent, onLost, isPersistent = false, open = watch }: FolderWatchesOptions): FolderWatches {
  const watches = new Map<string, { key: string | undefined; close(): void }>();
  const drop = (path: string) => {
    watches.get(path)?.close();
    watches.delete(path);
  };
  const add = ({ path, key }: WatchedFolder): boolean => {
    if (watches.has(path)) return false;
    try {
      const handle = open(path, { persistent: isPersistent }, (event, name) => onEvent(path, event, name));
      handle.on("error", (error) => {
        if (watches.get(path) !== entry) return;
        drop(path);
        onLost(path, error, true);
      });
      const entry = { key, close: () => handle.close() };
      watches.set(path, entry);
      return true;
    } catch (error) {
      onLost(path, error, false);
      return false;
    }
  };
  return {
    get size() {
      return watches.size;
    },
    add,
    follow(folders) {
      const wanted = new Map([...folders].map((folder) => [folder.path, folder]));
      for (const [path, { key }] of watches) if (!wanted.has(path) || wanted.get(path)?.key !== key) drop(path);
      let isAdded = false;
      for (const folder of wanted.values()) isAdded = add(folder) || isAdded;
      return isAdded;
    },
    has: (path) => watches.has(path),
    close() {
      for (const path of [...watches.keys()]) drop(path);
    },
  };
}
