import type { HealthPart, MemoryFigures } from "svc/sdk";
import type { LeftOut } from "./engine/document-guard.ts";
import { explainSkip, isStall } from "./engine/skip-reasons.ts";
import type { MemoryService } from "./service.ts";

/** Part `memoryIndex` (`memory` is the process memory there) of the health snapshot, from figures at hand: no index is opened or asked for it. */
export function memoryHealth(memory: MemoryService): HealthPart {
  const value: Record<string, MemoryFigures> = {};
  const problems: string[] = [];
  for (const agent of memory.agents) {
    const { agentId, enabled, sharedWith } = agent.settings;
    const { lastError, leftOut } = agent.state() ?? {};
    const stalled = leftOut?.documents.filter(({ code }) => isStall(code)) ?? [];
    const figures = memory.figures(agentId);
    if (figures) value[agentId] = figures;
    const view = memory.provider(agentId).view();
    const replaced = enabled ? memory.backendProblem?.(agentId) : undefined;
    if (replaced !== undefined) problems.push(`${agentId}: ${replaced}`);
    if (enabled && sharedWith.length > 0) problems.push(`${agentId}: shares its index with ${sharedWith.join(", ")}`);
    else if (enabled && view.state === "unavailable") problems.push(`${agentId}: ${view.error}`);
    else if (enabled && lastError !== undefined) problems.push(`${agentId}: ${lastError}`);
    if (enabled && stalled.length > 0) problems.push(`${agentId}: ${stalledText(stalled)}`);
  }
  return {
    part: "memoryIndex",
    ok: problems.length === 0,
    critical: false,
    value,
    ...(problems.length > 0 ? { message: problems.join("; ") } : {}),
  };
}

/** Documents that health names; the status has the others. */
const MAX_NAMED = 3;

/** A document that stopped the index is a fault of the index; one that is too large or cannot be read is shown in the status alone. */
function stalledText(stalled: readonly LeftOut[]): string {
  const named = stalled.slice(0, MAX_NAMED).map(({ path, code }) => `${path} (${explainSkip(code)})`);
  const more = stalled.length > named.length ? ` and ${stalled.length - named.length} more; see svc memory status` : "";
  return `not in the index: ${named.join(", ")}${more}`;
}
