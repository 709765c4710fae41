import type { PluginContext } from "svc/sdk";
import { type BackedMemory, createBackedMemory } from "./backend/backed-memory.ts";
import { createFigures } from "./figures.ts";
import { holdUnderPressure } from "./hold.ts";
import { createMemoryService } from "./service.ts";
import type { SessionFeed } from "./sessions/feed.ts";
import type { AgentMemorySettings } from "./settings.ts";

/** Opens the memory of all agents: the builtin engine, and before it the backend that the config names. */
export function openMemory(ctx: PluginContext, settings: readonly AgentMemorySettings[], sessions: SessionFeed): BackedMemory {
  const gateway = ctx.service("gateway@1");
  const figures = createFigures(ctx);
  const onChanged = () => gateway.invalidateHealth();
  const builtin = createMemoryService(ctx, settings, {
    onChanged,
    // Accepting work would be wrong: agents would answer without their notes.
    onOutage(problem) {
      gateway.setReadiness("memoryIndex", problem);
      gateway.invalidateHealth();
    },
    ...figures,
    transcripts: sessions.transcripts,
    isFollowed: (agentId) => !memory.isBacked(agentId),
    threads: { hold: holdUnderPressure(ctx) },
  });
  const memory: BackedMemory = createBackedMemory(ctx, builtin, {
    onChanged,
    onSearched: figures.onSearched,
    transcripts: sessions.forBackends,
  });
  return memory;
}
