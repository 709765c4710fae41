import type { InstalledPlugins } from "./installed-plugins.ts";
import type { PluginCandidate } from "./plugin-candidate.ts";
import type { PluginReload } from "./plugin-record.ts";

/** Service `plugins@1`, provided by the kernel: what installing needs, for plugins with the permission `rpc.admin`. */
export interface PluginsService {
  readonly installed: InstalledPlugins;
  /** A folder as `plugins.load.paths` would find it: manifest, API version, trust gates. No code of it is run. */
  inspect(folder: string): Promise<PluginCandidate>;
  /** True for an id that comes with svc. */
  isBundled(id: string): boolean;
  /** Has the gateway look at what stands on disk now, in place of a folder that `plugins.dev` added; a plugin that its config switches off is listed and not loaded. */
  takeUp(id: string): Promise<PluginReload>;
  /** As that of a command: a lock whose owner is dead is taken over after `staleAfterMs`. @throws what `busy` makes */
  withFileLock<T>(
    lock: string,
    work: () => Promise<T>,
    options: { waitMs: number; staleAfterMs: number; busy(owner: { pid: number } | undefined): Error },
  ): Promise<T>;
}
