import { lstat, mkdir, realpath, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";

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
