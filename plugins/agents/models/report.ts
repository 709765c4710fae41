import type { AgentInfo, JsonObject, ModelProvider } from "svc/sdk";
import type { ModelParts } from "./list.ts";

/** Providers, and the models that agents are answered by, for `models.status`. Nobody is asked. */
export function modelReport(parts: ModelParts): JsonObject {
  const { catalog, directory, modelStates } = parts;
  return {
    agents: directory.list().map((agent) => agentRow(parts, agent)),
    providers: catalog.providers().flatMap((provider) => (provider.embedded ? [] : [providerRow(parts, provider)])),
    skipped: modelStates.skipped(),
  };
}

function agentRow({ config, modelStates }: ModelParts, agent: AgentInfo): JsonObject {
  const { id: agentId, isDefault } = agent;
  const found = agent.models.length > 0 ? agent.models.map((name) => modelStates.named(agentId, name)) : [modelStates.of(agent)];
  const isOwn = config.agents.list.some((entry) => entry.id === agentId && entry.model !== undefined);
  const setBy = isOwn ? `agents.list[id=${agentId}].model` : "agents.defaults.model";
  return {
    agentId,
    isDefault,
    ...(agent.models.length > 0 ? { setBy } : {}),
    models: found.map(({ agentId: _, ...choice }) => choice),
  };
}

function providerRow({ config, modelStates }: ModelParts, provider: ModelProvider): JsonObject {
  const { id, name, defaultModel } = provider;
  const entry = Object.hasOwn(config.models.providers, id) ? config.models.providers[id] : undefined;
  const keySource = provider.keySource ?? (entry?.apiKey === undefined ? undefined : `models.providers.${id}.apiKey`);
  return {
    id,
    ...(name === undefined ? {} : { name }),
    ...modelStates.provider(provider),
    ...(keySource === undefined ? {} : { keySource }),
    ...(defaultModel === undefined ? {} : { defaultModel }),
    isConfigured: entry !== undefined,
  };
}
