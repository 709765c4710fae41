import { join } from "node:path";
import {
  DEFAULT_AGENT_ID,
  expandPath,
  isSvcError,
  type JsonObject,
  type ParamsOf,
  resolveAgents,
  type SvcConfig,
  type SvcConfigInput,
  SvcError,
} from "svc/sdk";
import type { KeyedMutex } from "../common/mutex.ts";
import type { Kit } from "../kit.ts";
import type { Runner } from "../runs/runner.ts";
import { agentIdOf } from "./agent-id.ts";
import { moveToTrash } from "./trash.ts";

/** Agents as they stand in the config, changed through its writer; each change is in force when it resolves. */
export interface AgentRegistry {
  /** @throws {SvcError} `agent-exists`, `agent-name-*`, `invalid-model`, `config-*` */
  create(params: ParamsOf<"agents.create">): Promise<JsonObject>;
  /** @throws {SvcError} `agent-not-found`, `invalid-model`, `config-*` */
  update(params: ParamsOf<"agents.update">): Promise<JsonObject>;
  /** @throws {SvcError} `agent-not-found`, `default-agent-delete`, `config-*` */
  remove(params: ParamsOf<"agents.delete">): Promise<JsonObject>;
}

type AgentEntry = NonNullable<NonNullable<SvcConfigInput["agents"]>["list"]>[number];

export function createAgentRegistry(kit: Kit, runner: Runner, lock: KeyedMutex): AgentRegistry {
  /** One change after the other: whether a name is free is asked of what the last one left. */
  const alone = <T>(task: () => Promise<T>) => lock.run("agents.list", task);
  const write = (list: AgentEntry[], note: string) => kit.ctx.service("config@1").patch({ agents: { list } }, { note });
  const isThere = (id: string) => kit.directory.list().some((agent) => agent.id === id);
  const present = (id: string) => {
    const agentId = id.trim().toLowerCase();
    if (!isThere(agentId)) throw new SvcError("agent-not-found", { agentId: id });
    return kit.directory.get(agentId);
  };

  return {
    create: (params) =>
      alone(async () => {
        const id = agentIdOf(params.name);
        if (isThere(id)) throw new SvcError("agent-exists", { agentId: id });
        await checkModel(kit, params.model);
        // Without a list there is one agent nobody wrote down; it goes on answering where no agent is named.
        const first: AgentEntry[] = kit.config.agents.list.length === 0 ? [{ id: DEFAULT_AGENT_ID }] : [];
        const written = await write([...first, { id, name: params.name, ...fieldsOf(params) }], `agents.create ${id}`);
        const made = resolveAgents(written.config as SvcConfig, kit.ctx.service("gateway@1").info().stateDir).find(
          (agent) => agent.id === id,
        );
        // Another change of the file may wait for a restart, and this one with it.
        const restartRequired = isThere(id) ? {} : { restartRequired: true };
        return { ok: true, agentId: id, name: params.name, workspace: made?.workspace ?? "", ...restartRequired };
      }),
    update: (params) =>
      alone(async () => {
        const { id } = present(params.agentId);
        await checkModel(kit, params.model ?? undefined);
        const name = params.name === undefined ? {} : { name: params.name };
        // In a merge patch `null` takes a key away.
        const model = params.model === null ? { model: null as never } : {};
        await write([{ id, ...name, ...fieldsOf(params), ...model }], `agents.update ${id}`);
        return { ok: true, agentId: id };
      }),
    remove: ({ agentId, deleteFiles = true }) =>
      alone(async () => {
        const agent = present(agentId);
        if (agent.isDefault) throw new SvcError("default-agent-delete", { agentId: agent.id });
        const { agents, bindings } = kit.config;
        const removedBindings = bindings.filter((binding) => binding.agentId === agent.id).length;
        const { configPath, stateDir } = kit.ctx.service("gateway@1").info();
        const ownDir = agents.list.find(({ id }) => id === agent.id)?.agentDir;
        const remove = [
          { list: "agents.list", where: { id: agent.id } },
          { list: "bindings", where: { agentId: agent.id } },
        ];
        // Before, so that they end in an agent that is there; after, for what began meanwhile.
        await endRuns(kit, runner, agent.id);
        await kit.ctx.service("config@1").patch({}, { note: `agents.delete ${agent.id}`, remove });
        await endRuns(kit, runner, agent.id);
        const folders = {
          workspace: agent.workspace,
          agent: ownDir === undefined ? join(stateDir, "agents", agent.id) : expandPath(ownDir, stateDir),
        };
        const others = kit.directory.list().map(({ workspace }) => workspace);
        const places = { stateDir, configPath, others, now: kit.ctx.clock.now() };
        const moved = deleteFiles ? await moveToTrash(agent.id, folders, places) : {};
        return { ok: true, agentId: agent.id, removedBindings, ...moved };
      }),
  };
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
    // What may be asked for in place of an agent's own model says nothing about that own model.
    if (!isSvcError(error, "model-not-allowed")) throw error;
  });
}

/** What is at work for an agent that is gone has nobody to work for. */
async function endRuns(kit: Kit, runner: Runner, agentId: string): Promise<void> {
  const active = [...kit.runs.values()].filter((run) => run.agent.id === agentId);
  for (const key of new Set(active.map((run) => run.sessionKey))) runner.abortSession(key, "rpc");
  await Promise.all(active.map((run) => run.done));
}
