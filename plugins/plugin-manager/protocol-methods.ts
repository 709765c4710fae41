import { methodSpec, z } from "svc/sdk";

const idempotencyKey = z.string().min(1).max(256);

/** Methods of the protocol that this plugin serves. */
export const pluginManagerMethods = {
  "plugins.install": methodSpec(
    "admin",
    "brings a plugin into the state directory, switched off and with no new permission: no code of it is run; `plugins.progress` tells the asking connection what takes its time",
    z.strictObject({
      source: z
        .string()
        .min(1)
        .max(4_096)
        .describe("absolute path of a folder or a `.tgz` on the gateway's machine, or `npm:<name>[@<version>]`"),
      replaceBundled: z.boolean().optional().describe("a plugin that comes with svc may be replaced"),
      idempotencyKey: idempotencyKey.optional(),
    }),
  ),
  "plugins.uninstall": methodSpec(
    "admin",
    "removes an installed plugin, its record and its config entry; its own data stays",
    z.strictObject({
      pluginId: z.string().min(1).max(64),
      keepConfig: z.boolean().optional().describe("the entry stays, switched off"),
      idempotencyKey: idempotencyKey.optional(),
    }),
  ),
} as const;
