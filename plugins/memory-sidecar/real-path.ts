import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";

/** Entries of one folder that are compared with a name. */
const MAX_ENTRIES = 20_000;

/**
 * Finds the file that the engine means: it stores paths with blanks and signs replaced by dashes, some releases in lower case. Looks at one folder for each
 * part of the path, and follows no link.
 * @returns its path below the root with `/`, or the one given where no file fits
 */
export async function realRelativePath(root: string, path: string): Promise<string> {
  if (await isThere(join(root, path))) return path;
  const parts = path.split("/");
  const found: string[] = [];
  for (const part of parts) {
    const folder = join(root, ...found);
    const name = (await isThere(join(folder, part))) ? part : await similarName(folder, part);
    if (name === undefined) return path;
    found.push(name);
  }
  return found.join("/");
}

async function similarName(folder: string, name: string): Promise<string | undefined> {
  const wanted = looseName(name);
  try {
    let seen = 0;
    for await (const entry of await opendir(folder)) {
      if (++seen > MAX_ENTRIES) return undefined;
      if (looseName(entry.name) === wanted && !entry.isSymbolicLink()) return entry.name;
    }
    return undefined;
  } catch {
    return undefined; // gone meanwhile
  }
}

/** Letters and digits of a name; its extension counts. Pure. */
export function looseName(name: string): string {
  return name
    .normalize("NFC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-/, "");
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
