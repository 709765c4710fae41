import type { JsonObject, ParamsOf, RpcCall, RunRequest } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { toAttachments } from "../runs/attachments.ts";
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
import { finalAnswer } from "./run-result.ts";

/** A chat message with its place resolved. */
export type ChatMessage = Omit<ParamsOf<"chat.send">, "sessionKey" | "agentId"> & { sessionKey: string; agentId: string };

/**
 * Takes a chat message, or does what it commands; answers as soon as it is stored. The key is the id of the run, whatever else a repeat says.
 * @throws {SvcError} `run-failed` for a repeat of a run that failed, and as `Agents.run`
 */
export async function sendChat(
  message: ChatMessage,
  { call, kit, runner }: { call: RpcCall; kit: Kit; runner: Runner },
): Promise<JsonObject> {
  const key = message.idempotencyKey;
  const known = await runner.known(key);
  if (known) return answer(key, known, call);
  const answered = await answeredCommand(kit, "chat", key);
  if (answered) return chatAnswer(answered);
  if (message.deliver) await checkRoute(kit, message);
  const commanded = await obey(message, { kit, runner });
  if (commanded) return chatAnswer(commanded);
  const reset = splitReset(kit.config.session.resetTriggers, message.message);
  const request = toRequest(message, call);
  const started = await runner.start(reset ? { ...request, message: reset.rest } : request, {
    family: "chat",
    ...(reset ? { fresh: reset.reason } : {}),
  });
  return answer(key, started, call);
}

/** Messages that are commands and nothing else. Undefined: it is for the agent. */
async function obey(message: ChatMessage, { kit, runner }: { kit: Kit; runner: Runner }): Promise<JsonObject | undefined> {
  const { sessionKey, agentId, idempotencyKey: key } = message;
  const command: Command = { family: "chat", key, sessionKey, agentId };
  if (isStopMessage(message.message)) {
    const runIds = runner.abortSession(sessionKey, "rpc");
    return rememberAnswer(kit, command, { runId: key, status: "ok", aborted: runIds.length > 0, runIds });
  }
  const mode = queueModeAsked(message.message);
  if (mode !== undefined) return queueByMessage(kit, { ...command, mode });
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
