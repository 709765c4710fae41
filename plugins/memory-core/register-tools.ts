import type { Disposable, PluginContext } from "svc/sdk";
import { memoryAppendTool } from "./append.ts";
import { createNoteHost } from "./note-files.ts";
import { createOwnWrites } from "./own-writes.ts";
import type { MemoryService } from "./service.ts";
import type { AgentMemorySettings } from "./settings.ts";
import { memoryGetTool, memorySearchTool, type SearchTaps, withoutMemoryTools } from "./tools.ts";

export interface ToolOptions {
  settings: readonly AgentMemorySettings[];
  /** Called with what a search of an agent has found. */
  recalled?: SearchTaps["after"];
}

/** Agents that have the tools: none of them stands in a prompt for nothing. */
export function registerTools(
  ctx: Pick<PluginContext, "registerTool" | "on" | "clock">,
  memory: MemoryService,
  { settings, recalled }: ToolOptions,
) {
  const kept: Disposable[] = [];
  const without = new Set(settings.filter((one) => !one.enabled).map((one) => one.agentId));
  if (without.size < settings.length) {
    const writes = createOwnWrites(ctx, memory);
    const taps: SearchTaps = { before: writes.caughtUp, ...(recalled ? { after: recalled } : {}) };
    kept.push(writes, ctx.registerTool(memorySearchTool(memory, taps)), ctx.registerTool(memoryGetTool(memory)));
    kept.push(ctx.registerTool(memoryAppendTool({ ...createNoteHost(memory), now: () => ctx.clock.now() })));
  }
  if (without.size > 0) kept.push(ctx.on("prompt.build", (event) => (without.has(event.agentId) ? withoutMemoryTools(event) : undefined)));
  return { key: toolsKey(settings), dispose: () => kept.forEach((one) => void one.dispose()) };
}

export function toolsKey(settings: readonly AgentMemorySettings[]): string {
  const without = settings.filter((one) => !one.enabled).map((one) => one.agentId);
  return JSON.stringify([without.length < settings.length, without]);
}
