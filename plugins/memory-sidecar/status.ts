import { type MemoryBackendStatus, type MemoryStatus, messageOf, withLimit } from "svc/sdk";
import type { ManagerState, SidecarManager } from "./manager.ts";

/** A status waits so long for the engine's figures. */
const FIGURES_MS = 3_000;

/** State of one agent's sidecar. Never throws: what is wrong stands in `lastError`. */
export async function statusOf(manager: SidecarManager, { deep }: { deep: boolean }): Promise<MemoryBackendStatus> {
  const startedAt = performance.now();
  const failure = await withLimit(manager.readFigures(), FIGURES_MS, () => {
    throw new Error(`the engine did not tell its state within ${FIGURES_MS} ms`);
  }).then(
    () => undefined,
    (error: unknown) => messageOf(error),
  );
  const ms = Math.round(performance.now() - startedAt);
  const probe = failure === undefined ? { ok: true, ms } : { ok: false, ms, error: failure };
  return { ...describe(manager, manager.state(), failure), ...(deep ? { probe } : {}) };
}

function describe({ settings, home }: SidecarManager, state: ManagerState, failure: string | undefined): MemoryBackendStatus {
  const lastError = failure ?? state.lastError ?? state.embedError ?? collectionsError(state);
  return {
    agentId: settings.agentId,
    backend: "sidecar",
    workspace: settings.workspace,
    files: state.files ?? 0,
    dirty: state.isDirty,
    syncing: state.isUpdating,
    dbPath: home.database,
    sources: [...new Set(settings.collections.map(({ source }) => source))],
    vector: vectorOf(state),
    custom: { searchMode: state.mode },
    ...(state.lastUpdateAt === undefined ? {} : { lastSyncAt: state.lastUpdateAt }),
    ...(state.lastUpdateMs === undefined ? {} : { lastSyncMs: Math.round(state.lastUpdateMs) }),
    ...(lastError === undefined ? {} : { lastError }),
  };
}

function collectionsError({ failedCollections }: ManagerState): string | undefined {
  const [first] = failedCollections;
  const more = failedCollections.length - 1;
  return first && `collection ${first.name}${more > 0 ? ` and ${more} more` : ""} could not be created: ${first.reason}`;
}

function vectorOf({ vectors }: ManagerState): MemoryStatus["vector"] {
  if (vectors !== undefined && vectors > 0) return { enabled: true, available: true, backend: "sqlite-vec" };
  return { enabled: true, available: false, backend: "sqlite-vec", ...(vectors === 0 ? { loadError: "there are no vectors yet" } : {}) };
}
