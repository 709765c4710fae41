import { join } from "node:path";
import {
  type AgentInfo,
  type ConfigWriteResult,
  DEFAULT_AGENT_ID,
  expandPath,
  isSvcError,
  type JsonObject,
  type ParamsOf,
  resolveAgents,
  type SvcConfig,
  type SvcConfigInput,
} from "svc/sdk";
import type { KeyedMutex } from "svc/sdk/internal";
import { agentIdPattern } from "svc/sdk/internal";
import { agentErrors } from "../errors.ts";
import type { Kit } from "../kit.ts";
import type { Runner } from "../runs/runner.ts";
import { moveToTrash } from "./trash.ts";
import { checkWorkspacePlace } from "./workspace-place.ts";

/** Agents as they stand in the config, changed through its writer; each change is in force when it resolves. */
export interface AgentRegistry {
  /** @throws {SvcError} `agent-exists`, `agent-name-*`, `agent-workspace-*`, `invalid-model`, `config-*` */
  create(params: ParamsOf<"agents.create">): Promise<JsonObject>;
  /** @throws {SvcError} `agent-not-found`, `agent-workspace-*`, `invalid-model`, `config-*` */
  update(params: ParamsOf<"agents.update">): Promise<JsonObject>;
  /** @throws {SvcError} `agent-not-found`, `default-agent-delete`, `config-*` */
  remove(params: ParamsOf<"agents.delete">): Promise<JsonObject>;
}

type AgentEntry = NonNullable<NonNullable<SvcConfigInput["agents"]>["list"]>[number];

export function createAgentRegistry(kit: Kit, runner: Runner, lock: KeyedMutex): AgentRegistry {
  /** One change after the other: whether a name is free is asked of what the last one left. */
  const alone = <T>(task: () => Promise<T>) => lock.run("agents.list", task);
  return {
    create: (params) => alone(() => createAgent(kit, params)),
    update: (params) => alone(() => updateAgent(kit, params)),
    remove: (params) => alone(() => removeAgent(kit, runner, params)),
  };
}

async function createAgent(kit: Kit, params: ParamsOf<"agents.create">): Promise<JsonObject> {
  const id = agentIdOf(params.name);
  if (find(kit, id)) throw agentErrors.agentExists({ agentId: id });
  await checkModel(kit, params.model);
  await checkPlace(kit, id, params);
  // Without a list there is one agent nobody wrote down; it goes on answering where no agent is named.
  const first: AgentEntry[] = kit.config.agents.list.length === 0 ? [{ id: DEFAULT_AGENT_ID }] : [];
  const written = await write(kit, [...first, { id, name: params.name, ...fieldsOf(params) }], `agents.create ${id}`);
  const made = resolveAgents(written.config as SvcConfig, kit.ctx.service("gateway@1").info().stateDir).find((agent) => agent.id === id);
  // Another change of the file may wait for a restart, and this one with it.
  const restartRequired = find(kit, id) ? {} : { restartRequired: true };
  return { ok: true, agentId: id, name: params.name, workspace: made?.workspace ?? "", ...restartRequired };
}

async function updateAgent(kit: Kit, params: ParamsOf<"agents.update">): Promise<JsonObject> {
  const { id } = present(kit, params.agentId);
  await checkModel(kit, params.model ?? undefined);
  if (params.workspace !== undefined) await checkPlace(kit, id, params);
  const name = params.name === undefined ? {} : { name: params.name };
  // In a merge patch `null` takes a key away.
  const model = params.model === null ? { model: null as never } : {};
  await write(kit, [{ id, ...name, ...fieldsOf(params), ...model }], `agents.update ${id}`);
  return { ok: true, agentId: id };
}

async function removeAgent(kit: Kit, runner: Runner, { agentId, deleteFiles = true }: ParamsOf<"agents.delete">): Promise<JsonObject> {
  const agent = present(kit, agentId);
  if (agent.isDefault) throw agentErrors.defaultAgentDelete({ agentId: agent.id });
  const { agents, bindings } = kit.config;
  const removedBindings = bindings.filter((binding) => binding.agentId === agent.id).length;
  const remove = [
    { list: "agents.list", where: { id: agent.id } },
    { list: "bindings", where: { agentId: agent.id } },
  ];
  // Before, so that they end in an agent that is there; after, for what began meanwhile.
  await endRuns(kit, runner, agent.id);
  await kit.ctx.service("config@1").patch({}, { note: `agents.delete ${agent.id}`, remove });
  await endRuns(kit, runner, agent.id);
  const entry = agents.list.find(({ id }) => id === agent.id);
  return { ok: true, agentId: agent.id, removedBindings, ...(deleteFiles ? await trash(kit, agent, entry?.agentDir) : {}) };
}

