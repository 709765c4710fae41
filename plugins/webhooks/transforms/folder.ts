import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { isInside } from "svc/sdk";

/** More files than transforms and their helpers need; each is looked at before a call. */
const MAX_FILES = 500;

/** A folder of transforms as it stands now. */
export type Folder = {
  /** Resolved. */
  dir: string;
  /** Changes with every edit below it: path, time, size and inode of each file. */
  fingerprint: string;
  /** Settings that work and deserve a look. */
  warnings: string[];
};

/**
 * Looks through the folder of transforms. Nothing in it may lead out of it: a process without rights follows links all the same.
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
      if (entry.leaves) return { problem: outsideProblem(dir, relative(real, entry.path)) };
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
  const facts = files.map((file) => [file.path, file.facts] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return { dir: real, fingerprint: JSON.stringify([real, facts]), warnings: open(folders) };
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
  kind: "file" | "folder" | "link";
  /** A link that leads to something outside. One that leads nowhere is harmless until something is there: an editor's lock, for one. */
  leaves: boolean;
  /** Everybody may write it. */
  isOpen: boolean;
  facts: string;
}

/** Undefined: it has gone meanwhile. */
async function look(path: string, dir: string): Promise<Entry | undefined> {
  const facts = await lstat(path, { bigint: true }).catch(() => undefined);
  if (!facts) return undefined;
  const isLink = facts.isSymbolicLink();
  const target = isLink ? await realpath(path).catch(() => undefined) : undefined;
  return {
    path,
    kind: isLink ? "link" : facts.isDirectory() ? "folder" : "file",
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
