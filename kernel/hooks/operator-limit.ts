import type { SvcConfig } from "../../sdk/config/root.ts";
import type { HookName } from "../../sdk/hooks.ts";

/** What `plugins.entries.<id>.hooks` says about a plugin's taps on one hook, in milliseconds; undefined when it says nothing. */
export function operatorLimitMs(config: SvcConfig, plugin: string, hook: HookName): number | undefined {
  const own = config.plugins.entries[plugin]?.hooks;
  return own?.timeouts?.[hook] ?? own?.timeoutMs;
}
