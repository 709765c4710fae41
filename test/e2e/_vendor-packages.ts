import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { missingPackages, readLockedPackages, vendorStateFolder } from "../../kernel/process/vendor-packages.ts";
import { root } from "./_cli.ts";
import type { Home } from "./_process.ts";

/**
 * Gives a home the packages of bundled plugins as `svc channels add` leaves them there, in links to those of the checkout. What the checkout lacks is left
 * to the command.
 */
export async function linkVendorPackages({ stateDir }: Home, plugins: readonly string[]): Promise<void> {
  for (const id of plugins) {
    const owner = { id, root: join(root, "plugins", id) };
    const locked = await readLockedPackages(owner.root);
    if (!locked) throw new Error(`plugin "${id}" has no packages of its own`);
    if ((await missingPackages(owner, undefined)).length > 0) continue;
    const folder = vendorStateFolder(stateDir, id);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await symlink(join(owner.root, "vendor"), join(folder, locked.hash), "junction");
  }
}
