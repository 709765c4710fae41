import {
  type CliClient,
  type CliContext,
  commonErrors,
  defaultAgentId,
  type Memory,
  type MemoryProgress,
  type MemoryStatus,
  type ResultOf,
  resolveAgents,
  type SvcConfig,
} from "svc/sdk";
import { hasGateway, parseSharedConfig } from "svc/sdk/internal";
import { memoryBackendId } from "../backend/backend-id.ts";
import { type DreamAccess, dreamsOverGateway } from "./dream-access.ts";

/** Memory as the commands see it: through the running gateway, or in this process under the state lock. */
export interface MemoryAccess {
  /** The agents a command without `--agent` means. */
  readonly agents: { all: string[]; default: string };
  search(agentId: string, query: string, options: { maxResults?: number; minScore?: number }): Promise<ResultOf<"memory.search">>;
  /** @param options.deep asks the embedding provider for a vector */
  status(agentId: string, options?: { deep?: boolean }): Promise<MemoryStatus>;
  index(
    agentId: string,
    options: { force: boolean; onProgress(progress: MemoryProgress): void },
  ): Promise<{ started: boolean; joined: boolean }>;
  reset(agentId: string): Promise<{ removed: boolean }>;
  /** Brings to the machine of the gateway what a provider needs. */
  prepare(agentId: string, options: PrepareOptions): Promise<void>;
  readonly dreams: {
    status(agentId: string | undefined): Promise<ResultOf<"memory.dreaming.status">>;
    /** Lines that say what was put in order. */
    repair(agentId: string): Promise<string[]>;
  };
  close(): Promise<void>;
}

export interface PrepareOptions {
  provider: string;
  modelPath?: string | undefined;
  signal: AbortSignal;
  onProgress(progress: MemoryProgress): void;
}

/** The probe of a provider has 10 s of its own. */
const DEEP_MS = 20_000;

/** Opens memory by the one rule: whoever holds the state lock does the work, or the gateway that `gateway.remote` names. */
export async function openAccess(cli: CliContext): Promise<MemoryAccess> {
  const { config } = await cli.config();
  const effective = (config as SvcConfig | undefined) ?? parseSharedConfig({});
  const agents = agentsOf(effective, cli.paths.stateDir);
  if (await hasGateway(cli)) return overGateway(await cli.connect(), agents);
  const local = await cli.local(await pluginsOf(cli, effective));
  try {
    const { dreamsInProcess } = await import("./dream-local.ts");
    const dreams = dreamsInProcess(cli, { config: effective, local });
    return { ...inProcess(local.service("memory@1")), agents, dreams: shortened(dreams), close: () => local.close() };
  } catch (error) {
    await local.close();
    throw error;
  }
}

/** Memory, whatever embeds (an adapter is loaded on first use only), the chosen backend, and the store where transcripts belong to a memory. */
async function pluginsOf(cli: CliContext, config: SvcConfig): Promise<string[]> {
  const { agents, memory } = config;
  const manifests = await (await cli.configFile()).manifests();
  const adapters = manifests.filter(({ contributes }) => (contributes?.embeddingAdapters ?? []).length > 0);
  // A config that cannot be read has no section of this plugin.
  const backends = manifests.filter(({ contributes }) => memory && contributes?.memoryBackends?.includes(memoryBackendId(config)));
  const hasSessions =
    memory?.sidecar.sessions.enabled ||
    [agents.defaults, ...agents.list].some(({ memorySearch }) => memorySearch?.experimental?.sessionMemory === true);
  return ["memory-core", ...(hasSessions ? ["store"] : []), ...[...adapters, ...backends].map(({ id }) => id)];
}

/** Ids a command works on. @throws {SvcError} `unknown-agent` */
export function chosenAgents(access: MemoryAccess, agent: unknown): string[] {
  if (agent === undefined) return access.agents.all;
  if (typeof agent !== "string" || !access.agents.all.includes(agent)) throw commonErrors.unknownAgent({ agentId: String(agent) });
  return [agent];
}

function agentsOf(config: SvcConfig, stateDir: string): MemoryAccess["agents"] {
  return { all: resolveAgents(config, stateDir).map((agent) => agent.id), default: defaultAgentId(config) };
}

function shortened({ status, repair }: DreamAccess): MemoryAccess["dreams"] {
  return { status, repair: async (agentId) => (await repair(agentId)).done };
}

function inProcess(memory: Memory): Omit<MemoryAccess, "agents" | "dreams" | "close"> {
  return {
    async search(agentId, query, options) {
      const { results, provider, mode, partial, degraded, unavailable, error, warning, action } = await memory.search(agentId, query, {
        ...options,
        citations: "off",
      });
      return { agentId, provider, searchMode: mode, results, ...given({ partial, degraded, unavailable, error, warning, action }) };
    },
    status: (agentId, { deep = false } = {}) => memory.status(agentId, { files: true, deep }),
    index: (agentId, { force, onProgress }) => memory.sync(agentId, { force, reason: "cli", onProgress }),
    reset: (agentId) => memory.reset(agentId),
    async prepare(agentId, { provider, modelPath, signal, onProgress }) {
      const tell = ({ doneBytes, totalBytes }: { doneBytes: number; totalBytes: number }) =>
        onProgress({ phase: "download", done: doneBytes, total: totalBytes });
      await memory.prepare?.(agentId, { provider, signal, onProgress: tell, ...(modelPath === undefined ? {} : { modelPath }) });
    },
  };
}

function overGateway(client: CliClient, agents: MemoryAccess["agents"]): MemoryAccess {
  return {
    agents,
    search: (agentId, query, options) => client.request("memory.search", { agentId, query, ...options }),
    status: (agentId, { deep = false } = {}) => client.request("memory.status", { agentId, deep }, deep ? { timeoutMs: DEEP_MS } : {}),
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
    async prepare(agentId, { provider, modelPath, onProgress }) {
      const stop = client.on("memory.progress", (event) => {
        if (event.agentId === agentId && event.phase === "download") onProgress(event);
      });
      try {
        const params = { agentId, provider, ...(modelPath === undefined ? {} : { modelPath }) };
        await client.request("memory.prepare", params, { onAccepted: () => undefined });
      } finally {
        stop();
      }
    },
    dreams: shortened(dreamsOverGateway(client)),
    close: () => client.close(),
  };
}

/** Without the fields that are undefined, as an answer from the wire is. */
function given<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
