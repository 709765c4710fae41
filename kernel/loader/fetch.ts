import type { PluginContext } from "../../sdk/types/context.ts";

/** `fetch` of one plugin: ends with the plugin, and names it as the user agent unless the caller names another. */
export function createPluginFetch(plugin: string, signal: AbortSignal, base: typeof fetch): PluginContext["fetch"] {
  return (input, init = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has("user-agent")) headers.set("user-agent", `svc-plugin/${plugin}`);
    return base(input, { ...init, headers, signal: init.signal ? AbortSignal.any([signal, init.signal]) : signal });
  };
}
