import { z } from "zod";

/** Sets of tools that an agent starts with. */
export const toolProfiles = z.enum(["minimal", "coding", "messaging", "full"]);
/** Descriptions of the keys that `tools` and `agents.*.tools` have in common. */
export const toolTexts = {
  profile: "Tools an agent starts with: status only; files, commands, sessions and memory; messages and sessions; everything",
  allow: "Tools added to the profile: names, `*` globs, groups such as `group:fs`",
  deny: "Tools removed; wins over `allow`",
};

/** `agents.*.tools`: narrows what `tools` grants. */
export const agentToolsSchema = z.strictObject({
  profile: toolProfiles.optional().meta({ default: "full" }).describe(toolTexts.profile),
  allow: z.array(z.string().min(1)).optional().meta({ default: [] }).describe(toolTexts.allow),
  deny: z.array(z.string().min(1)).optional().meta({ default: [] }).describe(toolTexts.deny),
});
