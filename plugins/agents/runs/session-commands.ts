import { agentSetting, isSvcError, messageOf, oneLine, type RunRequest, type SessionRow } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { formatDollars, fromNanos } from "../models/cost.ts";
import { compactSession } from "../sessions/compact.ts";
import { createSession } from "../sessions/create.ts";
import { patchSession } from "../sessions/patch.ts";
import { newSession } from "../sessions/row.ts";
import { narrowedTools, originOf } from "../tools/operator-tools.ts";
import { whereaboutsOf } from "../tools/place.ts";
import { answeredCommand, type Command, rememberAnswer } from "./commands.ts";

const levels = ["off", "minimal", "low", "medium", "high"] as const;
/** Models and tools that one answer names. */
const MAX_MODELS = 20;
const MAX_TOOLS = 60;
/** Longest text that says what a summary is to dwell on. */
const MAX_FOCUS_CHARS = 500;
/** An argument is shown to its author up to here. */
const MAX_SHOWN_CHARS = 64;
/** Word that takes a setting back. */
const DEFAULT = "default";

/** Commands about the session that a chat message is in, by name. */
export const sessionCommands = ["model", "think", "compact", "usage", "tools"] as const;

export interface SessionCommand extends Command {
  name: (typeof sessionCommands)[number];
  /** Text behind the name. */
  argument: string;
  /** Where it comes from, and who wrote it: they decide which tools its run would have. */
  from: Pick<RunRequest, "actor" | "tools" | "isOwner" | "place">;
}

/** Does a command about a session. @returns the answer for its sender */
export function obeyForSession(kit: Kit, command: SessionCommand): Promise<string> {
  const { name, argument } = command;
  if (name === "model") return argument === "" ? modelText(kit, command) : setModel(kit, command);
  if (name === "think") return argument === "" ? thinkText(kit, command) : setThinking(kit, command);
  if (name === "compact") return compact(kit, command);
  if (argument !== "") return Promise.resolve(`/${name} stands alone; nothing was done.`);
  return name === "usage" ? usageText(kit, command) : toolsText(kit, command);
}

async function modelText(kit: Kit, { agentId, sessionKey }: SessionCommand): Promise<string> {
  const session = await kit.store().sessions.get(sessionKey);
  const listed = Object.entries(kit.config.agents.defaults.models ?? {}).map(([ref, { alias }]) => (alias ? `${alias} (${ref})` : ref));
  return [
    `Model: ${modelOf(kit, { agentId, session })}${session?.model === undefined ? "" : ", chosen for this conversation"}`,
    ...(listed.length === 0 ? [] : [`There are: ${listed.slice(0, MAX_MODELS).join(", ")}${listed.length > MAX_MODELS ? " …" : ""}`]),
    "/model <name> chooses another one, /model default takes that back.",
  ].join("\n");
}

function modelOf(kit: Kit, { agentId, session }: { agentId: string; session: SessionRow | undefined }): string {
  const standard = kit.models.standard(kit.directory.get(agentId));
  return session?.model ?? (standard ? `${standard.provider}/${standard.model}` : "the first one that is available");
}

async function setModel(kit: Kit, command: SessionCommand): Promise<string> {
  const named = command.argument;
  try {
    const model = named.toLowerCase() === DEFAULT ? null : named;
    const { model: chosen } = await patch(kit, command, { model });
    return chosen === undefined ? "The model is the agent's own again." : `The model of this conversation is ${chosen}.`;
  } catch (error) {
    if (isSvcError(error, "invalid-model")) return `There is no model "${named.slice(0, MAX_SHOWN_CHARS)}" here; nothing was changed.`;
    if (isSvcError(error, "model-not-allowed")) return "This model is not allowed for this agent; nothing was changed.";
    throw error;
  }
}

