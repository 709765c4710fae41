import { z } from "zod";

const profiles = z.enum(["minimal", "coding", "messaging", "full"]);
const profileText = "Tools an agent starts with: status only; files, commands, sessions and memory; messages and sessions; everything";
const allowText = "Tools added to the profile: names, `*` globs, groups such as `group:fs`";
const denyText = "Tools removed; wins over `allow`";

/** `agents.*.tools`: narrows what `tools` grants. */
export const agentToolsSchema = z.strictObject({
  profile: profiles.optional().meta({ default: "full" }).describe(profileText),
  allow: z.array(z.string().min(1)).optional().meta({ default: [] }).describe(allowText),
  deny: z.array(z.string().min(1)).optional().meta({ default: [] }).describe(denyText),
});

/** `tools.*`: what every agent may use at most. */
export const toolsSchema = z
  .strictObject({
    profile: profiles.default("full").describe(profileText),
    allow: z.array(z.string().min(1)).default([]).describe(allowText),
    deny: z.array(z.string().min(1)).default([]).describe(denyText),
    sessions: z
      .strictObject({
        visibility: z
          .enum(["self", "tree", "agent", "all"])
          .default("tree")
          .describe("Sessions that session tools see: their own, those it started as well, all of the agent, or all"),
      })
      .prefault({}),
  })
  .meta({ reload: "none" });
