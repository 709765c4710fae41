import type { HealthPart } from "svc/sdk";
import type { MemoryService } from "./service.ts";

/** Part `memoryIndex` (`memory` is the process memory there) of the health snapshot, from figures at hand: no index is opened or asked for it. */
export function memoryHealth(memory: MemoryService): HealthPart {
  const value: Record<string, { files: number; chunks: number; dirty: boolean; provider: string }> = {};
  const problems: string[] = [];
  for (const agent of memory.agents) {
    const { agentId, enabled, sharedWith } = agent.settings;
    const { files, chunks, dirty, lastError } = agent.state() ?? { files: 0, chunks: 0, dirty: true };
    value[agentId] = { files, chunks, dirty, provider: "none" };
    if (enabled && sharedWith.length > 0) problems.push(`${agentId}: shares its index with ${sharedWith.join(", ")}`);
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
