import { definePlugin } from "svc/sdk";
import { historyTool } from "./history-tool.ts";
import { listTool } from "./list-tool.ts";
import { sendTool } from "./send-tool.ts";
import { spawnTool } from "./spawn-tool.ts";
import { Spawns } from "./spawns.ts";
import { statusTool } from "./status-tool.ts";

/** The tools `session_status`, `sessions_list`, `sessions_history`, `sessions_send` and `sessions_spawn`. */
export default definePlugin({
  id: "tools-sessions",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const [store, agents] = [ctx.service("store@2"), ctx.service("agents@1")];
    const visibility = () => ctx.snapshot().tools.sessions.visibility;
    const spawns = new Spawns({ store, agents, logger: ctx.logger, signal: ctx.signal });
    ctx.registerTool(statusTool({ store, agents, clock: ctx.clock }));
    ctx.registerTool(listTool({ store, visibility }));
    ctx.registerTool(historyTool({ store, visibility }));
    ctx.registerTool(sendTool({ store, agents, visibility }));
    ctx.registerTool(spawnTool({ agents, spawns }));
    ctx.on("agent.end", (run) => spawns.runEnded(run));
    return { start: () => spawns.resume() };
  },
});
