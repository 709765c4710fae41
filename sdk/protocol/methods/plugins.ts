import { z } from "zod";
import { idempotencyKey, none, pluginId } from "./fields.ts";
import { method } from "./spec.ts";

/** Plugins. */
export const pluginsMethods = {
  "plugins.list": method("read", "every plugin found, with state and reason", none),
  "plugins.inspect": method("read", "one plugin: where it comes from and what it declares", z.strictObject({ pluginId })),
  "plugins.setEnabled": method(
    "admin",
    "switches a plugin on or off in the config and in the running gateway",
    z.strictObject({ pluginId, enabled: z.boolean(), idempotencyKey: idempotencyKey.optional() }),
  ),
  "plugins.reload": method(
    "admin",
    "replaces running instances with the code on disk; looks for unknown ids as well; `installed` drops a folder that plugins.dev added",
    z.strictObject({
      plugins: z
        .array(z.strictObject({ pluginId, installed: z.boolean().optional() }))
        .min(1)
        .max(64),
    }),
  ),
  "plugins.dev": method(
    "admin",
    "adds a plugin folder for this run of the gateway, as plugins.load.paths would",
    z.strictObject({ path: z.string().min(1).max(4_096) }),
  ),
  "plugins.uiDescriptors": method("read", "panels that plugins add to the control UI", none),
} as const;
