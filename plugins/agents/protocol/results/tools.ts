import { z } from "svc/sdk";
import { agentId } from "./fields.ts";

const text = z.string();
const source = z.enum(["core", "plugin"]);

const tool = z.object({
  id: text,
  label: text,
  description: text,
  source,
  pluginId: text.exactOptional(),
  optional: z.boolean().exactOptional(),
  defaultProfiles: z.array(text),
});

const group = z.object({ id: text, label: text, source, pluginId: text.exactOptional(), tools: z.array(tool) });

const invoked = z.object({
  ok: z.boolean(),
  toolName: text,
  output: z.unknown().optional(),
  source: source.exactOptional(),
  requiresApproval: z.boolean().exactOptional(),
  approvalId: text.exactOptional(),
  error: z
    .object({ code: text.describe("`not_found`, `denied`, `invalid_args`, `failed`"), message: text })
    .exactOptional()
    .describe("with `ok: false`"),
});

/** Answers about tools. */
export const toolsResults = {
  "tools.catalog": z.object({
    agentId,
    profiles: z.array(z.object({ id: z.enum(["minimal", "coding", "messaging", "full"]), label: text })),
    groups: z.array(group),
  }),
  "tools.effective": z.object({ agentId, profile: text, groups: z.array(group) }),
  "tools.invoke": invoked,
};
