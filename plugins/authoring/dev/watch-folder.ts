import { readdir, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { CliContext } from "svc/sdk";

/** One watch per folder; a larger tree is not a plugin's source. */
const MAX_FOLDERS = 256;
const MAX_FILES = 5_000;
const skipped = (name: string) => name === "node_modules" || name.startsWith(".");

export interface FolderWatch {
  dispose(): void;
}

/**
 * Watches the files of a plugin folder, without `node_modules` and dot files.
 * @param options.onChange paths that differ since the last call, relative with `/`, `debounceMs` after the last of them; never while the previous call runs
 * @param options.onFault told why the watching ended: the tree grew too large, or `onChange` failed
 * @throws {Error} for a tree of more than 256 folders or 5,000 files
 */
export async function watchFolder(
  root: string,
  options: {
    open: CliContext["watchFolders"];
    debounceMs: number;
    onChange(paths: string[]): Promise<void>;
    onFault(error: unknown): void;
  },
): Promise<FolderWatch> {
  let known = await readStamps(root);
  let timer: NodeJS.Timeout | undefined;
  let busy = false;
  let again = false;
  let disposed = false;

  const watches = await options.open({
    isPersistent: true,
    onEvent: () => schedule(),
    onLost(_folder, error, isOpen) {
      if (isOpen) schedule();
      // One that has gone again since it was listed is known to whoever watches its parent.
      else if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    },
  });
  const follow = () => watches.follow(["", ...known.folders].map((folder) => ({ path: join(root, folder) })));
  const schedule = () => {
    clearTimeout(timer);
    if (!disposed) timer = setTimeout(() => void look().catch(fail), options.debounceMs);
  };
  const look = async () => {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    try {
      const now = await readStamps(root);
      const changed = difference(known.files, now.files);
      known = now;
      if (disposed) return;
      follow();
      if (changed.length > 0) await options.onChange(changed);
    } finally {
      busy = false;
      if (again) schedule();
      again = false;
    }
  };
  const dispose = () => {
    disposed = true;
    clearTimeout(timer);
    watches.close();
  };
  const fail = (error: unknown) => {
    if (disposed) return;
    dispose();
    options.onFault(error);
  };
  follow();
  schedule(); // what changed before the folders were watched
  return { dispose };
}

interface Stamps {
  folders: ReadonlySet<string>;
  /** Relative path → what changes when the file does. */
  files: ReadonlyMap<string, string>;
}

async function readStamps(root: string): Promise<Stamps> {
  const folders = new Set<string>();
  const files = new Map<string, string>();
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      if (skipped(entry.name)) continue;
      const path = join(folder, entry.name);
      const name = relative(root, path).split(sep).join("/");
      if (entry.isDirectory()) {
        folders.add(name);
        await walk(path);
      } else {
        const found = await stat(path).catch(() => undefined);
        if (found) files.set(name, `${found.mtimeMs} ${found.ctimeMs} ${found.size} ${found.ino}`);
      }
      if (folders.size > MAX_FOLDERS || files.size > MAX_FILES)
        throw new Error(`${root}: too large to watch, expected at most ${MAX_FOLDERS} folders and ${MAX_FILES} files`);
    }
  };
  await walk(root);
  return { folders, files };
}

function difference(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): string[] {
  const changed = [...now].filter(([path, stamp]) => before.get(path) !== stamp).map(([path]) => path);
  const gone = [...before.keys()].filter((path) => !now.has(path));
  return [...changed, ...gone].sort();
}
