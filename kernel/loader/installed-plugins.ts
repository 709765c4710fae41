import type { InstalledPlugins } from "../../sdk/types/installed-plugins.ts";
import { installedPluginFolder, installedPluginsRoot, readInstallIndex, writeInstallRecord } from "./install-record.ts";
import { treeIntegrity } from "./tree-integrity.ts";

/** Installed plugins of one profile, for whoever installs. */
export function installedPlugins(stateDir: string): InstalledPlugins {
  return {
    root: installedPluginsRoot(stateDir),
    folder: (id) => installedPluginFolder(stateDir, id),
    read: () => readInstallIndex(stateDir),
    write: (id, record) => writeInstallRecord(stateDir, id, record),
    integrityOf: treeIntegrity,
  };
}