async function trash(kit: Kit, agent: AgentInfo, ownDir: string | undefined): Promise<JsonObject> {
  const { configPath, stateDir } = kit.ctx.service("gateway@1").info();
  const internal = join(stateDir, "agents", agent.id);
  const folders = { workspace: agent.workspace, agent: ownDir === undefined ? internal : expandPath(ownDir, stateDir) };
  const others = kit.directory.list().map(({ workspace }) => workspace);
  // Below the state directory's own `agents` there is nothing that svc did not make.
  const isMadeBySvc = async (folder: string) => folder === internal || kit.workspaces.has(folder);
  const record = await kit.workspaces.keyOf(agent.workspace);
  const trashed = await moveToTrash(agent.id, folders, { stateDir, configPath, others, isMadeBySvc, now: kit.ctx.clock.now() });
  if (record !== undefined && (await kit.workspaces.keyOf(agent.workspace)) === undefined) await kit.workspaces.forget(record);
  return { ...trashed };
}

/** @throws {SvcError} `agent-workspace-system`, `agent-workspace-foreign` */
async function checkPlace(
  kit: Kit,
  id: string,
  { workspace, adopt = false }: { workspace?: string | undefined; adopt?: boolean | undefined },
) {
  const { configPath, stateDir } = kit.ctx.service("gateway@1").info();
  const wanted = workspace === undefined ? join(stateDir, `workspace-${id}`) : expandPath(workspace, stateDir);
  const others = kit.directory.list().flatMap((agent) => (agent.id === id ? [] : [agent.workspace]));
  if (find(kit, id)?.workspace === wanted) return;
  await checkWorkspacePlace(wanted, { stateDir, configPath, others, adopt, isMadeBySvc: (folder) => kit.workspaces.has(folder) });
}

function write(kit: Kit, list: AgentEntry[], note: string): Promise<ConfigWriteResult> {
  return kit.ctx.service("config@1").patch({ agents: { list } }, { note });
}

function find(kit: Kit, id: string): AgentInfo | undefined {
  return kit.directory.list().find((agent) => agent.id === id);
}

/** @throws {SvcError} `agent-not-found` */
function present(kit: Kit, named: string): AgentInfo {
  const agent = find(kit, named.trim().toLowerCase());
  if (!agent) throw agentErrors.agentNotFound({ agentId: named });
  return agent;
}

function fieldsOf({ workspace, model, emoji, avatar }: Omit<ParamsOf<"agents.update">, "agentId">): Omit<AgentEntry, "id"> {
  const identity = { ...(emoji === undefined ? {} : { emoji }), ...(avatar === undefined ? {} : { avatar }) };
  return {
    ...(workspace === undefined ? {} : { workspace }),
    ...(typeof model === "string" ? { model } : {}),
    ...(Object.keys(identity).length > 0 ? { identity } : {}),
  };
}

/** A slip in a model's name is told now, not at the first message. */
async function checkModel(kit: Kit, model: string | undefined): Promise<void> {
  if (model === undefined) return;
  await kit.models.check(kit.directory.get(kit.directory.defaultId), model).catch((error: unknown) => {
    // The models that a request may choose do not restrict the one an agent is given.
    if (!isSvcError(error, "model-not-allowed")) throw error;
  });
}

/** Ends the work in progress for a deleted agent. */
async function endRuns(kit: Kit, runner: Runner, agentId: string): Promise<void> {
  const active = [...kit.runs.values()].filter((run) => run.agent.id === agentId);
  for (const key of new Set(active.map((run) => run.sessionKey))) runner.abortSession(key, "rpc");
  await Promise.all(active.map((run) => run.done));
}

/** `main` is there without being made, `default` means the default agent where a model is named `svc/default`. */
const reserved: ReadonlySet<string> = new Set([DEFAULT_AGENT_ID, "default"]);
const MAX_CHARS = 64;

/**
 * The id of an agent of this name: `Helper Two` → `helper-two`, `Größe` → `grosse`.
 * @throws {SvcError} `agent-name-empty`, `agent-name-reserved`
 */
export function agentIdOf(name: string): string {
  const plain = name.replaceAll("ß", "ss").normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const id = plain
    .replace(/[^a-z0-9_]+/g, "-")
    .replace(/^[-_]+/, "")
    .slice(0, MAX_CHARS)
    .replace(/(?<![-_])[-_]+$/, "");
  if (!agentIdPattern.test(id)) throw agentErrors.agentNameEmpty({ name });
  if (reserved.has(id)) throw agentErrors.agentNameReserved({ agentId: id });
  return id;
}
