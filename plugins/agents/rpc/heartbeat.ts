import type { PluginContext } from "svc/sdk";
import { protocolMethod } from "svc/sdk/internal";
import type { Heartbeats } from "../heartbeat/heartbeats.ts";

/** `last-heartbeat`, `set-heartbeats`. */
export function registerHeartbeatMethods(ctx: PluginContext, heartbeats: Heartbeats): void {
  ctx.registerRpc({ ...protocolMethod("last-heartbeat"), handler: () => heartbeats.last() });
  ctx.registerRpc({
    ...protocolMethod("set-heartbeats"),
    handler: ({ enabled }) => {
      heartbeats.setEnabled(enabled);
      ctx.service("gateway@1").invalidateHealth();
      return { ok: true, enabled };
    },
  });
}
