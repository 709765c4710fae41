import { type AgentInfo, agentSetting, type ModelToolSpec, type SessionRow } from "svc/sdk";
import { whileAlive } from "../common/abort.ts";
import { digestOf } from "../common/digest.ts";
import { optionalService } from "../common/optional-service.ts";
import type { Kit } from "../kit.ts";
import { isStatelessKey } from "../sessions/stateless.ts";
import { conversation } from "./conversation.ts";
import type { PromptMessage } from "./replay-to-model.ts";
import type { Run } from "./run.ts";
import { textTokens, toolsTokens } from "./tokens.ts";

/** Before a model is asked. */
const LEAST_ROOM_TOKENS = 4_096;
/** Of each text of the first message, what tells conversations apart. */
const OPENING_CHARS = 4_000;

export interface Prompt {
  system: string;
  /** The same for a request that offers no tools of the agent. */
  systemWithoutTools: string;
  tools: ModelToolSpec[];
  messages: PromptMessage[];
  /** Tokens of the system prompt and the tools. */
  fixed: number;
  /** Tokens that the messages may take, as the model that was asked last has it. */
  room: number;
  thinking: string;
  /** The same for all requests of one conversation. */
  cacheKey: string;
}

/** Everything a model gets to read. No directory is listed and nothing is read again that did not change. */
export async function buildPrompt(run: Run, kit: Kit): Promise<Prompt> {
  const session = await kit.store().sessions.get(run.sessionKey);
  const isGroup = session?.kind === "group";
  const now = kit.ctx.clock.now();
  const files = await kit.workspace.read(run.agent, { memory: !isGroup, heartbeat: run.request.trigger === "heartbeat", now });
  await kit.tools.ready();
  const specs = kit.tools.specs(run.agent, run);
  const hasMemory = specs.some((s) => s.name === "memory_search");
  const citations = hasMemory ? citationsFor(run, kit, isGroup) : "none";
  const parts = await hooked(run, kit, {
    system: systemParts(run.agent, { files, hasMemory, citations }),
    tools: specs.map((s) => s.name),
  });
  const toText = (stable: readonly string[]) =>
    [...stable, situation(run, now), ...parts.context, run.request.extraSystem ?? ""].filter((p) => p !== "").join("\n\n");
  const system = toText(parts.system);
  const advice = memoryAdvice(citations);
  const messages = await conversation(run, kit);
  const tools = specs.filter((s) => parts.tools.includes(s.name));
  return {
    system,
    systemWithoutTools: toText(parts.system.filter((part) => part !== advice)),
    tools,
    fixed: textTokens(system) + toolsTokens([...tools, ...(run.request.clientTools ?? [])]),
    room: LEAST_ROOM_TOKENS,
    messages,
    thinking: thinkingOf(run, kit, session),
    cacheKey: isStatelessKey(run.sessionKey) ? digestOf([system, openingOf(messages)]) : digestOf([run.sessionKey, run.sessionId]),
  };
}

/** The messages with one more text of the user's side at their end. */
export function withText(messages: readonly PromptMessage[], text: string): PromptMessage[] {
  const last = messages.at(-1);
  const part = { type: "text" as const, text };
  // Not every vendor takes two messages of a user in a row.
  if (last?.role === "user") return [...messages.slice(0, -1), { ...last, content: [...last.content, part] }];
  return [...messages, { role: "user", content: [part] }];
}

type Parts = Record<"system" | "context" | "tools", readonly string[]>;

/** Text may be added freely: to the parts that stay the same, or as context of this run. Tools may only go. */
async function hooked(run: Run, kit: Kit, given: Pick<Parts, "system" | "tools">): Promise<Parts> {
  const parts = { ...given, context: [] };
  if (!kit.ctx.isHookUsed("prompt.build")) return parts;
  const ids = { agentId: run.agent.id, sessionKey: run.sessionKey };
  const meta = { signal: run.signal, runId: run.id, ...ids };
  const { trigger, place } = run.request;
  const event = { ...ids, trigger, ...parts, ...(place ? { place } : {}) };
  const changed = await whileAlive(kit.ctx.runHook("prompt.build", event, meta), run.signal);
  return { system: changed.system, context: changed.context, tools: changed.tools.filter((t) => parts.tools.includes(t)) };
}

/** The constant parts first, so that a vendor's prompt cache holds them. */
export function systemParts(
  agent: AgentInfo,
  given: { files: string; citations: "invite" | "none" | "hide"; hasMemory: boolean },
): string[] {
  const name = agent.identity.name ?? agent.name;
  return [
    `You are ${name ? `${name}, ` : ""}a personal assistant that runs inside the svc gateway. Answer in the language of the question.`,
    given.hasMemory ? memoryAdvice(given.citations) : "",
    given.files,
  ].filter((p) => p !== "");
}

function memoryAdvice(citations: "invite" | "none" | "hide"): string {
  const source = {
    invite: " When an answer rests on memory, end it with one line per passage: `Source: <path#Lstart-Lend>`.",
    none: "",
    hide: " Do not mention file paths or line numbers.",
  }[citations];
  return `# Memory\n\nBefore you answer anything about earlier work, decisions, dates, people, preferences or things to do, call memory_search; read more of a hit with memory_get. If memory has no answer, say so.${source}`;
}

/** Asks the memory how it cites, because the answer has to do the same; `auto` cites in direct chats only. */
function citationsFor({ agent }: Run, kit: Kit, isGroup: boolean): "invite" | "none" | "hide" {
  const mode = optionalService(kit.ctx, "memory@1")?.citations?.(agent.id) ?? "auto";
  if (mode === "off") return "hide";
  return mode === "on" || !isGroup ? "invite" : "none";
}

let days: Intl.DateTimeFormat | undefined;

/** Made once, with the first prompt: it takes longer to make than the rest of a prompt, and would be a fiftieth of a start. */
function dayFormat(): Intl.DateTimeFormat {
  days ??= new Intl.DateTimeFormat("en-GB", { weekday: "long", year: "numeric", month: "long", day: "numeric" });
  return days;
}

/** The date, not the time: a prompt that changes each minute is cached nowhere. */
function situation(run: Run, now: number): string {
  const days = dayFormat();
  const zone = days.resolvedOptions().timeZone;
  // The random name of a session of its own would keep the vendor's cache from covering the conversation that a request carries.
  const session = isStatelessKey(run.sessionKey) ? "" : ` Session: ${run.sessionKey}.`;
  const channel = run.request.place ? ` Channel: ${run.request.place.channel}.` : "";
  return `# Now\n\nToday is ${days.format(now)} (${zone}).${session}${channel} Workspace: ${run.agent.workspace}`;
}

/** The first words of a conversation. */
function openingOf(messages: readonly PromptMessage[]): string {
  const first = messages[0];
  if (first === undefined || first.role === "tool") return "";
  return first.content.flatMap((part) => (part.type === "text" ? [part.text.slice(0, OPENING_CHARS)] : [])).join("\n");
}

function thinkingOf(run: Run, kit: Kit, session: SessionRow | undefined): string {
  return run.request.thinking ?? session?.thinkingLevel ?? agentSetting(kit.config, run.agent.id, "thinkingDefault") ?? "low";
}
