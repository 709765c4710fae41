import type { VendorPackages } from "../../sdk/types/installed-plugins.ts";
import { createPluginVendor } from "../process/plugin-vendor.ts";
import { missingPackages, readLockedPackages, vendorCommand, vendorStateFolder } from "../process/vendor-packages.ts";

export { installedPlugins } from "../loader/installed-plugins.ts";

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
