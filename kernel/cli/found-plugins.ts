import { dirname, join } from "node:path";
import { resolveAgents } from "../../sdk/agents.ts";
import type { Env } from "../../sdk/types/common.ts";
import type { PluginCandidate } from "../../sdk/types/plugin-candidate.ts";
import type { LoadedConfig } from "../config/loaded.ts";
import { rootSchema } from "../config/root-schema.ts";
import { kernelErrors } from "../errors.ts";
import { discoverPlugins } from "../loader/discovery.ts";
import { checkPluginModule } from "../loader/plugin-module.ts";
import type { ProfilePaths } from "../process/paths.ts";

/** Runs discovery for a profile, even while its config is not valid. */
export function findPlugins(paths: ProfilePaths, loaded: LoadedConfig): Promise<PluginCandidate[]> {
  const config = loaded.config ?? rootSchema.parse({});
  const agents = resolveAgents(config, paths.stateDir);
  const workspace = agents.find((a) => a.isDefault)?.workspace ?? join(paths.stateDir, "workspace");
  return discoverPlugins({ config, stateDir: paths.stateDir, configDir: dirname(paths.configPath), workspace });
}

/**
 * Imports a module of a plugin that is not part of the product, if that plugin may load.
 * @throws {SvcError} `plugin-not-loadable`
 */
export async function importFound(plugin: string, module: string, { paths, env }: { paths: ProfilePaths; env: Env }): Promise<unknown> {
  const [{ loadConfig }, { importModule }] = await Promise.all([import("../config/load.ts"), import("../loader/import.ts")]);
  const found = await findPlugins(paths, await loadConfig(paths.configPath, { env, secrets: "none" }));
  const checked = await checkPluginModule(
    found.filter((c) => c.id === plugin),
    module,
  );
  if ("problem" in checked)
    throw kernelErrors.pluginNotLoadable({ path: plugin, reason: `${checked.problem.code}: ${checked.problem.reason}` });
  return importModule(checked.file, paths.stateDir);
}
