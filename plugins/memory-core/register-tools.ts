import { commonErrors, type Disposable, type PluginContext } from "svc/sdk";
import { type AppendHost, memoryAppendTool } from "./append.ts";
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
    kept.push(ctx.registerTool(memoryAppendTool(appendHost(ctx, memory))));
  }
  if (without.size > 0) kept.push(ctx.on("prompt.build", (event) => (without.has(event.agentId) ? withoutMemoryTools(event) : undefined)));
  return { key: toolsKey(settings), dispose: () => kept.forEach((one) => void one.dispose()) };
}

function appendHost(ctx: Pick<PluginContext, "clock">, memory: MemoryService): AppendHost {
  return {
    workspaceOf(agentId) {
      memory.requireUsable(agentId);
      const agent = memory.agents.find(({ settings }) => settings.agentId === agentId);
      if (!agent) throw commonErrors.unknownAgent({ agentId });
      return agent.settings.index.workspace;
    },
    sync: (agentId, signal) => memory.sync(agentId, { reason: "note", signal }),
    now: () => ctx.clock.now(),
  };
}

export function toolsKey(settings: readonly AgentMemorySettings[]): string {
  const without = settings.filter((one) => !one.enabled).map((one) => one.agentId);
  return JSON.stringify([without.length < settings.length, without]);
}
