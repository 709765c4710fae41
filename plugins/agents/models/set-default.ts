import { type AgentInfo, isSvcError, type JsonObject, type ParamsOf, resolveAgents, type SvcConfig, type SvcConfigInput } from "svc/sdk";
import { agentErrors } from "../errors.ts";
import type { Kit } from "../kit.ts";
import { closest } from "./closest.ts";

/** Parts that a change of the default model needs. */
export type SetParts = Pick<Kit, "ctx" | "config" | "directory" | "models">;

type Model = { primary: string; fallbacks: string[] };

/**
 * Writes the model of all agents, or of one, into the config; in force when it resolves.
 * @throws {SvcError} `agent-not-found`, `invalid-model`, `model-not-allowed`, `config-*`
 */
export async function setModel(parts: SetParts, { model, agentId, fallbacks }: ParamsOf<"models.set">): Promise<JsonObject> {
  const { config, directory } = parts;
  const agent = agentId === undefined ? undefined : present(parts, agentId);
  const judge = agent ?? directory.get(directory.defaultId);
  const primary = await checked(parts, judge, model);
  const entry = agent && config.agents.list.findIndex(({ id }) => id === agent.id);
  const before = entry === undefined ? config.agents.defaults.model : config.agents.list[entry]?.model;
  const others = fallbacks === undefined ? fallbacksOf(before) : await Promise.all(fallbacks.map((name) => checked(parts, judge, name)));
  const chosen: Model = { primary, fallbacks: [...new Set(others)].filter((name) => name !== primary) };
  const path = agent ? `agents.list[id=${agent.id}].model` : "agents.defaults.model";
  const lists = ["agents.defaults.model.fallbacks", ...(entry === undefined ? [] : [`agents.list[${entry}].model.fallbacks`])];
  const written = await parts.ctx.service("config@1").patch(patchFor(chosen, agent), { note: `models.set ${path}`, replacePaths: lists });
  const { stateDir } = parts.ctx.service("gateway@1").info();
  const after = resolveAgents(written.config as SvcConfig, stateDir);
  const isOwn = (id: string) => (written.config as SvcConfig).agents.list.some((one) => one.id === id && one.model !== undefined);
  const concerned = agent ? [agent.id] : after.flatMap(({ id }) => (isOwn(id) ? [] : [id]));
  return {
    ok: true,
    path,
    model: chosen,
    agents: concerned,
    ownModels: agent ? [] : after.flatMap(({ id }) => (isOwn(id) ? [id] : [])),
    ...(isInForce(parts, concerned, primary) ? {} : { restartRequired: true }),
  };
}

/** Without fallbacks the short form: it takes the place of whatever was there. */
function patchFor(chosen: Model, agent: AgentInfo | undefined): SvcConfigInput {
  const model = chosen.fallbacks.length === 0 ? chosen.primary : chosen;
  return { agents: agent ? { list: [{ id: agent.id, model }] } : { defaults: { model } } };
}

function isInForce({ directory }: SetParts, agents: readonly string[], primary: string): boolean {
  return directory.list().every(({ id, models }) => !agents.includes(id) || models[0] === primary);
}

function fallbacksOf(model: string | { fallbacks?: string[] } | undefined): string[] {
  return typeof model === "object" ? (model.fallbacks ?? []) : [];
}

/** The full name of a model that exists and that the allow-list has, if there is one. */
async function checked({ config, models }: SetParts, agent: AgentInfo, named: string): Promise<string> {
  try {
    const { provider, model } = await models.check(agent, named);
    return `${provider}/${model}`;
  } catch (error) {
    if (!isSvcError(error, "model-not-allowed")) throw error;
    const near = closest(named, Object.keys(config.agents.defaults.models ?? {}));
    const hint = ` agents.defaults.models lists what is${near === undefined ? "" : `; the closest is "${near}"`}.`;
    throw agentErrors.modelNotAllowed({ model: named, agentId: agent.id, hint });
  }
}

/** @throws {SvcError} `agent-not-found` */
function present({ directory }: SetParts, named: string): AgentInfo {
  const agent = directory.list().find(({ id }) => id === named.trim().toLowerCase());
  if (!agent) throw agentErrors.agentNotFound({ agentId: named });
  return agent;
}
