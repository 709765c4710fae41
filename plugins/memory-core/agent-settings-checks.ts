import type { SvcError } from "svc/sdk";
import { memoryErrors } from "./errors.ts";
import type { AgentMemorySettings } from "./settings.ts";

/** Compares the settings that determine the index and its background work; the rest is read at each search. */
export function needsSameIndex(a: AgentMemorySettings, b: AgentMemorySettings): boolean {
  const made = ({ enabled, index, sync, sharedWith }: AgentMemorySettings) => JSON.stringify({ enabled, index, sync, sharedWith });
  return made(a) === made(b);
}

/** Returns why an agent has no memory by its configuration. */
export function refusalOf(settings: AgentMemorySettings): SvcError | undefined {
  const { agentId, index, sharedWith } = settings;
  if (!settings.enabled) return memoryErrors.memoryDisabled({ agentId });
  if (sharedWith.length === 0) return undefined;
  const agents = [agentId, ...sharedWith].sort().join(", ");
  return memoryErrors.memoryStoreShared({ agents, path: index.dbPath, token: "{agentId}" });
}
