import type { Env } from "../../sdk/types/common.ts";
import { deepFreeze } from "../config/deep-freeze.ts";
import type { LoadedConfig } from "../config/loaded.ts";

/**
 * The variables one plugin sees: the gateway's, over them those of its config entry. One that the entry sets and that could not be resolved is unset:
 * the gateway's variable of that name is another secret, and does not take its place.
 */
export function pluginEnv(plugin: string, own: Env, gateway: { env: Env; unresolved: LoadedConfig["unresolved"] }): Env {
  const prefix = `plugins.entries.${plugin}.env.`;
  const lost = gateway.unresolved.filter(({ path }) => path.startsWith(prefix)).map(({ path }) => [path.slice(prefix.length), undefined]);
  return deepFreeze({ ...gateway.env, ...Object.fromEntries(lost), ...own });
}
