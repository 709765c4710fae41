import {
  type CliClient,
  type CliContext,
  defaultAgentId,
  type Memory,
  type MemoryProgress,
  type ResultOf,
  resolveAgents,
  rootSchema,
  type SvcConfig,
  SvcError,
} from "svc/sdk";

/** Memory as the commands see it: through the running gateway, or in this process under the state lock. */
export interface MemoryAccess {
  /** The agents a command without `--agent` means. */
  readonly agents: { all: string[]; default: string };
  search(agentId: string, query: string, options: { maxResults?: number; minScore?: number }): Promise<ResultOf<"memory.search">>;
  status(agentId: string): Promise<ResultOf<"memory.status">>;
  index(
    agentId: string,
    options: { force: boolean; onProgress(progress: MemoryProgress): void },
  ): Promise<{ started: boolean; joined: boolean }>;
  reset(agentId: string): Promise<{ removed: boolean }>;
  close(): Promise<void>;
}

/** Opens memory by the one rule: whoever holds the state lock does the work. */
export async function openAccess(cli: CliContext): Promise<MemoryAccess> {
  const { config } = await cli.config();
  const agents = agentsOf((config as SvcConfig | undefined) ?? rootSchema.parse({}), cli.paths.stateDir);
  if (await cli.lockOwner()) return overGateway(await cli.connect(), agents);
  const local = await cli.local(["memory-core"]);
  try {
    return { ...inProcess(local.service("memory@1")), agents, close: () => local.close() };
  } catch (error) {
    await local.close();
    throw error;
  }
}

/** Ids a command works on. @throws {SvcError} `unknown-agent` */
export function chosenAgents(access: MemoryAccess, agent: unknown): string[] {
  if (agent === undefined) return access.agents.all;
  if (typeof agent !== "string" || !access.agents.all.includes(agent)) throw new SvcError("unknown-agent", { agentId: agent });
  return [agent];
}

function agentsOf(config: SvcConfig, stateDir: string): MemoryAccess["agents"] {
  return { all: resolveAgents(config, stateDir).map((agent) => agent.id), default: defaultAgentId(config) };
}

function inProcess(memory: Memory): Omit<MemoryAccess, "agents" | "close"> {
  return {
    async search(agentId, query, options) {
      const { results, provider, mode, partial, unavailable, error, warning, action } = await memory.search(agentId, query, {
        ...options,
        citations: "off",
      });
      return { agentId, provider, searchMode: mode, results, ...given({ partial, unavailable, error, warning, action }) };
    },
    status: (agentId) => memory.status(agentId, { files: true }),
    index: (agentId, { force, onProgress }) => memory.sync(agentId, { force, reason: "cli", onProgress }),
    reset: (agentId) => memory.reset(agentId),
  };
}

function overGateway(client: CliClient, agents: MemoryAccess["agents"]): MemoryAccess {
  return {
    agents,
    search: (agentId, query, options) => client.request("memory.search", { agentId, query, ...options }),
    status: (agentId) => client.request("memory.status", { agentId }),
    async index(agentId, { force, onProgress }) {
      const stop = client.on("memory.progress", (event) => {
        if (event.agentId === agentId) onProgress(event);
      });
      try {
        // The answer to wait for is the second one: the sync is over.
        return await client.request("memory.index", { agentId, force }, { onAccepted: () => undefined });
      } finally {
        stop();
      }
    },
    reset: (agentId) => client.request("memory.reset", { agentId }),
    close: () => client.close(),
  };
}

/** Without the fields that are undefined, as an answer from the wire is. */
function given<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
