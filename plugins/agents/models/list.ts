import type { AgentInfo, JsonObject, ModelInfo, ModelProvider, ParamsOf } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { splitRef } from "./choice.ts";

/** Parts of the plugin that know about models. */
export type ModelParts = Pick<Kit, "config" | "directory" | "catalog" | "models" | "modelStates">;

/** Models for `models.list`, and the providers that cannot be used. */
export async function modelList(parts: ModelParts, params: ParamsOf<"models.list">): Promise<JsonObject> {
  const agent = parts.directory.get(params.agentId ?? parts.directory.defaultId);
  const models = await listModels(parts, agent, params);
  const skipped = parts.modelStates.skipped();
  return { models, ...(skipped.length === 0 ? {} : { skipped }) };
}

async function listModels(parts: ModelParts, agent: AgentInfo, params: ParamsOf<"models.list">): Promise<JsonObject[]> {
  const view = params.view ?? "default";
  const allowed = Object.keys(parts.config.agents.defaults.models ?? {});
  const named = new Set([...agent.models, ...allowed]);
  await parts.catalog.ready(params.provider);
  const providers = parts.catalog.providers().filter((p) => params.provider === undefined || p.id === params.provider);
  const lists = await Promise.all(
    providers.map(async (p) => (await offered(parts, p, named)).map((m) => describe(parts, agent, { provider: p, model: m }))),
  );
  return lists.flat().filter((model) => {
    const ref = `${model.provider}/${model.id}`;
    if (view === "all") return true;
    if (view === "configured") return named.has(ref);
    return allowed.length > 0 ? named.has(ref) : model.unavailableReason !== "missing-auth";
  });
}

/** Models that a provider lists, its default, and those the config names. */
async function offered(parts: ModelParts, provider: ModelProvider, named: ReadonlySet<string>): Promise<ModelInfo[]> {
  const listed = await parts.catalog.models(provider);
  const extra = [...named].flatMap((text) => {
    const ref = splitRef(text);
    return ref?.provider === provider.id ? [ref.model] : [];
  });
  const ids = new Set([...(provider.defaultModel === undefined ? [] : [provider.defaultModel]), ...extra]);
  return [...listed, ...[...ids].filter((id) => !listed.some((m) => m.id === id)).map((id) => ({ id }))];
}

function describe(parts: ModelParts, agent: AgentInfo, { provider, model }: { provider: ModelProvider; model: ModelInfo }): JsonObject {
  const alias = parts.config.agents.defaults.models?.[`${provider.id}/${model.id}`]?.alias;
  const reason = unavailableReason(parts, provider, model.id);
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
function unavailableReason(
  { modelStates }: ModelParts,
  provider: ModelProvider,
  model: string,
): "missing-auth" | "auth-failed" | "cooldown" | undefined {
  const { state } = modelStates.provider(provider, model);
  return state === "unavailable" ? "missing-auth" : state === "key-rejected" ? "auth-failed" : state === "cooldown" ? state : undefined;
}

/** `default`, `fallback`: what the agent is answered by; `embedded`: comes with svc and needs no key. */
function tagsOf(agent: AgentInfo, provider: ModelProvider, ref: string): string[] {
  const place = agent.models.indexOf(ref);
  return [...(place === 0 ? ["default"] : place > 0 ? ["fallback"] : []), ...(provider.embedded ? ["embedded"] : [])];
}
