import { definePlugin } from "svc/sdk";
import { editTool } from "./edit.ts";
import { grepTool } from "./grep.ts";
import { listTool } from "./list.ts";
import { createPlaces } from "./place.ts";
import { readTool } from "./read.ts";
import { withSkills } from "./skills/in-prompt.ts";
import { createSkills } from "./skills/skills.ts";
import { writeTool } from "./write.ts";

/** The files of an agent's workspace as tools, and its skills in the prompt. */
export default definePlugin({
  id: "tools-workspace",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const { stateDir } = ctx.service("gateway@1").info();
    const skills = createSkills(ctx, stateDir);
    const places = createPlaces(() => ctx.snapshot(), stateDir, skills);
    ctx.registerTool(readTool(places));
    ctx.registerTool(writeTool(places));
    ctx.registerTool(editTool(places));
    ctx.registerTool(listTool(places));
    ctx.registerTool(grepTool(places));
    ctx.on("prompt.build", (event) => withSkills(event, skills));
  },
});
