import { constants } from "node:fs";
import { type FileHandle, open, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { SvcError } from "../../errors.ts";
import { sharedErrors } from "../errors.ts";
import { isInside } from "./inside.ts";

/** Conditions the file must meet. */
export interface OpenRegularOptions {
  /** The file must stand below this folder after all links are resolved. */
  root?: string;
  /** Larger files are refused. */
  maxBytes?: number;
  /** Opens for writing what is already there; implies `oneName`. */
  write?: boolean;
  /** A file with a second hard link is refused: its other name may be anywhere. */
  oneName?: boolean;
}

/**
 * Opens a regular file and nothing else: no symbolic link as its last part, no FIFO, device or folder (it never waits for a writer), and, with
 * `root`, nothing that a swapped folder on the way leads to: the place of what was opened counts, not what its name meant before.
 * @returns an open handle; the caller closes it
 * @throws {SvcError} `unsafe-file` with the reason; the error of the system when there is no such file
 */
export async function openRegular(path: string, options: OpenRegularOptions = {}): Promise<FileHandle> {
  const { O_RDONLY, O_RDWR, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const handle = await open(path, (options.write ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
    throw refusalOf(path, error);
  });
  try {
    await verify(handle, path, options);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function verify(handle: FileHandle, path: string, { root, maxBytes, write, oneName = write }: OpenRegularOptions): Promise<void> {
  const opened = await handle.stat();
  if (!opened.isFile()) throw refused(path, "not a regular file");
  if (oneName && opened.nlink > 1) throw refused(path, "has a second hard link; copy it to break the link");
  if (maxBytes !== undefined && opened.size > maxBytes) throw refused(path, `larger than ${maxBytes} bytes`);
  if (root !== undefined && !(await standsBelow(root, handle, path))) throw refused(path, "leads outside of its folder");
}

/** Checks where an opened file really is: on Linux by its descriptor; elsewhere the name is resolved once more, which a very fast swap can still fool. */
async function standsBelow(root: string, handle: FileHandle, path: string): Promise<boolean> {
  const realRoot = await realpath(root);
  const place = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined);
  if (place !== undefined) return isInside(realRoot, place);
  const real = join(await realpath(dirname(path)), basename(path));
  const [opened, there] = await Promise.all([handle.stat(), stat(real)]);
  return isInside(realRoot, real) && there.ino === opened.ino && there.dev === opened.dev;
}

function refusalOf(path: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  // A link as the last part says ELOOP; a socket, or a FIFO opened for writing without a reader, ENXIO.
  if (code === "ELOOP" || code === "EMLINK") return refused(path, "is a symbolic link");
  if (code === "ENXIO" || code === "EISDIR" || code === "EOPNOTSUPP") return refused(path, "not a regular file");
  return error;
}

function refused(path: string, reason: string): SvcError {
  return sharedErrors.unsafeFile({ path, reason });
}
