import { type MemoryStatus, messageOf, type SvcError } from "svc/sdk";
import type { AgentMemory } from "./agent-memory.ts";
import type { StatusReply } from "./worker-protocol.ts";

/** State of one agent's memory. Never throws: what is wrong stands in `lastError`. */
export async function statusOf(agent: AgentMemory, options: { files: boolean; refusal: SvcError | undefined }): Promise<MemoryStatus> {
  if (options.refusal) return describe(agent, emptyReply, options.refusal.message);
  try {
    return describe(agent, await agent.index().status({ files: options.files }));
  } catch (error) {
    return describe(agent, { ...emptyReply, ...agent.state() }, messageOf(error));
  }
}

const emptyReply: StatusReply = { files: 0, chunks: 0, dirty: true, syncing: false, watching: false, sourceCounts: [] };

function describe({ settings }: AgentMemory, reply: StatusReply, failure?: string): MemoryStatus {
  const { watching: _, lastError, ...figures } = reply;
  const error = failure ?? lastError;
  return {
    agentId: settings.agentId,
    backend: "builtin",
    workspace: settings.index.workspace,
    ...figures,
    dbPath: settings.index.dbPath,
    provider: "none",
    model: "fts-only",
    requestedProvider: settings.requestedProvider,
    sources: ["memory"],
    fts: { enabled: settings.enabled, available: failure === undefined, ...(failure === undefined ? {} : { error: failure }) },
    custom: { searchMode: "fts-only" },
    ...(error === undefined ? {} : { lastError: error }),
  };
}
