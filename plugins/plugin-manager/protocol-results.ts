import { z } from "svc/sdk";

const text = z.string();
const plugin = { id: text, version: text };

/** Payloads of the answers; for documents, types and tests: the running plugin never loads them. */
export const pluginManagerResults = {
  "plugins.install": z.object({
    ok: z.literal(true),
    plugin: z.object({ ...plugin, name: text }),
    permissions: z
      .array(z.object({ permission: text, about: text, granted: z.boolean() }))
      .describe("what it asks for; granted is what another version of the same package had"),
    source: z.object({ kind: z.enum(["folder", "archive", "npm"]), spec: text }),
    integrity: text.describe("hash over every file"),
    replaced: text.exactOptional().describe("version that stood there before"),
    deprecated: text.exactOptional(),
  }),
  "plugins.uninstall": z.object({ ok: z.literal(true), plugin: z.object(plugin) }),
};
