import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { isInside } from "svc/sdk/internal";

/** More files than transforms and their helpers need; each is looked at before a call. */
const MAX_FILES = 500;

/** A folder of transforms as it stands now. */
export type Folder = {
  /** Resolved. */
  dir: string;
  /** Changes with every edit below it: path, time, size and inode of each file. */
  fingerprint: string;
  /**
   * Absolute paths that a process without rights may read: the folder as a whole, or, when a link in it leads out, the rest of it piece by piece. Node's
   * permission model goes by the path that is asked for and follows links, so a readable folder must hold no such link.
   */
  readable: string[];
  /** Settings that work and deserve a look. */
  warnings: string[];
};

/**
 * Looks through the folder of transforms. Links that lead out of it are left out of what may be read; whoever uses one of them is refused.
 * @param options.dir the folder of the config, absolute
 * @param options.root folder that it must be, or lie in
 * @returns the folder, or why nothing of it may be loaded
 */
export async function readFolder({ dir, root }: { dir: string; root: string }): Promise<Folder | { problem: string }> {
  const outer = await nearestReal(root);
  const real = await nearestReal(dir);
  if (real !== outer && !isInside(outer, real)) return { problem: `hooks.transformsDir must be within ${root}: ${dir}` };
  const files: Entry[] = [];
  const folders: Array<Pick<Entry, "path" | "isOpen">> = [{ path: real, isOpen: await isOpenToAll(real) }];
  for (const folder of folders) {
    for (const entry of await entriesOf(folder.path, real)) {
      if (entry.kind === "folder") folders.push(entry);
      else files.push(entry);
      if (files.length > MAX_FILES || folders.length > MAX_FILES) {
        return { problem: `${dir} holds more than ${MAX_FILES} files; keep only transforms and their helpers there` };
      }
    }
  }
  const open = (entries: ReadonlyArray<Pick<Entry, "path" | "isOpen">>) =>
    entries.filter(({ isOpen }) => isOpen).map(({ path }) => openProblem(join(dir, relative(real, path))));
  const [problem] = open(files);
  if (problem !== undefined) return { problem };
  const facts = files.map((file) => [file.path, file.facts, file.leaves] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  const leaving = files.filter(({ leaves }) => leaves).map(({ path }) => leavingWarning(dir, relative(real, path)));
  return {
    dir: real,
    fingerprint: JSON.stringify([real, facts]),
    readable: readableOf(folders, files),
    warnings: [...open(folders), ...leaving],
  };
}

/** Whole folders without a link that leads out, and single files of the others. A link to a folder is never among them: what is in there may lead out. */
function readableOf(folders: ReadonlyArray<{ path: string }>, files: readonly Entry[]): string[] {
  const leaving = files.filter(({ leaves }) => leaves);
  const isClean = (folder: string) => !leaving.some(({ path }) => isInside(folder, path));
  const readable: string[] = [];
  // Parents stand before what they hold.
  for (const { path } of folders) {
    if (isClean(path) && !readable.some((outer) => isInside(outer, path))) readable.push(path);
  }
  const single = files.filter(
    ({ path, leaves, kind }) => !leaves && kind !== "folder-link" && !readable.some((outer) => isInside(outer, path)),
  );
  return [...readable, ...single.map(({ path }) => path)];
}

function leavingWarning(dir: string, link: string): string {
  return `${join(dir, link)} is a link that leads out of ${dir}; it is left out, and a transform that needs it fails`;
}

function openProblem(path: string): string {
  return `${path} can be written by everybody; run: chmod o-w ${path}`;
}

/** Cut where a folder alone holds too many. */
async function entriesOf(folder: string, dir: string): Promise<Entry[]> {
  const names = await readdir(folder).catch(() => [] as string[]);
  const entries = await Promise.all(names.slice(0, MAX_FILES + 1).map((name) => look(join(folder, name), dir)));
  return entries.filter((entry) => entry !== undefined);
}

/** The text is fixed: scripts of operators look for it. */
export function outsideProblem(dir: string, module: string): string {
  return `hook transform module path must be within ${dir}: ${module}`;
}

interface Entry {
  path: string;
  kind: "file" | "folder" | "link" | "folder-link";
  /** A link that leads to something outside. One that leads nowhere is harmless until something is there: an editor's lock, for one. */
  leaves: boolean;
  /** True when everyone may write it. */
  isOpen: boolean;
  facts: string;
}

/** Undefined: it has gone meanwhile. */
async function look(path: string, dir: string): Promise<Entry | undefined> {
  const facts = await lstat(path, { bigint: true }).catch(() => undefined);
  if (!facts) return undefined;
  const isLink = facts.isSymbolicLink();
  const target = isLink ? await realpath(path).catch(() => undefined) : undefined;
  const isFolderLink = target !== undefined && (await stat(target).catch(() => undefined))?.isDirectory() === true;
  return {
    path,
    kind: isFolderLink ? "folder-link" : isLink ? "link" : facts.isDirectory() ? "folder" : "file",
    leaves: target !== undefined && target !== dir && !isInside(dir, target),
    isOpen: !isLink && isWritableByAll(Number(facts.mode)),
    facts: `${facts.mtimeNs} ${facts.size} ${facts.ino}`,
  };
}

async function isOpenToAll(path: string): Promise<boolean> {
  const facts = await stat(path).catch(() => undefined);
  return facts !== undefined && isWritableByAll(facts.mode);
}

/** On Windows these bits say nothing. */
export function isWritableByAll(mode: number): boolean {
  return process.platform !== "win32" && (mode & 0o002) !== 0;
}

/** A path with its links resolved as far as it exists. */
export async function nearestReal(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined || dirname(path) === path) return real ?? path;
  return join(await nearestReal(dirname(path)), relative(dirname(path), path));
}
