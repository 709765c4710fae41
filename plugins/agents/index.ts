import { definePlugin } from "svc/sdk";
import { createAgents } from "./agents.ts";
import "./errors.ts";
import { registerAgentMethods } from "./rpc/agent.ts";
import { registerAgentsMethods } from "./rpc/agents.ts";
import { registerChatMethods } from "./rpc/chat.ts";
import { registerModelsMethods } from "./rpc/models.ts";
import { registerSessionsMethods } from "./rpc/sessions.ts";

/** Agents, their sessions and their runs: takes a message, lets a model answer it with the help of tools, and stores all of it. */
export default definePlugin({
  id: "agents",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const { kit, runner, service, life } = createAgents(ctx);
    ctx.registerService("agents@1", service);
    registerAgentMethods(ctx, kit, runner);
    registerAgentsMethods(ctx, kit);
    registerModelsMethods(ctx, kit);
    registerChatMethods(ctx, kit, runner);
    registerSessionsMethods(ctx, kit, runner);
    return life;
  },
});
