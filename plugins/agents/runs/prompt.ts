import { agentSetting, type ModelToolSpec, type RunSurface, type SessionRow } from "svc/sdk";
import { whileAlive } from "../common/abort.ts";
import { digestOf } from "../common/digest.ts";
import { optionalService } from "../common/optional-service.ts";
import type { Kit } from "../kit.ts";
import { isStatelessKey } from "../sessions/stateless-key.ts";
import { conversation } from "./conversation.ts";
import type { PromptMessage } from "./replay-to-model.ts";
import type { Run } from "./run.ts";
import { type Citations, systemParts, withTools } from "./system-prompt.ts";
import { textTokens, toolsTokens } from "./tokens.ts";

/** Before a model is asked. */
const LEAST_ROOM_TOKENS = 4_096;
/** Of each text of the first message, what tells conversations apart. */
const OPENING_CHARS = 4_000;

export interface Prompt {
  system: string;
  /** The same for a request that offers no tools of the agent. */
  systemWithoutTools: string;
  /** Parts of both, with an empty line between them. */
  parts: readonly string[];
  partsWithoutTools: readonly string[];
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
  // By name: the order in which plugins were loaded is no part of a prompt that is to stay the same.
  const specs = kit.tools.specs(run.agent, run).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const names = specs.map((s) => s.name);
  const citations = names.includes("memory_search") ? citationsFor(run, kit, isGroup) : "none";
  const hookedParts = await hooked(run, kit, { system: systemParts(run.agent, { files, citations, tools: names }), tools: names });
  const partsFor = (to: readonly string[]) => {
    const stable = withTools(hookedParts.system, { from: names, to, citations });
    return [...stable, situation(run), run.request.extraSystem ?? "", ...hookedParts.context].filter((p) => p !== "");
  };
  const tools = specs.filter((s) => hookedParts.tools.includes(s.name));
  const parts = partsFor(tools.map((s) => s.name));
  const partsWithoutTools = partsFor([]);
  const system = parts.join("\n\n");
  const messages = await conversation(run, kit);
  return {
    system,
    systemWithoutTools: partsWithoutTools.join("\n\n"),
    parts,
    partsWithoutTools,
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
  const event = { ...ids, trigger, prompt: run.prompt, surface: surfaceOf(run), ...parts, ...(place ? { place } : {}) };
  const changed = await whileAlive(kit.ctx.runHook("prompt.build", event, meta), run.signal);
  run.trace.remark(changed.notes ?? []);
  return { system: changed.system, context: changed.context, tools: changed.tools.filter((t) => parts.tools.includes(t)) };
}

function surfaceOf({ family, request }: Run): RunSurface {
  return family === "chat" ? "webchat" : request.actor.kind;
}

/** Asks the memory how it cites, because the answer has to do the same; `auto` cites in direct chats only. */
function citationsFor({ agent }: Run, kit: Kit, isGroup: boolean): Citations {
  const mode = optionalService(kit.ctx, "memory@1")?.citations?.(agent.id) ?? "auto";
  if (mode === "off") return "hide";
  return mode === "on" || !isGroup ? "invite" : "none";
}

/** Where the agent is. It stays the same as long as the session does: the time is told with each message. */
function situation({ sessionKey, request, agent }: Run): string {
  // The random name of a session of its own would keep the vendor's cache from covering the conversation that a request carries.
  const isStateless = isStatelessKey(sessionKey);
  const session = isStateless ? "" : `Session: ${sessionKey}. `;
  const channel = request.place && (isStateless || request.actor.kind === "http") ? `Channel: ${request.place.channel}. ` : "";
  return `# Here\n\n${session}${channel}Workspace: ${agent.workspace}`;
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
