import { type AgentInfo, type JsonObject, MAIN_KEY, methodOf, type PluginContext } from "svc/sdk";
import { KeyedMutex } from "svc/sdk/internal";
import type { Kit } from "../kit.ts";
import { servedMethods } from "../protocol/methods.ts";
import { createAgentRegistry } from "../registry/changes.ts";
import type { Runner } from "../runs/runner.ts";

/** `agents.list`, `agents.create`, `agents.update`, `agents.delete`. */
export function registerAgentsMethods(ctx: PluginContext, kit: Kit, runner: Runner): void {
  const registry = createAgentRegistry(kit, runner, new KeyedMutex());
  ctx.registerRpc({ ...methodOf(servedMethods, "agents.create"), handler: (params) => registry.create(params) });
  ctx.registerRpc({ ...methodOf(servedMethods, "agents.update"), handler: (params) => registry.update(params) });
  ctx.registerRpc({ ...methodOf(servedMethods, "agents.delete"), handler: (params) => registry.remove(params) });
  ctx.registerRpc({
    ...methodOf(servedMethods, "agents.list"),
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
