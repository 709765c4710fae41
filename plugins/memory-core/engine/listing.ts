import { lstatSync, realpathSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { curatedNames, type ListingOptions, takenNames } from "./memory-paths.ts";
import type { Pacer } from "./pacer.ts";
import { identityOf, keyOf, type Listing, MAX_FILES, Walk } from "./walk.ts";

/** Lists what belongs to an agent's memory: no symlinks, each real file once, nothing fatal. */
export async function listMemory(roots: ListingOptions, pacer: Pacer): Promise<Listing> {
  const walk = new Walk(roots.workspace, takenNames(roots));
  walk.watchNearest(roots.workspace);
  for (const name of curatedNames) walk.addFile(join(roots.workspace, name), undefined);
  await walk.addTree(join(roots.workspace, "memory"), pacer);
  for (const path of roots.extraPaths) await walk.addExtra(path, pacer);
  return walk.listing;
}

/** Remainder of a listing that is kept for checks of single paths. */
export type KnownTree = Pick<Listing, "tree"> & { count: number };

/** Files that may have changed, as the listing would have them now. */
export interface ChangedListing extends Pick<Listing, "files" | "problems"> {
  /** Identities that were looked at; those not among `files` are gone or do not belong to the memory. */
  paths: string[];
}

/**
 * Looks at single files as `listMemory` would. Undefined where that takes the whole listing: a directory, another directory in the place of one, a file with
 * two names.
 */
export function listChanged(changed: readonly string[], { tree, count }: KnownTree, roots: ListingOptions): ChangedListing | undefined {
  if (count + changed.length > MAX_FILES) return undefined;
  const isTaken = takenNames(roots);
  const lone = loneFiles(roots, tree);
  const loneReal = new Set([...lone].map(realOf));
  const walk = new Walk(roots.workspace, isTaken);
  const paths: string[] = [];
  for (const path of new Set(changed)) {
    const folder = tree.get(dirname(path));
    if ((!folder && !lone.has(path)) || !isTaken(path)) continue;
    const real = folder ? realIn(folder, path) : realOfLone(path, tree);
    const isDirectory = tree.has(path) || statOf(path)?.isDirectory();
    if (real === undefined || isDirectory || (folder && loneReal.has(real))) return undefined;
    const before = walk.listing.files.length;
    walk.addFile(path, undefined);
    const file = walk.listing.files[before];
    if (file && file.real !== real) return undefined; // the file system does not tell upper case from lower
    paths.push(identityOf(roots.workspace, path));
  }
  const { files, problems } = walk.listing;
  return { files, problems, paths };
}

/** Files that are named one by one, where no directory brings them. */
function loneFiles({ workspace, extraPaths }: ListingOptions, tree: Listing["tree"]): Set<string> {
  const named = [...curatedNames.map((name) => join(workspace, name)), ...extraPaths];
  return new Set(named.filter((path) => !tree.has(dirname(path))));
}

/** The real path of a file in a directory that is still the one that was read. */
function realIn({ real, key }: { real: string; key: string }, path: string): string | undefined {
  const parent = dirname(path);
  const stats = statOf(parent);
  if (!stats?.isDirectory() || keyOf(stats) !== key || realOf(parent) !== real) return undefined;
  return join(real, path.slice(parent.length + 1));
}

/** The path itself, unless a symlink is on the way or a directory brings the file under another name. */
function realOfLone(path: string, tree: Listing["tree"]): string | undefined {
  const parent = dirname(path);
  if (realOf(parent) !== parent) return undefined;
  for (const { real } of tree.values()) if (real === parent) return undefined;
  return path;
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // the walk tells what is wrong with it
  }
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
