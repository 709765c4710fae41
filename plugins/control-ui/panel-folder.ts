import { constants } from "node:fs";
import { lstat, open, opendir, realpath } from "node:fs/promises";
import { extname, join, posix, sep } from "node:path";
import { errors } from "./errors.ts";

/** File of a panel, as it was when its plugin was loaded. */
export interface PanelFile {
  readonly type: string;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Limits of one plugin's `panel/` folder. */
export interface FolderLimits {
  files: number;
  bytes: number;
}

const LIMITS: FolderLimits = { files: 200, bytes: 4_194_304 };
const MAX_DEPTH = 8;

/** Only these are ever served; whatever else lies in the folder stays private. */
const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};

/**
 * Reads the files of a folder into memory by their relative names. Requests look names up in the result, so no path of a request reaches the file system.
 * Links are left out, wherever they lead, and so is what begins with a dot.
 * @throws {SvcError} `panel-folder-too-large`
 */
export async function readPanelFolder(folder: string, limits: FolderLimits = LIMITS): Promise<ReadonlyMap<string, PanelFile>> {
  const files = new Map<string, PanelFile>();
  const isFolder = await lstat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) return files;
  const root = await realpath(folder);
  const tooLarge = () => errors.panelFolderTooLarge({ folder, files: limits.files, bytes: limits.bytes });
  let left = limits.bytes;
  for (const name of await namesIn(root, limits.files, tooLarge)) {
    const type = contentTypes[extname(name).toLowerCase()];
    if (type === undefined) continue;
    const body = await readInside(root, name, left);
    if (body === "too large") throw tooLarge();
    if (!body) continue;
    left -= body.byteLength;
    files.set(name, { type, body });
  }
  return files;
}

/** Relative names of the plain files below a folder, with slashes. */
async function namesIn(root: string, most: number, tooLarge: () => Error): Promise<string[]> {
  const names: string[] = [];
  const folders = [""];
  let seen = 0;
  for (const folder of folders) {
    for await (const entry of await opendir(join(root, folder))) {
      seen += 1;
      if (seen > most) throw tooLarge();
      const name = posix.join(folder, entry.name);
      if (entry.name.startsWith(".")) continue;
      if (entry.isFile()) names.push(name);
      else if (entry.isDirectory() && name.split("/").length < MAX_DEPTH) folders.push(name);
    }
  }
  return names.sort();
}

/** Bytes of a file; undefined when it is a link by now, or lies elsewhere, or is gone. */
async function readInside(root: string, name: string, most: number): Promise<Uint8Array<ArrayBuffer> | "too large" | undefined> {
  const path = join(root, name);
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const file = await open(path, flags).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { size, ...found } = await file.stat().then((stat) => ({ size: stat.size, isFile: stat.isFile() }));
    if (!found.isFile || (await realpath(path)) !== root + sep + name.replaceAll("/", sep)) return undefined;
    if (size > most) return "too large";
    const body = new Uint8Array(size);
    let at = 0;
    while (at < size) {
      const { bytesRead } = await file.read(body, at, size - at, at);
      if (bytesRead === 0) break;
      at += bytesRead;
    }
    return body.subarray(0, at);
  } finally {
    await file.close();
  }
}
