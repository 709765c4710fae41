import type { HookEvent } from "svc/sdk";
import { showsCitations } from "./citations.ts";
import type { AgentMemorySettings } from "./settings.ts";

const toolNames = ["memory_search", "memory_get"];

/** Takes the tools from agents without memory; tells the others whether to name their sources. */
export function buildPrompt(
  event: HookEvent<"prompt.build">,
  settings: readonly AgentMemorySettings[],
): HookEvent<"prompt.build"> | undefined {
  const own = settings.find((one) => one.agentId === event.agentId);
  if (!own?.enabled) return { ...event, tools: event.tools.filter((name) => !toolNames.includes(name)) };
  if (!event.tools.includes("memory_search")) return undefined;
  const sentence = showsCitations(own.citations, event.sessionKey)
    ? "When an answer rests on memory, name the place as `Source: <path#line>`."
    : "Do not mention paths or line numbers of memory files unless the user asks for them.";
  return { ...event, system: [...event.system, sentence] };
}
