import { type AgentInfo, type JsonObject, MAIN_KEY, type PluginContext, protocolMethod } from "svc/sdk";
import type { Kit } from "../kit.ts";

/** `agents.list`. */
export function registerAgentsMethods(ctx: PluginContext, kit: Kit): void {
  ctx.registerRpc({
    ...protocolMethod("agents.list"),
    handler: () => ({
      defaultId: kit.directory.defaultId,
      mainKey: MAIN_KEY,
      scope: kit.config.session.scope,
      agents: kit.directory.list().map(toWire),
    }),
  });
}

function toWire(agent: AgentInfo): JsonObject {
  const [primary, ...fallbacks] = agent.models;
  return {
    id: agent.id,
    ...(agent.name === undefined ? {} : { name: agent.name }),
    identity: agent.identity,
    workspace: agent.workspace,
    ...(primary === undefined ? {} : { model: { primary, ...(fallbacks.length > 0 ? { fallbacks } : {}) } }),
  };
}
