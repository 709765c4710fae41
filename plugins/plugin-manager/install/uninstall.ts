import { rm, stat } from "node:fs/promises";
import type { InstalledPlugins, InstallRecord } from "svc/sdk";
import { installErrors } from "../errors.ts";
import { installLockPath } from "./install.ts";
import { type FileLock, withInstallLock } from "./lock.ts";

/** Installed plugins, and the lock by which a command keeps others out. */
export interface UninstallHost {
  installed: InstalledPlugins;
  fileLock: FileLock;
}

/**
 * Removes an installed plugin: record first, so that nothing half removed counts as installed, then its files.
 * @returns the version that was removed
 * @throws {SvcError} `plugin-not-installed`, `install-locked`
 */
export function uninstallPlugin({ installed, fileLock }: UninstallHost, id: string): Promise<string> {
  const folder = installed.folder(id);
  return withInstallLock(fileLock, installLockPath(installed), async () => {
    const record = await recordOf(installed, id);
    await installed.write(id, undefined);
    await rm(folder, { recursive: true, force: true });
    return record.version;
  });
}

/**
 * Records the hash of what stands there now: the operator has looked at a changed plugin and wants it as it is.
 * @returns true when it had changed
 * @throws {SvcError} `plugin-not-installed`, `install-locked`
 */
export function confirmPlugin({ installed, fileLock }: UninstallHost, id: string): Promise<boolean> {
  const folder = installed.folder(id);
  return withInstallLock(fileLock, installLockPath(installed), async () => {
    const record = await recordOf(installed, id);
    if (!(await stat(folder).catch(() => undefined))?.isDirectory()) {
      throw installErrors.pluginNotRecorded({ plugin: id, hint: `its files are gone; install it again from ${record.source.spec}` });
    }
    const integrity = await installed.integrityOf(folder);
    await installed.write(id, { ...record, integrity });
    return integrity !== record.integrity;
  });
}

async function recordOf(installed: InstalledPlugins, id: string): Promise<InstallRecord> {
  const record = (await installed.read()).plugins[id];
  if (!record) throw installErrors.pluginNotRecorded({ plugin: id, hint: "see svc plugins list" });
  return record;
}
