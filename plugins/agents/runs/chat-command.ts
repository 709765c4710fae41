import { type Agents, type ChatCommand, isSvcError, messageOf, type RunRequest } from "svc/sdk";
import { type Kit, runsOf } from "../kit.ts";
import { helpText } from "./command-list.ts";
import {
  answeredCommand,
  type Command,
  isResetMessage,
  isStopMessage,
  queueByMessage,
  queueModeAsked,
  rememberAnswer,
  resetByMessage,
  splitReset,
} from "./commands.ts";
import type { Runner } from "./runner.ts";
import { obeyForSession, type SessionCommand, sessionCommands } from "./session-commands.ts";

type FoundCommand = NonNullable<ReturnType<Agents["commandOf"]>>;
/** Parts of the kit that tell commands from messages. */
export type CommandNames = Pick<Kit, "config" | "chatCommands">;

/** Names the command that a message is; a reset may have a message for the agent behind it. */
export function chatCommandOf(kit: CommandNames, message: string): FoundCommand | undefined {
  const text = message.trim();
  if (/^\/(?:help|status)$/.test(text)) return { name: text === "/help" ? "help" : "status", rest: "" };
  if (isStopMessage(text)) return { name: "stop", rest: "" };
  if (/^\/queue(?:\s+\S+)?$/.test(text)) return { name: "queue", rest: "" };
  const session = sessionCommandIn(text);
  if (session) return { name: session.name, rest: "" };
  const reset = splitReset(kit.config.session.resetTriggers, text);
  if (reset) return { name: reset.reason, rest: reset.rest };
  const own = pluginCommandIn(kit, text)?.command;
  return own && { name: "plugin", rest: "", ...(own.isForOwners ? { isForOwners: true } : {}) };
}

/** Scope that a message needs of a client: that of the method which does the same as its command. */
export function scopeOfMessage(kit: CommandNames, message: string): "write" | "approvals" | "admin" {
  const found = chatCommandOf(kit, message);
  const own = found?.name === "plugin" ? pluginCommandIn(kit, message.trim()) : undefined;
  if (own) return own.command.scopeFor?.(own.argument) ?? own.command.scope;
  const isReset = isResetMessage(kit.config.session.resetTriggers, message);
  return isReset || sessionCommandIn(message.trim())?.name === "compact" ? "admin" : "write";
}

function pluginCommandIn({ chatCommands }: CommandNames, text: string): { command: ChatCommand; argument: string } | undefined {
  const name = /^\/([a-z][a-z-]{0,31})(?:\s|$)/.exec(text)?.[1];
  if (name === undefined) return undefined;
  for (const { value } of chatCommands) if (value.name === name) return { command: value, argument: text.slice(name.length + 1).trim() };
  return undefined;
}

function sessionCommandIn(text: string): Pick<SessionCommand, "name" | "argument"> | undefined {
  const name = sessionCommands.find((one) => text.startsWith(`/${one}`) && /^(?:\s|$)/.test(text.slice(one.length + 1)));
  return name && { name, argument: text.slice(name.length + 1).trim() };
}

type CommandRequest = Parameters<Agents["command"]>[0];

/** Does what a message of a chat commands. Under the same key it is done once. @param actor its author; default: somebody on a channel */
export async function obeyInChat(
  request: CommandRequest,
  {
    kit,
    runner,
    actor = { kind: "channel", scopes: [] },
    family = "chat",
  }: { kit: Kit; runner: Runner; actor?: RunRequest["actor"]; family?: Command["family"] },
): Promise<{ text: string } | undefined> {
  const { key, agentId, sessionKey } = request;
  const found = chatCommandOf(kit, request.message);
  if (!found) return undefined;
  const own = found.name === "plugin" ? pluginCommandIn(kit, request.message.trim()) : undefined;
  if (own) return { text: await obeyPlugin(own, { kit, request, actor }) };
  if (found.name === "help") return { text: helpText(kit) };
  if (found.name === "status") return { text: await statusText(kit, { agentId, sessionKey }) };
  const command: Command = { family, key, agentId, sessionKey };
  const session = sessionCommandIn(request.message.trim());
  if (session) return { text: await obeyForSession(kit, { ...command, ...session, from: authorOf(request, actor) }) };
  if (found.name === "queue") return { text: await setQueue(kit, command, request.message.trim()) };
  if (found.name === "new" || found.name === "reset") {
    if (!(await answeredCommand(kit, family, key))) await resetByMessage(kit, { ...command, reason: found.name });
    return { text: "A new conversation begins." };
  }
  const answered = await answeredCommand(kit, family, key);
  const runIds = answered ? [] : runner.abortSession(sessionKey, "rpc");
  const said = answered ?? (await rememberAnswer(kit, command, { runId: key, status: "ok", aborted: runIds.length > 0, runIds }));
  return { text: said.aborted === true ? "Stopped." : "There was nothing to stop." };
}

function authorOf({ tools, isOwner, place }: CommandRequest, actor: RunRequest["actor"]): SessionCommand["from"] {
  return { actor, ...(tools ? { tools } : {}), ...(isOwner ? { isOwner } : {}), ...(place ? { place } : {}) };
}

/** Does a command of a plugin. Its failure is an answer: the chat goes on. */
async function obeyPlugin(
  { command, argument }: { command: ChatCommand; argument: string },
  { kit, request, actor }: { kit: Kit; request: CommandRequest; actor: RunRequest["actor"] },
): Promise<string> {
  const { agentId, sessionKey, by = actor.connId ?? actor.kind } = request;
  try {
    return await command.run({ agentId, sessionKey, argument, by });
  } catch (error) {
    if (isSvcError(error)) return error.message;
    kit.ctx.logger.error(`/${command.name} failed`, { error: messageOf(error) });
    return `/${command.name} failed; the log of the gateway says why.`;
  }
}

async function setQueue(kit: Kit, command: Command, message: string): Promise<string> {
  try {
    const mode = queueModeAsked(message) ?? null;
    if (!(await answeredCommand(kit, command.family, command.key))) await queueByMessage(kit, { ...command, mode });
    return mode === null ? "Messages are queued as the config says." : `Messages are queued by: ${mode}.`;
  } catch (error) {
    if (isSvcError(error, "invalid-queue-mode")) return error.message;
    throw error;
  }
}

async function statusText(kit: Kit, { agentId, sessionKey }: { agentId: string; sessionKey: string }): Promise<string> {
  const agent = kit.directory.get(agentId);
  const session = await kit.store().sessions.get(sessionKey);
  const atWork = runsOf(kit, sessionKey).length;
  return [
    `Agent: ${agent.name ?? agent.id}`,
    `Model: ${session?.model ?? agent.models[0] ?? "the first one that is available"}`,
    `Tokens of this conversation: ${(session?.inputTokens ?? 0) + (session?.outputTokens ?? 0)}`,
    atWork === 0 ? "Idle." : `At work on ${atWork} ${atWork === 1 ? "message" : "messages"}.`,
  ].join("\n");
}
