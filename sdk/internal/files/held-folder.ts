import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";
import { isInside } from "./inside.ts";

/** A folder that is held open: whatever its name means a moment later, files are reached through what was opened. */
export interface HeldFolder {
  /** Way to the folder itself. */
  readonly way: string;
  /** Folder, with links resolved, that everything must stand below where it cannot be reached through the open one. */
  readonly root: string;
  pathOf(name: string): string;
  close(): Promise<void>;
}

/** Opens a folder without the right to read it; Linux only, and 0 elsewhere. */
const O_PATH = process.platform === "linux" ? 0x200000 : 0;

/**
 * Opens a folder below a root, part by part, each from the one before it, and through no symbolic link. Linux lets a path begin at an open folder, so nothing that is swapped
 * on the way leads outside; elsewhere names are resolved again, and whoever opens a file checks where it stands (`openRegular`).
 * @param options.make makes the folders that are missing, mode 0700
 * @throws {Error} of the system: ENOENT, ELOOP or ENOTDIR for a link or a file on the way
 */
export async function holdFolder(root: string, parts: readonly string[], { make = false } = {}): Promise<HeldFolder> {
  const real = await realpath(root);
  let held = await hold(real, real, real);
  for (const part of parts) {
    const before = held;
    try {
      if (make) await mkdir(before.pathOf(part), { mode: 0o700 }).catch(unlessThere);
      held = await hold(before.pathOf(part), join(before.name, part), real);
    } finally {
      await before.close();
    }
  }
  return held;
}

interface Held extends HeldFolder {
  /** Path of the folder by names alone. */
  name: string;
}

async function hold(path: string, name: string, root: string): Promise<Held> {
  const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants;
  if (O_DIRECTORY === 0) return byName(name, root); // folders cannot be opened
  const handle = await open(path, O_RDONLY | O_PATH | O_DIRECTORY | O_NOFOLLOW);
  try {
    const way = await heldPath(handle, name);
    return { way, name, root, pathOf: (part) => join(way, part), close: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function byName(name: string, root: string): Promise<Held> {
  const isFolder = (await lstat(name)).isDirectory();
  const real = await realpath(name);
  if (!isFolder || (real !== root && !isInside(root, real))) throw Object.assign(new Error("is no folder"), { code: "ENOTDIR" });
  return { way: real, name, root, pathOf: (part) => join(real, part), close: async () => undefined };
}

async function heldPath(handle: FileHandle, name: string): Promise<string> {
  const held = `/proc/self/fd/${handle.fd}`;
  const isHeld = await readlink(held).then(
    () => true,
    () => false,
  );
  return isHeld ? held : name;
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}
