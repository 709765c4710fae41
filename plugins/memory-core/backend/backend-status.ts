import { type MemoryBackend, type MemoryFigures, type MemoryStatus, messageOf, withLimit } from "svc/sdk";
import type { AgentMemorySettings } from "../settings.ts";
import { factsOf } from "./backend-search.ts";

/** Time a backend has to tell its state. */
const STATUS_MS = 5_000;
const DEEP_MS = 15_000;

/** State of one agent's memory in a backend. Never throws: what is wrong stands in `lastError`. */
export async function backendStatus(
  backend: MemoryBackend,
  settings: AgentMemorySettings,
  { deep }: { deep: boolean },
): Promise<MemoryStatus> {
  const { agentId } = settings;
  const limitMs = deep ? DEEP_MS : STATUS_MS;
  const late = () => {
    throw new Error(`the memory backend "${backend.id}" did not tell its state within ${limitMs} ms`);
  };
  const told = await withLimit(backend.status(agentId, { deep }), limitMs, late).catch((error: unknown) => ({
    lastError: messageOf(error),
  }));
  const { lastError } = told;
  return { ...emptyStatus(backend, settings, lastError), ...told, agentId, backend: backend.id };
}

/** State of an index about which nothing is known. */
function emptyStatus(backend: MemoryBackend, settings: AgentMemorySettings, lastError: string | undefined): MemoryStatus {
  const { mode, model, sources } = factsOf(backend, settings);
  return {
    agentId: settings.agentId,
    backend: backend.id,
    workspace: settings.index.workspace,
    files: 0,
    chunks: 0,
    dirty: true,
    syncing: false,
    dbPath: "",
    provider: backend.id,
    model,
    requestedProvider: backend.id,
    sources: [...sources],
    sourceCounts: [],
    fts: { enabled: true, available: lastError === undefined, ...(lastError === undefined ? {} : { error: lastError }) },
    vector: { enabled: mode !== "fts-only", available: mode !== "fts-only", backend: "in-process" },
    cache: { enabled: false, entries: 0, maxEntries: 0 },
    batch: { enabled: false, failures: 0, limit: 0 },
    custom: { searchMode: mode },
  };
}

/** Figures of a state. */
export function figuresOf({ files, chunks, dirty, backend }: MemoryStatus): MemoryFigures {
  return { files, chunks, dirty, provider: backend };
}
