import { z } from "zod";
import { count, durationMs, epochMs } from "../results/fields.ts";
import { health } from "../results/health.ts";
import { presenceEntry } from "../results/presence.ts";

/** Events of the gateway itself. */
export const gatewayPayloads = {
  "connect.challenge": z.object({
    nonce: z.uuid().describe("fresh for this socket; a device signs it"),
    ts: epochMs.describe("clock of the gateway; a device signs with it"),
  }),
  tick: z.object({ ts: epochMs }),
  shutdown: z.object({
    reason: z.string(),
    restartExpectedMs: durationMs.exactOptional().describe("only when the gateway will come back"),
  }),
  health,
  presence: z.object({ presence: z.array(presenceEntry) }),
  "config.changed": z.object({ path: z.string(), hash: z.string(), ts: epochMs }),
  "plugins.changed": z.object({
    generation: count,
    pluginId: z.string().exactOptional(),
    state: z.string().exactOptional().describe("of that plugin, as in `runtime.state` of `plugins.list`"),
  }),
};
