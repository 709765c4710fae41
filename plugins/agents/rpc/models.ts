import {
  type AgentInfo,
  type JsonObject,
  type ModelInfo,
  type ModelProvider,
  type ParamsOf,
  type PluginContext,
  protocolMethod,
} from "svc/sdk";
import type { Kit } from "../kit.ts";
import { splitRef } from "../models/choice.ts";

/** `models.list`. */
export function registerModelsMethods(ctx: PluginContext, kit: Kit): void {
  ctx.registerRpc({
    ...protocolMethod("models.list"),
    handler: async (params) => {
      const agent = kit.directory.get(params.agentId ?? kit.directory.defaultId);
      return { models: await listModels(kit, agent, params) };
    },
  });
}

async function listModels(kit: Kit, agent: AgentInfo, params: ParamsOf<"models.list">): Promise<JsonObject[]> {
  const view = params.view ?? "default";
  const allowed = Object.keys(kit.config.agents.defaults.models ?? {});
  const named = new Set([...agent.models, ...allowed]);
  await kit.catalog.ready(params.provider);
  const providers = kit.catalog.providers().filter((p) => params.provider === undefined || p.id === params.provider);
  const lists = await Promise.all(providers.map(async (p) => (await offered(kit, p, named)).map((m) => describe(kit, p, m))));
  return lists.flat().filter((model) => {
    const ref = `${model.provider}/${model.id}`;
    if (view === "all") return true;
    if (view === "configured") return named.has(ref);
    return allowed.length > 0 ? named.has(ref) : model.unavailableReason !== "missing-auth";
  });
}

/** What a provider lists, its default, and what the config names of it. */
async function offered(kit: Kit, provider: ModelProvider, named: ReadonlySet<string>): Promise<ModelInfo[]> {
  const listed = await kit.catalog.models(provider);
  const extra = [...named].flatMap((text) => {
    const ref = splitRef(text);
    return ref?.provider === provider.id ? [ref.model] : [];
  });
  const ids = new Set([...(provider.defaultModel === undefined ? [] : [provider.defaultModel]), ...extra]);
  return [...listed, ...[...ids].filter((id) => !listed.some((m) => m.id === id)).map((id) => ({ id }))];
}

function describe(kit: Kit, provider: ModelProvider, model: ModelInfo): JsonObject {
  const alias = kit.config.agents.defaults.models?.[`${provider.id}/${model.id}`]?.alias;
  const reason = !provider.available().ok ? "missing-auth" : kit.cooldown.rests(provider.id) ? "cooldown" : undefined;
  const { maxTokens: _, ...rest } = model;
  return {
    ...rest,
    name: model.name ?? model.id,
    provider: provider.id,
    ...(alias === undefined ? {} : { alias }),
    ...(provider.embedded ? { tags: ["embedded"] } : {}),
    available: reason === undefined,
    ...(reason === undefined ? {} : { unavailableReason: reason }),
  };
}
