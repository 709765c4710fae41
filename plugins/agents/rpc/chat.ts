import { type JsonObject, type ParamsOf, type PluginContext, protocolMethod, type RpcCall, type RunRequest, SvcError } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { toImages } from "../runs/attachments.ts";
import { answeredReset, isResetMessage, isStopMessage, resetByMessage, splitReset } from "../runs/commands.ts";
import { outcomeOf } from "../runs/outcome.ts";
import type { Runner } from "../runs/runner.ts";
import { readHistory } from "../sessions/history.ts";
import { finalAnswer } from "./run-result.ts";

/** `chat.send`, `chat.abort`, `chat.history`. */
export function registerChatMethods(ctx: PluginContext, kit: Kit, runner: Runner): void {
  ctx.registerRpc({
    ...protocolMethod("chat.send"),
    scopeFor: (params) => (isResetMessage(params.message) ? "admin" : "write"),
    handler: (params, call) => send(params, { call, kit, runner }),
  });
  ctx.registerRpc({
    ...protocolMethod("chat.abort"),
    handler: (params) => {
      const { sessionKey } = kit.directory.resolve(targetOf(params));
      const runIds = runner.abortSession(sessionKey, "rpc", params.runId === undefined ? {} : { runId: params.runId });
      return { ok: true, aborted: runIds.length > 0, runIds };
    },
  });
  ctx.registerRpc({
    ...protocolMethod("chat.history"),
    handler: (params) => {
      const { sessionKey } = kit.directory.resolve({ sessionKey: params.sessionKey });
      return readHistory(kit, sessionKey, params);
    },
  });
}

async function send(
  params: ParamsOf<"chat.send">,
  { call, kit, runner }: { call: RpcCall; kit: Kit; runner: Runner },
): Promise<JsonObject> {
  const family = "chat";
  const key = params.idempotencyKey;
  const target = kit.directory.resolve(targetOf(params));
  if (params.queueMode === "steer" || params.queueMode === "collect")
    throw new SvcError("queue-mode-unsupported", { mode: params.queueMode });
  if (isStopMessage(params.message)) {
    const runIds = runner.abortSession(target.sessionKey, "rpc");
    return { runId: key, status: "ok", aborted: runIds.length > 0, runIds };
  }
  const answered = answeredReset(kit, family, key);
  if (answered) return { runId: key, status: "ok" };
  const reset = splitReset(params.message);
  const hasMore = (params.attachments?.length ?? 0) > 0 || (reset?.rest ?? "") !== "";
  if (reset && !hasMore && !(await runner.live(key)) && !kit.store().runs.get(key)) {
    await resetByMessage(kit, { family, key, ...target, reason: reset.reason });
    return { runId: key, status: "ok" };
  }
  const request = toRequest(params, call, target);
  const started = await runner.start(reset ? { ...request, message: reset.rest } : request, {
    family,
    ...(reset ? { fresh: reset.reason } : {}),
    interrupt: params.queueMode === "interrupt",
  });
  if (started.state === "finished") {
    finalAnswer({ runId: key, sessionId: started.row.sessionId, outcome: outcomeOf(started.row) });
    return { runId: key, status: "ok" };
  }
  started.run.participants.add(call.client.connId);
  return { runId: key, status: started.state === "in_flight" ? "in_flight" : "started" };
}

function toRequest(params: ParamsOf<"chat.send">, call: RpcCall, target: { agentId: string; sessionKey: string }): RunRequest {
  return {
    message: params.message,
    runId: params.idempotencyKey,
    trigger: "user",
    ...target,
    ...(params.attachments ? { attachments: toImages(params.attachments) } : {}),
    ...(params.thinking === undefined ? {} : { thinking: params.thinking }),
    ...(params.timeoutMs === undefined ? {} : { timeoutMs: params.timeoutMs }),
    actor: { kind: "rpc", scopes: call.client.scopes, connId: call.client.connId },
  };
}

function targetOf(params: { sessionKey: string; agentId?: string | undefined }): { sessionKey: string; agentId?: string } {
  return { sessionKey: params.sessionKey, ...(params.agentId === undefined ? {} : { agentId: params.agentId }) };
}
