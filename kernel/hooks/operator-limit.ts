import type { SvcConfig } from "../../sdk/config/root.ts";
import type { HookName } from "../../sdk/hooks.ts";

/** Limit in milliseconds that `plugins.entries.<id>.hooks` sets for a plugin's taps on one hook; undefined without one. */
export function operatorLimitMs(config: SvcConfig, plugin: string, hook: HookName): number | undefined {
  const own = config.plugins.entries[plugin]?.hooks;
  return own?.timeouts?.[hook] ?? own?.timeoutMs;
}
