import type { HealthPart, MemoryFigures } from "svc/sdk";
import type { MemoryService } from "./service.ts";

/** Part `memoryIndex` (`memory` is the process memory there) of the health snapshot, from figures at hand: no index is opened or asked for it. */
export function memoryHealth(memory: MemoryService): HealthPart {
  const value: Record<string, MemoryFigures> = {};
  const problems: string[] = [];
  for (const agent of memory.agents) {
    const { agentId, enabled, sharedWith } = agent.settings;
    const lastError = agent.state()?.lastError;
    const figures = memory.figures(agentId);
    if (figures) value[agentId] = figures;
    const view = memory.provider(agentId).view();
    if (enabled && sharedWith.length > 0) problems.push(`${agentId}: shares its index with ${sharedWith.join(", ")}`);
    else if (enabled && view.state === "unavailable") problems.push(`${agentId}: ${view.error}`);
    else if (enabled && lastError !== undefined) problems.push(`${agentId}: ${lastError}`);
  }
  return {
    part: "memoryIndex",
    ok: problems.length === 0,
    critical: false,
    value,
    ...(problems.length > 0 ? { message: problems.join("; ") } : {}),
  };
}
