import { type AgentInfo, type JsonObject, type ModelInfo, type ModelProvider, methodOf, type ParamsOf, type PluginContext } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { splitRef } from "../models/choice.ts";
import { servedMethods } from "../protocol/methods.ts";

/** `models.list`. */
export function registerModelsMethods(ctx: PluginContext, kit: Kit): void {
  ctx.registerRpc({
    ...methodOf(servedMethods, "models.list"),
    handler: async (params) => {
      const agent = kit.directory.get(params.agentId ?? kit.directory.defaultId);
      const models = await listModels(kit, agent, params);
      const skipped = kit.modelStates.skipped();
      return { models, ...(skipped.length === 0 ? {} : { skipped }) };
    },
  });
}

async function listModels(kit: Kit, agent: AgentInfo, params: ParamsOf<"models.list">): Promise<JsonObject[]> {
  const view = params.view ?? "default";
  const allowed = Object.keys(kit.config.agents.defaults.models ?? {});
  const named = new Set([...agent.models, ...allowed]);
  await kit.catalog.ready(params.provider);
  const providers = kit.catalog.providers().filter((p) => params.provider === undefined || p.id === params.provider);
  const lists = await Promise.all(
    providers.map(async (p) => (await offered(kit, p, named)).map((m) => describe(kit, agent, { provider: p, model: m }))),
  );
  return lists.flat().filter((model) => {
    const ref = `${model.provider}/${model.id}`;
    if (view === "all") return true;
    if (view === "configured") return named.has(ref);
    return allowed.length > 0 ? named.has(ref) : model.unavailableReason !== "missing-auth";
  });
}

/** Models that a provider lists, its default, and those the config names. */
async function offered(kit: Kit, provider: ModelProvider, named: ReadonlySet<string>): Promise<ModelInfo[]> {
  const listed = await kit.catalog.models(provider);
  const extra = [...named].flatMap((text) => {
    const ref = splitRef(text);
    return ref?.provider === provider.id ? [ref.model] : [];
  });
  const ids = new Set([...(provider.defaultModel === undefined ? [] : [provider.defaultModel]), ...extra]);
  return [...listed, ...[...ids].filter((id) => !listed.some((m) => m.id === id)).map((id) => ({ id }))];
}

function describe(kit: Kit, agent: AgentInfo, { provider, model }: { provider: ModelProvider; model: ModelInfo }): JsonObject {
  const alias = kit.config.agents.defaults.models?.[`${provider.id}/${model.id}`]?.alias;
  const reason = unavailableReason(kit, provider);
  const { maxTokens: _, ...rest } = model;
  const tags = tagsOf(agent, provider, `${provider.id}/${model.id}`);
  return {
    ...rest,
    name: model.name ?? model.id,
    provider: provider.id,
    ...(alias === undefined ? {} : { alias }),
    ...(tags.length > 0 ? { tags } : {}),
    available: reason === undefined,
    ...(reason === undefined ? {} : { unavailableReason: reason }),
  };
}

/** A key that was refused is the operator's business; any other failure passes by itself. */
function unavailableReason(kit: Kit, provider: ModelProvider): "missing-auth" | "auth-failed" | "cooldown" | undefined {
  if (!provider.available().ok) return "missing-auth";
  if (kit.cooldown.lastFault(provider.id) === "auth") return "auth-failed";
  return kit.cooldown.rests(provider.id) ? "cooldown" : undefined;
}

/** `default`, `fallback`: what the agent is answered by; `embedded`: comes with svc and needs no key. */
function tagsOf(agent: AgentInfo, provider: ModelProvider, ref: string): string[] {
  const place = agent.models.indexOf(ref);
  return [...(place === 0 ? ["default"] : place > 0 ? ["fallback"] : []), ...(provider.embedded ? ["embedded"] : [])];
}
