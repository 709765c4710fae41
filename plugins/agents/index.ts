import { definePlugin } from "svc/sdk";
import { createAgents } from "./agents.ts";
import { registerAgentMethods } from "./rpc/agent.ts";
import { registerAgentFileMethods } from "./rpc/agent-files.ts";
import { registerAgentsMethods } from "./rpc/agents.ts";
import { registerChatMethods } from "./rpc/chat.ts";
import { registerHeartbeatMethods } from "./rpc/heartbeat.ts";
import { registerModelsMethods } from "./rpc/models.ts";
import { registerSessionChanges } from "./rpc/session-changes.ts";
import { registerSessionsMethods } from "./rpc/sessions.ts";
import { registerSystemMethods } from "./rpc/system.ts";
import { registerToolMethods } from "./rpc/tools.ts";
import { registerTraceMethods } from "./rpc/traces.ts";

/** Agents, their sessions and their runs: takes a message, lets a model answer it with the help of tools, and stores all of it. */
export default definePlugin({
  id: "agents",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const { kit, runner, heartbeats, service, life } = createAgents(ctx);
    ctx.registerService("agents@1", service);
    registerAgentMethods(ctx, kit, runner);
    registerAgentsMethods(ctx, kit, runner);
    registerAgentFileMethods(ctx, kit);
    registerModelsMethods(ctx, kit);
    registerToolMethods(ctx, kit);
    registerChatMethods(ctx, kit, runner);
    registerSessionsMethods(ctx, kit);
    registerSessionChanges(ctx, kit, runner);
    registerSystemMethods(ctx, service);
    registerHeartbeatMethods(ctx, heartbeats);
    registerTraceMethods(ctx, kit);
    return life;
  },
});
