import type { CliContext } from "svc/sdk";
import { type LivePlugins, withLive } from "./live.ts";

export interface Activation {
  /** Of the plugin in the running gateway; undefined when none runs. */
  state?: string;
  message: string;
}

/** What became of an installed plugin: a running gateway has seen its config entry; new files under the same entry need a reload of that plugin. */
export async function activate(cli: CliContext, id: string, { replaced }: { replaced: boolean }): Promise<Activation> {
  const live = await withLive(cli, async (client) => {
    if (replaced) await client.request("plugins.reload", { plugins: [{ pluginId: id }] });
    return client.request<LivePlugins>("plugins.list", {});
  });
  if (!live) return { message: "it will be loaded when the gateway starts" };
  const row = live.plugins.find((p) => p.id === id && p.runtime.code !== "duplicate-id");
  if (!row) return { message: "restart the gateway to load it: svc gateway restart" };
  const { state, reason, hint } = row.runtime;
  return { state, message: `the running gateway says: ${state}${reason ? ` (${reason})` : ""}${hint ? `; ${hint}` : ""}` };
}
