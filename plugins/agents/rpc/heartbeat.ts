import { methodOf, type PluginContext } from "svc/sdk";
import type { Heartbeats } from "../heartbeat/heartbeats.ts";
import { servedMethods } from "../protocol/methods.ts";

/** `last-heartbeat`, `set-heartbeats`. */
export function registerHeartbeatMethods(ctx: PluginContext, heartbeats: Heartbeats): void {
  ctx.registerRpc({ ...methodOf(servedMethods, "last-heartbeat"), handler: () => heartbeats.last() });
  ctx.registerRpc({
    ...methodOf(servedMethods, "set-heartbeats"),
    handler: ({ enabled }) => {
      heartbeats.setEnabled(enabled);
      ctx.service("gateway@1").invalidateHealth();
      return { ok: true, enabled };
    },
  });
}
