import { type PluginProtocol, z } from "svc/sdk";

/** Events about an installation. */
export const pluginManagerEvents = {
  "plugins.progress": {
    scope: "admin",
    droppable: true,
    about: "what an installation that this connection has begun is doing",
    payload: z.object({ source: z.string(), text: z.string() }),
  },
} as const satisfies NonNullable<PluginProtocol["events"]>;
