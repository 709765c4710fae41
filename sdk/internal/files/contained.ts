import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { type FileHandle, mkdir } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";
import { isSvcError } from "../../errors.ts";
import { writeFileAtomic } from "../../files.ts";
import { printableLine } from "../../text/printable.ts";
import { sharedErrors } from "../errors.ts";
import { KeyedMutex } from "../keyed-mutex.ts";
import { type HeldFolder, holdFolder } from "./held-folder.ts";
import { isInside } from "./inside.ts";
import { openRegular } from "./open-regular.ts";

/** Larger files are not changed. */
const MAX_CHANGED_BYTES = 4 * 1024 * 1024;
const MAX_PARTS = 64;
const MAX_PART_BYTES = 200;
const MAX_SHOWN_CHARS = 200;

/** Writers of one workspace, whichever plugin they belong to. Keys are the folders as the agents' settings name them. */
const writers = new KeyedMutex();

/** Runs tasks that change files of one workspace, one at a time. */
export function inWorkspace<T>(workspace: string, task: () => Promise<T>): Promise<T> {
  return writers.run(workspace, task);
}

/**
 * The parts of a path below a folder. An absolute path counts where it begins with the folder.
 * @throws {SvcError} `unsafe-file` for a path that leads out of the folder, by its form alone
 */
export function partsBelow(root: string, path: string): string[] {
  const refuse = (reason: string) => sharedErrors.unsafeFile({ path: shownPath(path), reason });
  if (path.includes("\0")) throw refuse("has a NUL character");
  const way = isAbsolute(path) ? wayBelow(root, path) : path;
  if (way === undefined) throw refuse("leads out of the workspace; expected a path below it, such as notes/today.md");
  const parts = (sep === "\\" ? way.replaceAll("\\", "/") : way).split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw refuse("has the part `..`; expected a path below the workspace, such as notes/today.md");
  if (sep === "\\" && parts.some((part) => part.includes(":"))) throw refuse("has a colon in a name");
  if (parts.length > MAX_PARTS) throw refuse(`has ${parts.length} parts; expected at most ${MAX_PARTS}`);
  if (parts.some((part) => Buffer.byteLength(part) > MAX_PART_BYTES)) throw refuse(`has a name of more than ${MAX_PART_BYTES} bytes`);
  return parts;
}

function wayBelow(root: string, path: string): string | undefined {
  for (const folder of [root, realOf(root)]) {
    if (path === folder) return ".";
    if (isInside(folder, path)) return relative(folder, path);
  }
  return undefined;
}

function realOf(root: string): string {
  try {
    return realpathSync(root);
  } catch {
    return root;
  }
}

/**
 * Opens a regular file below a root: no link on the way or at the end, no FIFO, device or folder, and no race that leads outside.
 * @throws {SvcError} `unsafe-file` with the reason, also when there is no such file
 */
export async function openContained(
  root: string,
  parts: readonly string[],
  options: { maxBytes?: number; oneName?: boolean } = {},
): Promise<FileHandle> {
  return explained(parts, async () => {
    const { folder, name } = await holdParent(root, parts);
    try {
      return await openRegular(folder.pathOf(name), { root: folder.root, ...options });
    } finally {
      await folder.close();
    }
  });
}

/** Holds a folder below a root while `work` runs. @throws {SvcError} `unsafe-file` with the reason */
export async function inFolder<T>(root: string, parts: readonly string[], work: (folder: HeldFolder) => Promise<T>): Promise<T> {
  return explained(parts, async () => {
    const folder = await holdFolder(root, parts);
    try {
      return await work(folder);
    } finally {
      await folder.close();
    }
  });
}

/** A file as it was found. */
export interface FoundFile {
  bytes: Buffer;
  /** SHA-256, hex. */
  hash: string;
}

/**
 * Replaces a file below a root as a whole, or makes it with the folders on the way. Writers of one workspace take turns, and a file that somebody else changes meanwhile is left as it is.
 * @param change the new bytes; what it throws is passed on
 * @returns the SHA-256 of the new bytes, hex
 * @throws {SvcError} `unsafe-file` with the reason: a link, a second hard link, no regular file, larger than 4 MiB, changed meanwhile
 */
export async function replaceContained(
  root: string,
  parts: readonly string[],
  change: (before: FoundFile | undefined) => Uint8Array | string,
): Promise<string> {
  return inWorkspace(root, () =>
    explained(parts, async () => {
      await mkdir(root, { recursive: true, mode: 0o700 });
      const { folder, name } = await holdParent(root, parts, { make: true });
      try {
        const before = await readIn(folder, name);
        const content = change(before);
        const options = {
          mode: before?.mode ?? 0o600,
          async beforeRename() {
            if ((await readIn(folder, name))?.hash !== before?.hash) throw refusal(parts, "was changed meanwhile; read it again");
          },
        };
        await writeFileAtomic(folder.pathOf(name), content, options);
        return hashOf(content);
      } finally {
        await folder.close();
      }
    }),
  );
}

/** A path for messages: one line, never longer than fits in one. */
export function shownPath(path: string): string {
  return printableLine(path).slice(0, MAX_SHOWN_CHARS);
}

async function holdParent(
  root: string,
  parts: readonly string[],
  options: { make?: boolean } = {},
): Promise<{ folder: HeldFolder; name: string }> {
  const name = parts.at(-1);
  if (name === undefined) throw refusal(parts, "is the workspace itself; expected a file in it");
  return { folder: await holdFolder(root, parts.slice(0, -1), options), name };
}

async function readIn(folder: HeldFolder, name: string): Promise<(FoundFile & { mode: number }) | undefined> {
  const file = await openRegular(folder.pathOf(name), { root: folder.root, maxBytes: MAX_CHANGED_BYTES, write: true }).catch(unlessMissing);
  if (!file) return undefined;
  try {
    const { mode } = await file.stat();
    const bytes = await file.readFile();
    return { bytes, hash: hashOf(bytes), mode: mode & 0o777 };
  } finally {
    await file.close();
  }
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

function hashOf(content: Uint8Array | string): string {
  return createHash("sha256").update(content).digest("hex");
}

/** Errors name the path as the caller knows it, not the way it was reached by. */
async function explained<T>(parts: readonly string[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isSvcError(error, "unsafe-file")) throw refusal(parts, String(error.fields.reason), error);
    const reason = reasons[(error as NodeJS.ErrnoException).code ?? ""];
    throw reason === undefined ? error : refusal(parts, reason, error);
  }
}

const reasons: Record<string, string | undefined> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "leads through a link or a file; expected folders only",
  ELOOP: "leads through a symbolic link; links are not followed",
  EISDIR: "is a folder",
  EEXIST: "is there already",
  EACCES: "may not be opened",
  EPERM: "may not be changed",
  EROFS: "stands on a file system that cannot be written",
  ENOSPC: "there is no room left on the disk",
  EDQUOT: "the disk quota is used up",
  EMFILE: "too many files are open; try again",
  ENAMETOOLONG: "has too long a name",
};

function refusal(parts: readonly string[], reason: string, cause?: unknown) {
  return sharedErrors.unsafeFile({ path: shownPath(parts.join("/")) || ".", reason }, cause === undefined ? undefined : { cause });
}
