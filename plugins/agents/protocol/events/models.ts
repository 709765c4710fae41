import { type PluginProtocol, z } from "svc/sdk";
import { epochMs } from "../results/fields.ts";

/** Events about language models. */
export const modelsEvents = {
  "models.changed": {
    scope: "read",
    droppable: true,
    about: "providers came, went, began or ended a rest, or agents are answered by other models: read `models.status` again",
    payload: z.object({ ts: epochMs }),
  },
} as const satisfies NonNullable<PluginProtocol["events"]>;
