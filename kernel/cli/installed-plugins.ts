import type { InstalledPlugins, VendorPackages } from "../../sdk/types/installed-plugins.ts";
import { installedPluginFolder, installedPluginsRoot, readInstallIndex, writeInstallRecord } from "../loader/install-record.ts";
import { treeIntegrity } from "../loader/tree-integrity.ts";
import { createPluginVendor } from "../process/plugin-vendor.ts";
import { missingPackages, readLockedPackages, vendorCommand, vendorStateFolder } from "../process/vendor-packages.ts";

/** Installed plugins of the profile of a command. */
export function installedPlugins(stateDir: string): InstalledPlugins {
  return {
    root: installedPluginsRoot(stateDir),
    folder: (id) => installedPluginFolder(stateDir, id),
    read: () => readInstallIndex(stateDir),
    write: (id, record) => writeInstallRecord(stateDir, id, record),
    integrityOf: treeIntegrity,
  };
}

/** Packages of plugins, in their own folders and in the state directory of the profile. */
export function vendorPackages(stateDir: string): VendorPackages {
  return {
    locked: readLockedPackages,
    missing: (owner, { isOwnOnly = false } = {}) => missingPackages(owner, isOwnOnly ? undefined : stateDir),
    folder: (id) => vendorStateFolder(stateDir, id),
    of: (owner) => createPluginVendor({ ...owner, stateDir }),
    command: vendorCommand,
  };
}
