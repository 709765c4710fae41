import { constants } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, stat, symlink } from "node:fs/promises";
import { basename, dirname, extname, join, relative } from "node:path";

/** Larger trees are not walked to the end; they count as changed at each reload. */
const MAX_FILES = 5_000;
const MAX_DEPTH = 16;

/** State of a plugin's files at one moment. */
export interface CodePrint {
  /** Differs when a file of the plugin's own differs; `""` for a tree that is too large to compare. */
  own: string;
  /** Differs when packages were installed or removed. */
  packages: string;
  /**
   * Some modules are kept by Node for good, so that only a copy in another folder is new: `.mjs`, `.js` of an ES module package, and `.cjs`
   * (forgetting it in `require.cache` is not enough where it was reached by `import`, tried on Node 20.20). The others are transpiled anew each time.
   */
  native: boolean;
}

/** Reads the print of a plugin folder, without `node_modules` and dot folders; of one file when it has no folder of its own. */
export async function readCodePrint(root: string, onlyFile?: string): Promise<CodePrint> {
  const { files, packageFolders } = onlyFile === undefined ? await listTree(root) : { files: [onlyFile], packageFolders: [] };
  const native = (await Promise.all(files.map((file) => isNative(file, root)))).includes(true);
  if (files.length > MAX_FILES) return { own: "", packages: "", native };
  const own = await Promise.all(files.map(async (file) => `${relative(root, file)}:${await stampOf(file)}`));
  const marks = packageFolders.flatMap((folder) => [folder, join(folder, ".package-lock.json")]);
  const packages = await Promise.all(marks.map(async (file) => `${relative(root, file)}:${await stampOf(file)}`));
  return { own: own.join("\n"), packages: packages.join("\n"), native };
}

const generations = new Map<string, number>();

/** A folder for a copy of a plugin. None is named twice in one process: Node keeps native modules by path, also of a copy that never ran. */
export function nextGenerationFolder(stateDir: string, id: string): string {
  const next = (generations.get(id) ?? 0) + 1;
  generations.set(id, next);
  return join(stateDir, "cache", "gen", id, String(next));
}

/**
 * Copies a plugin folder. `link`: each `node_modules` in it stays where it is and is linked, so that only the plugin's own modules are read anew.
 * `copy`: all of it, links as they are, so that the copy has the same `treeIntegrity` and needs nothing of the original.
 * @returns the folder of the copy; whoever made it removes it with `removeGeneration`
 */
export async function copyGeneration(root: string, target: string, packages: "link" | "copy"): Promise<string> {
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true, mode: 0o700 });
  const linked: string[] = [];
  const filter = (source: string) => {
    if (packages === "copy" || source === root || basename(source) !== "node_modules") return true;
    linked.push(relative(root, source));
    return false;
  };
  try {
    await cp(root, target, { recursive: true, verbatimSymlinks: packages === "copy", mode: constants.COPYFILE_FICLONE, filter });
    for (const below of linked) await symlink(join(root, below), join(target, below), "junction");
  } catch (error) {
    await removeGeneration(target);
    throw error;
  }
  return target;
}

export async function removeGeneration(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

async function listTree(root: string): Promise<{ files: string[]; packageFolders: string[] }> {
  const files: string[] = [];
  const packageFolders: string[] = [];
  const walk = async (folder: string, depth: number): Promise<void> => {
    if (depth > MAX_DEPTH || files.length > MAX_FILES) return;
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      if (entry.name.startsWith(".")) continue;
      const path = join(folder, entry.name);
      if (entry.name === "node_modules") packageFolders.push(path);
      else if (entry.isDirectory()) await walk(path, depth + 1);
      else files.push(path);
    }
  };
  await walk(root, 0);
  return { files: files.sort(), packageFolders: packageFolders.sort() };
}

async function isNative(file: string, root: string): Promise<boolean> {
  const extension = extname(file);
  if (extension === ".cjs" || extension === ".mjs") return true;
  return extension === ".js" && (await packageType(dirname(file), root)) === "module";
}

/** `type` of the nearest package.json, looked for up to the plugin's root. */
async function packageType(folder: string, root: string): Promise<string | undefined> {
  try {
    return (JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as { type?: string }).type;
  } catch {
    // none here, or none that can be read: the one above decides, as for Node
  }
  return folder === root || !folder.startsWith(root) ? undefined : packageType(dirname(folder), root);
}

/** Change time too: it cannot be set back, so bytes that changed within the same millisecond are not missed. */
async function stampOf(file: string): Promise<string> {
  try {
    const { size, mtimeNs, ctimeNs, ino } = await stat(file, { bigint: true });
    return `${size}:${mtimeNs}:${ctimeNs}:${ino}`;
  } catch {
    return "-";
  }
}
