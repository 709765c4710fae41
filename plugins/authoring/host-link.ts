import { lstat, mkdir, readFile, realpath, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isRecord, type JsonObject, messageOf } from "svc/sdk";
import { errors } from "./errors.ts";

/**
 * Links `node_modules/svc` of a plugin folder to the product that runs this command, so that its editor, its type check and its tests see the very SDK
 * it will run with, without a network. A real installation that is already there stays.
 * @returns whether a link stands there now
 */
export async function linkHost(folder: string, packageRoot: string): Promise<boolean> {
  const link = join(folder, "node_modules", "svc");
  const found = await lstat(link).catch(() => undefined);
  if (found && !found.isSymbolicLink()) return false;
  if (found && (await realpath(link).catch(() => undefined)) === (await realpath(packageRoot))) return true;
  await rm(link, { force: true });
  await mkdir(dirname(link), { recursive: true });
  await symlink(packageRoot, link, "junction");
  return true;
}

/** The folder of an installation as it stands behind `file:` in a `package.json`. */
export function hostFolder(packageRoot: string): string {
  return packageRoot.replaceAll("\\", "/").replace(/(?<!\/)\/+$/, "");
}

/**
 * The text of a folder's `package.json` with `svc` as a `file:` dependency on an installation, which `npm install` keeps. Where it is listed already it stays in
 * its section; otherwise a plugin gets it for development, and a program for its run. Undefined when nothing is to be changed.
 * @param path of the file; one that is not there counts as an empty private package of ES modules
 * @throws {SvcError} `package-unreadable`
 */
export async function withHostDependency(
  path: string,
  { packageRoot, isPlugin }: { packageRoot: string; isPlugin: boolean },
): Promise<string | undefined> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  const manifest: JsonObject = text === undefined ? { private: true, type: "module" } : parsePackage(path, text);
  const sections = ["dependencies", "devDependencies"] as const;
  const listed = (section: string) => (isRecord(manifest[section]) ? manifest[section] : {});
  const section = sections.find((name) => "svc" in listed(name)) ?? (isPlugin ? "devDependencies" : "dependencies");
  const wanted = `file:${hostFolder(packageRoot)}`;
  if (listed(section).svc === wanted) return undefined;
  return `${JSON.stringify({ ...manifest, [section]: { ...listed(section), svc: wanted } }, null, 2)}\n`;
}

function parsePackage(path: string, text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw errors.packageUnreadable({ path, reason: messageOf(error) }, { cause: error });
  }
  if (isRecord(value)) return value;
  throw errors.packageUnreadable({ path, reason: "it holds no object" });
}
