import type { AgentMemorySettings } from "../settings.ts";
import type { DreamPlace } from "./sweep.ts";

/** Workspaces that are swept: those of the agents that have a memory, each once, however many agents share it. Pure. */
export function dreamPlaces(settings: readonly AgentMemorySettings[]): DreamPlace[] {
  const places = new Map<string, string[]>();
  for (const { agentId, enabled, index } of settings) {
    if (!enabled) continue;
    const sharing = places.get(index.workspace);
    if (sharing) sharing.push(agentId);
    else places.set(index.workspace, [agentId]);
  }
  return [...places].map(([workspace, agentIds]) => ({ workspace, agentIds }));
}
