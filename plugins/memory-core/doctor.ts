import type { DoctorFinding, MemoryStatus, PluginContext } from "svc/sdk";
import type { MemoryService } from "./service.ts";

/** Evidence about one agent's memory. */
export interface MemoryEvidence {
  status: MemoryStatus;
  /** Engine that the config names. */
  backend: string;
  /** Model that made the vectors of the live index. */
  vectors: { provider: string; model: string } | undefined;
  /** Another process that rebuilds this index. */
  lockedBy: number | undefined;
  /** Unfinished databases that nobody works on, older than an hour. */
  orphans: string[];
}

/** Checks of `svc doctor` (`memory/*`). Without `deep` no provider is called. */
export function registerMemoryDoctor(ctx: Pick<PluginContext, "on">, memory: MemoryService): void {
  ctx.on("doctor.collect", async ({ deep }, meta) => {
    const read = await Promise.all(
      memory.agents
        .filter(({ settings }) => settings.enabled && settings.sharedWith.length === 0)
        .map(async (agent) => {
          const { leftoversOf } = await import("./index-leftovers.ts");
          const { agentId, index, backend } = agent.settings;
          const status = await memory.status(agentId, { deep });
          const vectors = agent.state()?.vectors;
          for (const one of memoryFindings({ status, backend, vectors, ...(await leftoversOf(index.dbPath)) })) meta.report(one);
          return status;
        }),
    );
    for (const one of withoutProvider(read)) meta.report(one);
  });
}

/** Findings about one agent's memory. Pure. */
export function memoryFindings(evidence: MemoryEvidence): DoctorFinding[] {
  const { status, lockedBy, orphans } = evidence;
  const locked: DoctorFinding = {
    id: "memory/locked",
    severity: "warning",
    path: status.dbPath,
    message: `agent "${status.agentId}": the index is being rebuilt by process ${lockedBy}; expected this gateway alone`,
    fix: "wait for that process or stop it",
  };
  return [
    ...backendFindings(evidence),
    ...identityFindings(evidence),
    ...embeddingFindings(evidence),
    ...vectorFindings(status),
    ...leftOutFindings(status),
    ...(lockedBy === undefined ? [] : [locked]),
    ...orphans.map(
      (path): DoctorFinding => ({
        id: "memory/orphan-temp",
        severity: "warning",
        path,
        message: "an unfinished index that no process works on any more",
        fix: "svc doctor --fix deletes it",
        fixable: true,
      }),
    ),
  ];
}

function backendFindings({ status, backend }: MemoryEvidence): DoctorFinding[] {
  const { agentId, fallback } = status;
  if (fallback?.from !== backend) return [];
  return [
    {
      id: "memory/backend",
      severity: "warning",
      path: "memory.backend",
      message: `agent "${agentId}": the builtin engine searches in the place of "${backend}": ${fallback.reason}`,
      fix: `svc memory index --force --agent ${agentId} asks it again at once; it is asked again by itself within 15 minutes`,
    },
  ];
}

/** Vectors of two models are never compared, so until the index is rebuilt only words are searched. */
function identityFindings({ status, vectors }: MemoryEvidence): DoctorFinding[] {
  const { agentId, provider, model, syncing } = status;
  if (!vectors || provider === "none" || syncing) return [];
  if (vectors.provider === provider && vectors.model === model) return [];
  const held = `${vectors.provider} ${vectors.model}`;
  return [
    {
      id: "memory/index-identity",
      severity: "warning",
      path: `agents.list[id=${agentId}].memorySearch`,
      message: `agent "${agentId}": the index holds vectors of ${held}, and the provider is ${provider} ${model}; only words are searched`,
      fix: `svc doctor --fix rebuilds it, and so does: svc memory index --force --agent ${agentId}`,
      fixable: true,
    },
  ];
}

/** Nothing is missing without the extension; only what must be compared before, or without, the matrix in memory takes longer. */
function vectorFindings({ agentId, vector }: MemoryStatus): DoctorFinding[] {
  if (!vector.enabled || vector.loadError === undefined) return [];
  return [
    {
      id: "memory/sqlite-vec",
      severity: "warning",
      path: `agents.list[id=${agentId}].memorySearch.store.vector`,
      message: `agent "${agentId}": ${vector.loadError}; vectors are compared in the process instead`,
      fix: "install svc again with its optional packages, or set store.vector.extensionPath; store.vector.enabled: false turns this finding off",
    },
  ];
}

function leftOutFindings({ agentId, leftOut }: MemoryStatus): DoctorFinding[] {
  if (!leftOut) return [];
  const [first] = leftOut.documents;
  const others = leftOut.total - 1;
  const subject = others === 0 ? `${first?.path} is` : `${first?.path} and ${others} more are`;
  return [
    {
      id: "memory/left-out",
      severity: "warning",
      path: `agents.list[id=${agentId}].memorySearch`,
      message: `agent "${agentId}": ${subject} not in the index: ${first?.reason}`,
      fix: `svc memory status --agent ${agentId} lists everything that is left out`,
    },
  ];
}

function embeddingFindings({ status, backend }: MemoryEvidence): DoctorFinding[] {
  const { agentId, provider, providerError, fallback, probe } = status;
  const finding = (severity: DoctorFinding["severity"], message: string, fix?: string): DoctorFinding => ({
    id: "memory/embeddings",
    severity,
    path: `agents.list[id=${agentId}].memorySearch.provider`,
    message: `agent "${agentId}": ${message}`,
    ...(fix === undefined ? {} : { fix }),
  });
  if (isUndetected(status)) return [];
  const found: DoctorFinding[] = [];
  if (fallback && fallback.from !== backend)
    found.push(finding("warning", `${provider} is used instead of ${fallback.from}: ${fallback.reason}`, "svc memory index --force"));
  if (probe?.ok === false) found.push(finding("warning", `${provider} gave no vector: ${probe.error ?? "unknown reason"}`));
  else if (providerError !== undefined) found.push(finding("warning", providerError, "svc memory status --deep"));
  return found;
}

/** One finding for all agents that have no embedding provider, because none has what it needs. Pure. */
export function withoutProvider(all: readonly MemoryStatus[]): DoctorFinding[] {
  const agents = all.filter(isUndetected).map(({ agentId }) => agentId);
  if (agents.length === 0) return [];
  return [
    {
      id: "memory/embeddings",
      severity: "info",
      path: "agents.defaults.memorySearch.provider",
      message: `no embedding provider is set up (${agents.length === 1 ? "agent" : "agents"} ${agents.join(", ")}), so only words are searched`,
      fix: "set the key of a vendor, or memorySearch.provider; svc memory status --deep says what each one lacks",
    },
  ];
}

function isUndetected({ provider, requestedProvider, providerError }: MemoryStatus): boolean {
  return provider === "none" && requestedProvider === "auto" && providerError !== undefined;
}
