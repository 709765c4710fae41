import { type FSWatcher, watch } from "node:fs";
import type { FolderWatches, FolderWatchesOptions, WatchedFolder } from "../../sdk/types/folder-watches.ts";

/** Opens the watch of one folder, as `fs.watch` does. */
export type OpenWatch = (
  folder: string,
  options: { persistent: boolean },
  onEvent: (event: "rename" | "change", name: string | null) => void,
) => Pick<FSWatcher, "close" | "on">;

interface Watching extends FolderWatchesOptions {
  /** Opens one watch; for tests. */
  open?: OpenWatch | undefined;
}

/**
 * Watches folders with `fs.watch`: a handle for a folder costs a fraction of one for each file, and finds files that editors replace. The system may drop events;
 * whoever must not miss one looks for itself from time to time.
 */
export function createFolderWatches({ onEvent, onLost, isPersistent = false, open = watch }: Watching): FolderWatches {
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
