import type { CliContext } from "svc/sdk";
import { withLive } from "./live.ts";

export interface Activation {
  /** State of the plugin in the running gateway; undefined when none runs. */
  state?: string;
  message: string;
}

/** Has a running gateway look for the plugin, new or changed, in place of a folder that `plugins dev` runs, and says what became of it. */
export async function activate(cli: CliContext, id: string): Promise<Activation> {
  const live = await withLive(cli, async (client) => {
    await client.request("plugins.reload", { plugins: [{ pluginId: id, installed: true }] });
    return client.request("plugins.list", {});
  });
  if (!live) return { message: "it will be loaded when the gateway starts" };
  const row = live.plugins.find((p) => p.id === id && p.runtime.code !== "duplicate-id");
  if (!row) return { message: "the running gateway did not find it; see svc plugins doctor" };
  const { state, reason, hint } = row.runtime;
  return { state, message: `the running gateway says: ${state}${reason ? ` (${reason})` : ""}${hint ? `; ${hint}` : ""}` };
}
