import type { JsonObject, ParamsOf, RpcCall, RunRequest } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { toAttachments } from "../runs/attachments.ts";
import { chatCommandOf, obeyInChat } from "../runs/chat-command.ts";
import {
  answeredCommand,
  type Command,
  isStopMessage,
  queueByMessage,
  queueModeAsked,
  rememberAnswer,
  resetByMessage,
  splitReset,
} from "../runs/commands.ts";
import { checkRoute } from "../runs/deliver.ts";
import { outcomeOf } from "../runs/outcome.ts";
import type { Runner, Started } from "../runs/runner.ts";
import { injectNote } from "../sessions/inject.ts";
import { finalAnswer } from "./run-result.ts";

/** A chat message with its place resolved. */
export type ChatMessage = Omit<ParamsOf<"chat.send">, "sessionKey" | "agentId"> & { sessionKey: string; agentId: string };

/**
 * Takes a chat message, or does what it commands; answers as soon as it is stored. The key is the id of the run, whatever else a repeat says.
 * @throws {SvcError} `run-failed` for a repeat of a run that failed, and as `Agents.run`
 */
export async function sendChat(message: ChatMessage, { call, kit, runner }: SendDeps): Promise<JsonObject> {
  const key = message.idempotencyKey;
  const known = await runner.known(key);
  if (known) return answer(key, known, call);
  const answered = await answeredCommand(kit, "chat", key);
  if (answered) return chatAnswer(answered);
  if (message.deliver) await checkRoute(kit, message);
  const commanded = await obey(message, { kit, runner, call });
  if (commanded) return chatAnswer(commanded);
  const reset = splitReset(kit.config.session.resetTriggers, message.message);
  const request = toRequest(message, call);
  const started = await runner.start(reset ? { ...request, message: reset.rest } : request, {
    family: "chat",
    ...(reset ? { fresh: reset.reason } : {}),
  });
  return answer(key, started, call);
}

interface SendDeps {
  call: RpcCall;
  kit: Kit;
  runner: Runner;
}

/** Commands whose answer is a text; the others are answered by what they do. */
const answered: ReadonlyArray<string | undefined> = ["help", "status", "model", "think", "compact", "usage", "tools", "plugin"];

/** A command that answers by a text, which stands in the session as a note: there it is once, and after a reload of the page too. */
async function answerInChat(message: ChatMessage, { kit, runner, call }: SendDeps): Promise<JsonObject | undefined> {
  const { sessionKey, agentId, idempotencyKey: key } = message;
  const found = chatCommandOf(kit, message.message);
  if (!answered.includes(found?.name) || (message.attachments?.length ?? 0) > 0) return undefined;
  const actor = { kind: "rpc" as const, scopes: call.client.scopes, connId: call.client.connId };
  const { identity, deviceId, clientId } = call.client;
  const by = identity ?? deviceId ?? clientId;
  const said = await obeyInChat({ key, agentId, sessionKey, message: message.message, by }, { kit, runner, actor });
  if (!said) return undefined;
  await injectNote(kit, sessionKey, { text: said.text, id: `${key}:command`, makeFor: agentId });
  return { runId: key, status: "ok" };
}

/** Messages that are commands and nothing else. Undefined: it is for the agent. */
async function obey(message: ChatMessage, { kit, runner, call }: SendDeps): Promise<JsonObject | undefined> {
  const { sessionKey, agentId, idempotencyKey: key } = message;
  const command: Command = { family: "chat", key, sessionKey, agentId };
  if (isStopMessage(message.message)) {
    const runIds = runner.abortSession(sessionKey, "rpc");
    return rememberAnswer(kit, command, { runId: key, status: "ok", aborted: runIds.length > 0, runIds });
  }
  const mode = queueModeAsked(message.message);
  if (mode !== undefined) return queueByMessage(kit, { ...command, mode });
  const said = await answerInChat(message, { kit, runner, call });
  if (said) return said;
  const reset = splitReset(kit.config.session.resetTriggers, message.message);
  const isBare = reset?.rest === "" && (message.attachments?.length ?? 0) === 0;
  return reset && isBare ? resetByMessage(kit, { ...command, reason: reset.reason }) : undefined;
}

function answer(runId: string, started: Started, call: RpcCall): JsonObject {
  if (started.state === "finished") {
    finalAnswer({ runId, sessionId: started.row.sessionId, outcome: outcomeOf(started.row) });
    return { runId, status: "ok" };
  }
  started.run.participants.add(call.client.connId);
  return { runId, status: started.state === "in_flight" ? "in_flight" : "started" };
}

/** Answer of a reset in a chat, which needs no details. */
function chatAnswer({ summary: _, result: __, sessionKey: ___, agentId: ____, ...answered }: JsonObject): JsonObject {
  return answered;
}

function toRequest(message: ChatMessage, call: RpcCall): RunRequest {
  const { sessionKey, agentId } = message;
  return {
    message: message.message,
    runId: message.idempotencyKey,
    trigger: "user",
    sessionKey,
    agentId,
    ...(message.attachments ? { attachments: toAttachments(message.attachments) } : {}),
    ...(message.thinking === undefined ? {} : { thinking: message.thinking }),
    ...(message.timeoutMs === undefined ? {} : { timeoutMs: message.timeoutMs }),
    ...(message.queueMode === undefined ? {} : { queueMode: message.queueMode }),
    // An answer that goes out is that of one message: it is not put together with others.
    ...(message.deliver ? { deliver: true, queueMode: "followup" as const } : {}),
    actor: { kind: "rpc", scopes: call.client.scopes, connId: call.client.connId },
  };
}
