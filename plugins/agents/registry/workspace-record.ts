import { createHash } from "node:crypto";
import { lstat, realpath } from "node:fs/promises";
import type { PluginKv } from "svc/sdk";

/**
 * Durable record of the folders that svc itself created for agents: only these may be moved when their agent is deleted. A folder is recognised by its real
 * path, inode and time of birth, so that one which somebody put in its place later is not taken for it.
 */
export interface WorkspaceRecord {
  /** Notes that this folder was just created. */
  add(folder: string): Promise<void>;
  has(folder: string): Promise<boolean>;
  /** Forgets a folder, by the path it had. */
  forget(key: string): Promise<void>;
  /** Key of a folder as it is now; undefined when there is none. */
  keyOf(folder: string): Promise<string | undefined>;
}

interface Made {
  path: string;
  inode: string;
  born: string;
}

export function createWorkspaceRecord(kv: Pick<PluginKv, "get" | "set" | "delete">): WorkspaceRecord {
  return {
    async add(folder) {
      const made = await identify(folder);
      if (made) await kv.set(keyFor(made.path), made);
    },
    async has(folder) {
      const now = await identify(folder);
      if (!now) return false;
      const made = await kv.get<Made>(keyFor(now.path));
      return made?.path === now.path && made.inode === now.inode && made.born === now.born;
    },
    forget: (key) => kv.delete(key),
    async keyOf(folder) {
      const now = await identify(folder);
      return now && keyFor(now.path);
    },
  };
}

/** Device numbers are left out: they change with each mount on some file systems. A file system without times of birth reports 0. */
async function identify(folder: string): Promise<Made | undefined> {
  const path = await realpath(folder).catch(() => undefined);
  const found = path === undefined ? undefined : await lstat(path, { bigint: true }).catch(() => undefined);
  if (path === undefined || !found?.isDirectory()) return undefined;
  return { path, inode: String(found.ino), born: String(found.birthtimeNs) };
}

/** Paths are longer than keys may be. */
function keyFor(path: string): string {
  return `workspace-made/${createHash("sha256").update(path).digest("hex").slice(0, 40)}`;
}
