import type { FileHandle } from "node:fs/promises";
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "svc/sdk";
import { idFault, openRegular } from "svc/sdk/internal";

/** Names read of one folder; a folder with more is cut there, and the report says so. */
const MAX_NAMES = 20_000;
const CHUNK_BYTES = 256 * 1024;
const LINE_FEED = 0x0a;

/** Names in a folder. Links, devices and names that no text can show stand in `refused`, each with the reason. */
export interface Listing {
  files: string[];
  folders: string[];
  refused: Array<{ name: string; reason: string }>;
}

/** One line of a text file, or the place of one that is longer than it may be. */
export type Line = { at: number; text: string } | { at: number; tooLong: true };

/** The folder that is imported. Paths are relative to it; nothing that a link leads out to is ever opened. */
export interface SourceFolder {
  /** Real path of the folder. */
  readonly root: string;
  /** Undefined when there is no such folder. */
  list(path: string): Promise<Listing | undefined>;
  /** @throws the reason why the file is not read, without a word of its content */
  read(path: string, maxBytes: number): Promise<Buffer>;
  /** Lines of a file, one after the other; never more than one of them in memory. @throws as `read` */
  lines(path: string, limits: { maxBytes: number; maxLineBytes: number }): AsyncGenerator<Line>;
}

/** @param root an absolute path with its links resolved */
export function openSourceFolder(root: string): SourceFolder {
  const open = (path: string, maxBytes: number) => openRegular(join(root, path), { root, maxBytes });
  return {
    root,
    list: (path) => listFolder(join(root, path)),
    async read(path, maxBytes) {
      const handle = await open(path, maxBytes);
      try {
        const buffer = Buffer.alloc(maxBytes + 1 < CHUNK_BYTES ? maxBytes + 1 : Math.min(maxBytes, (await handle.stat()).size) + 1);
        let size = 0;
        for (;;) {
          const { bytesRead } = await handle.read(buffer, size, buffer.length - size, null);
          if (bytesRead === 0) return buffer.subarray(0, size);
          size += bytesRead;
          if (size === buffer.length) throw new Error("it grows while it is read");
        }
      } finally {
        await handle.close();
      }
    },
    async *lines(path, { maxBytes, maxLineBytes }) {
      const handle = await open(path, maxBytes);
      try {
        yield* linesOf(handle, maxLineBytes);
      } finally {
        await handle.close();
      }
    },
  };
}

/** Why a file was not read, without the path of this machine. */
export function reasonOf(error: unknown): string {
  const { code, fields } = error as { code?: string; fields?: { reason?: unknown } };
  if (typeof fields?.reason === "string") return fields.reason;
  if (code === "ENOENT") return "there is no such file";
  return code === undefined ? messageOf(error) : `it cannot be read (${code})`;
}

async function listFolder(path: string): Promise<Listing | undefined> {
  const listing: Listing = { files: [], folders: [], refused: [] };
  const folder = await opendir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw error;
  });
  if (!folder) return undefined;
  let left = MAX_NAMES;
  for await (const entry of folder) {
    const { name } = entry;
    if (left-- === 0) {
      listing.refused.push({ name: "…", reason: `more than ${MAX_NAMES} names in one folder` });
      break;
    }
    const fault = idFault(name);
    if (fault !== undefined) listing.refused.push({ name, reason: `its name: ${fault}` });
    else if (entry.isDirectory()) listing.folders.push(name);
    else if (entry.isFile()) listing.files.push(name);
    else listing.refused.push({ name, reason: entry.isSymbolicLink() ? "is a symbolic link" : "not a regular file" });
  }
  listing.files.sort();
  listing.folders.sort();
  return listing;
}

async function* linesOf(handle: FileHandle, maxLineBytes: number): AsyncGenerator<Line> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let parts: Buffer[] = [];
  let size = 0;
  let at = 1;
  const take = (part: Buffer) => {
    size += part.length;
    if (size > maxLineBytes) parts = [];
    else parts.push(Buffer.from(part));
  };
  const end = (): Line => {
    const line: Line = size > maxLineBytes ? { at, tooLong: true } : { at, text: Buffer.concat(parts).toString("utf8") };
    [parts, size, at] = [[], 0, at + 1];
    return line;
  };
  for (;;) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, null);
    if (bytesRead === 0) break;
    let from = 0;
    for (let to = chunk.indexOf(LINE_FEED, from); to !== -1 && to < bytesRead; to = chunk.indexOf(LINE_FEED, from)) {
      take(chunk.subarray(from, to));
      yield end();
      from = to + 1;
    }
    take(chunk.subarray(from, bytesRead));
  }
  if (size > 0) yield end();
}
