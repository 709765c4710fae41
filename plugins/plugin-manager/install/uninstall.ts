import { rm, stat } from "node:fs/promises";
import { type InstallRecord, installedPluginFolder, readInstallIndex, treeIntegrity, writeInstallRecord } from "svc/sdk/internal";
import { installErrors } from "../errors.ts";
import { installLockPath } from "./install.ts";
import { type FileLock, withInstallLock } from "./lock.ts";

/** Where installed plugins stand, and how a command keeps others out. */
export interface InstalledPlugins {
  stateDir: string;
  fileLock: FileLock;
}

/**
 * Removes an installed plugin: record first, so that nothing half removed counts as installed, then its files.
 * @returns the version that was removed
 * @throws {SvcError} `plugin-not-installed`, `install-locked`
 */
export function uninstallPlugin({ stateDir, fileLock }: InstalledPlugins, id: string): Promise<string> {
  const folder = installedPluginFolder(stateDir, id);
  return withInstallLock(fileLock, installLockPath(stateDir), async () => {
    const record = await recordOf(stateDir, id);
    await writeInstallRecord(stateDir, id, undefined);
    await rm(folder, { recursive: true, force: true });
    return record.version;
  });
}

/**
 * Records the hash of what stands there now: the operator has looked at a changed plugin and wants it as it is.
 * @returns true when it had changed
 * @throws {SvcError} `plugin-not-installed`, `install-locked`
 */
export function confirmPlugin({ stateDir, fileLock }: InstalledPlugins, id: string): Promise<boolean> {
  const folder = installedPluginFolder(stateDir, id);
  return withInstallLock(fileLock, installLockPath(stateDir), async () => {
    const record = await recordOf(stateDir, id);
    if (!(await stat(folder).catch(() => undefined))?.isDirectory()) {
      throw installErrors.pluginNotRecorded({ plugin: id, hint: `its files are gone; install it again from ${record.source.spec}` });
    }
    const integrity = await treeIntegrity(folder);
    await writeInstallRecord(stateDir, id, { ...record, integrity });
    return integrity !== record.integrity;
  });
}

async function recordOf(stateDir: string, id: string): Promise<InstallRecord> {
  const record = (await readInstallIndex(stateDir)).plugins[id];
  if (!record) throw installErrors.pluginNotRecorded({ plugin: id, hint: "see svc plugins list" });
  return record;
}
