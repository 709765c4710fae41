import { type FSWatcher, watch } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Disposable } from "../../sdk/types/common.ts";

/** Folders watched below one root; deeper or wider trees are watched as far as that. */
const MAX_FOLDERS = 500;

/**
 * Watches a folder and all below it, without `node_modules` and dot folders. Changes within `debounceMs` of each other are told once.
 * New folders are found with the change that made them. A folder that cannot be watched is left out.
 */
export function watchTree(root: string, debounceMs: number, onChange: () => void): Disposable {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  let ended = false;

  const visit = async (folder: string): Promise<void> => {
    if (ended || watchers.size >= MAX_FOLDERS) return;
    if (!watchers.has(folder)) listen(folder);
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      if (entry.isDirectory() && !isIgnored(entry.name)) await visit(join(folder, entry.name));
    }
  };
  const listen = (folder: string) => {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        if (name === null || !isIgnored(String(name))) changed();
      });
      watcher.on("error", () => {
        watcher.close();
        watchers.delete(folder);
      });
      watchers.set(folder, watcher);
    } catch {
      // gone again, or no watch left in the system: the others still tell
    }
  };
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      void visit(root);
      onChange();
    }, debounceMs);
  };

  void visit(root);
  return {
    dispose() {
      ended = true;
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}

/** Editors write beside a file before they replace it. */
function isIgnored(name: string): boolean {
  return name === "node_modules" || name.startsWith(".") || name.endsWith("~");
}