async function thinkText(kit: Kit, { agentId, sessionKey }: SessionCommand): Promise<string> {
  const own = (await kit.store().sessions.get(sessionKey))?.thinkingLevel;
  const level = own ?? agentSetting(kit.config, agentId, "thinkingDefault") ?? "low";
  return `Thinking: ${level}${own === undefined ? "" : ", chosen for this conversation"}\n/think ${levels.join(", ")} or ${DEFAULT} changes it.`;
}

async function setThinking(kit: Kit, command: SessionCommand): Promise<string> {
  const word = command.argument.toLowerCase();
  const level = levels.find((one) => one === word);
  if (!level && word !== DEFAULT) return `Expected ${levels.join(", ")} or ${DEFAULT}; nothing was changed.`;
  await patch(kit, command, { thinkingLevel: level ?? null });
  return level ? `Thinking in this conversation: ${level}.` : "Thinking is as the agent has it again.";
}

/** Repeated it has the same effect. */
async function patch(kit: Kit, { agentId, sessionKey }: SessionCommand, change: Parameters<typeof patchSession>[2]): Promise<SessionRow> {
  await createSession(kit, { key: sessionKey, agentId });
  return patchSession(kit, sessionKey, change);
}

async function compact(kit: Kit, command: SessionCommand): Promise<string> {
  const answered = await answeredCommand(kit, command.family, command.key);
  const compacted = answered ? answered.compacted === true : await compactOnce(kit, command);
  if (compacted === undefined) return "The conversation could not be made shorter now; please try again later.";
  return compacted ? "Older messages of this conversation are a summary now." : "This conversation is short enough already.";
}

/** @returns undefined when it failed */
async function compactOnce(kit: Kit, command: SessionCommand): Promise<boolean | undefined> {
  const { key, sessionKey, argument } = command;
  if (!(await kit.store().sessions.get(sessionKey))) return false;
  try {
    const { compacted } = await compactSession(kit, sessionKey, argument === "" ? {} : { focus: oneLine(argument, MAX_FOCUS_CHARS) });
    await rememberAnswer(kit, command, { runId: key, status: "ok", compacted });
    return compacted;
  } catch (error) {
    if (!isSvcError(error, "compaction-failed") && !isSvcError(error, "session-replaced")) throw error;
    kit.ctx.logger.warn("a conversation was not compacted", { sessionKey, error: messageOf(error) });
    return undefined;
  }
}

async function usageText(kit: Kit, { agentId, sessionKey }: SessionCommand): Promise<string> {
  const session = await kit.store().sessions.get(sessionKey);
  const { inputTokens = 0, outputTokens = 0, totalTokens = 0, costNanos } = session ?? {};
  return [
    `Model: ${modelOf(kit, { agentId, session })}`,
    `Tokens of this conversation: ${inputTokens} in, ${outputTokens} out; ${totalTokens} in the last request and its answer`,
    costNanos === undefined
      ? "Cost: not known; no price is configured for its model."
      : `Cost, as far as prices are known: ${formatDollars(fromNanos(costNanos))}`,
  ].join("\n");
}

/** The tools of a run that the same author begins in the same place. */
async function toolsText(kit: Kit, { agentId, sessionKey, from }: SessionCommand): Promise<string> {
  await kit.tools.ready();
  const session = (await kit.store().sessions.get(sessionKey)) ?? newSession(sessionKey, agentId, kit.ctx.clock.now());
  const { actor, isOwner = false } = from;
  const request = { trigger: "user" as const, actor, ...whereaboutsOf(kit, from) };
  const origin = originOf({ request, session, events: [] });
  const tools = narrowedTools(request, origin);
  const specs = kit.tools.specs(kit.directory.get(agentId), { origin, request: { isOwner, ...(tools ? { tools } : {}) } });
  const names = specs.map(({ name }) => name);
  if (names.length === 0) return "The agent has no tools in this conversation.";
  return `Tools in this conversation: ${names.slice(0, MAX_TOOLS).join(", ")}${names.length > MAX_TOOLS ? ` and ${names.length - MAX_TOOLS} more` : ""}`;
}
