import { createHash, randomUUID } from "node:crypto";
import { agentSetting, type HttpCall, isSvcError, type MessageRoute, type PluginContext, type ToolResult } from "svc/sdk";
import type { createReplays } from "svc/sdk/internal";
import { callerOf } from "../idempotency.ts";
import { placeOf } from "../place.ts";
import { parseToolsRequest, type ToolsRequest } from "./request.ts";

const DEFAULT_TIMEOUT_S = 600;

/** Status and body of an answer, as it is kept for a repeat. */
interface Outcome {
  status: number;
  body: object;
  headers?: Record<string, string>;
  /** The tool ran: a repeat must not run it again. */
  hasRun: boolean;
}

/** `POST /tools/invoke`: one call of one tool, under the policy of its agent and the list of `gateway.tools`. */
export function createToolsHandler(ctx: PluginContext, replays: ReturnType<typeof createReplays>): (call: HttpCall) => Promise<Response> {
  return async (call) => {
    const body = await call.json();
    let request: ToolsRequest;
    let target: ReturnType<typeof targetOf>;
    try {
      request = parseToolsRequest(body);
      target = targetOf(ctx, request, call.req.headers);
    } catch (error) {
      if (isSvcError(error, "unknown-agent"))
        return answer(failure(400, "invalid_request", `Unknown agent id "${String(error.fields.agentId)}"`));
      if (isSvcError(error) && error.spec.http < 500) return answer(failure(400, "invalid_request", error.message));
      throw error;
    }
    const isOwner = call.scopes.includes("operator.admin");
    const key = replayKeyOf({ request, target, isOwner }, callerOf(call.req.headers, ctx.snapshot()));
    let isFirst = key === undefined;
    const work = () => {
      isFirst = true;
      return invoke(ctx, call, { request, target, isOwner });
    };
    const outcome = await replays.run(key, work, ({ hasRun }) => hasRun);
    return answer(outcome, isFirst ? {} : { "Idempotent-Replay": "true" });
  };
}

/** @throws {SvcError} `unknown-agent`, `invalid-session-key` */
function targetOf(
  ctx: PluginContext,
  { agentId, sessionKey }: ToolsRequest,
  headers: Headers,
): { agentId: string; sessionKey: string; place?: MessageRoute } {
  const place = placeOf(headers);
  const target = ctx.service("agents@1").resolve({
    ...(agentId === undefined ? {} : { agentId }),
    ...(sessionKey === undefined ? {} : { sessionKey }),
  });
  return { ...target, ...(place ? { place } : {}) };
}

interface Invocation {
  request: ToolsRequest;
  target: ReturnType<typeof targetOf>;
  isOwner: boolean;
}

/** The key of a call and everything that decides its answer: another caller, right, target or argument is another call. */
function replayKeyOf({ request, target, isOwner }: Invocation, caller: string): string | undefined {
  const { idempotencyKey, dryRun, name, action, args } = request;
  if (idempotencyKey === undefined || dryRun) return undefined;
  const { agentId, sessionKey, place = null } = target;
  const parts = [idempotencyKey, caller, isOwner, agentId, sessionKey, name, action ?? null, args, place];
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}

/** Never rejects: what went wrong is an outcome, too. */
async function invoke(ctx: PluginContext, call: HttpCall, { request, target, isOwner }: Invocation): Promise<Outcome> {
  const { name, args, action, dryRun, idempotencyKey } = request;
  const limitMs = (agentSetting(ctx.snapshot(), target.agentId, "timeoutSeconds") ?? DEFAULT_TIMEOUT_S) * 1_000;
  try {
    const result = await ctx.service("agents@1").invokeTool(name, args, {
      ...target,
      toolCallId: `http-${idempotencyKey ?? randomUUID()}`,
      signal: AbortSignal.any([call.signal, AbortSignal.timeout(limitMs)]),
      outside: { isOwner },
      ...(action === undefined ? {} : { action }),
      ...(dryRun ? { dryRun } : {}),
    });
    if (dryRun) return { status: 200, body: { ok: true, dryRun: true, result: null }, hasRun: false };
    return outcomeOf(result);
  } catch (error) {
    const refusal = refusalOf(name, error);
    const refused = refusal.hasRun && call.signal.aborted ? leftBehind : refusal;
    // Names and sizes only: arguments, and what a fault repeats of them, may hold what nobody else may read.
    const cause = isSvcError(error) ? error.code : error instanceof Error ? error.name : typeof error;
    ctx.logger.info("tools/invoke: refused or failed", {
      tool: name.slice(0, 64),
      status: refused.status,
      cause,
      requestId: call.requestId,
    });
    return refused;
  }
}

/** The outcome of a call whose client went away: a repeat would get it again, so clients are told not to retry. */
const leftBehind: Outcome = {
  ...failure(500, "tool_error", "the call was stopped because its client went away; send it again with a new key to repeat it"),
  headers: { "x-should-retry": "false" },
  hasRun: true,
};

function outcomeOf({ isError, ...result }: ToolResult): Outcome {
  if (!isError) return { status: 200, body: { ok: true, result }, hasRun: true };
  return {
    ...failure(400, "tool_error", result.content.map((part) => (part.type === "text" ? part.text : "[image]")).join("\n")),
    hasRun: true,
  };
}

/** A tool that policy refuses cannot be told from one that is not there. */
function refusalOf(name: string, error: unknown): Outcome {
  if (isSvcError(error, "tool-not-found")) return failure(404, "not_found", `Tool not available: ${name}`);
  if (isSvcError(error, "tool-blocked")) return failure(403, "tool_call_blocked", error.message);
  if (isSvcError(error, "invalid-tool-args")) return failure(400, "tool_error", error.message);
  // An SvcError is written for people; what anything else says may be about the inside.
  if (isSvcError(error) && error.spec.http < 500) return { ...failure(400, "tool_error", error.message), hasRun: true };
  return { ...failure(500, "tool_error", "tool execution failed"), hasRun: true };
}

function failure(status: number, type: string, message: string): Outcome {
  return { status, body: { ok: false, error: { type, message } }, hasRun: false };
}

function answer({ status, body, headers: own }: Outcome, headers: Record<string, string> = {}): Response {
  const type = { "Content-Type": "application/json; charset=utf-8" };
  return new Response(JSON.stringify(body), { status, headers: { ...type, ...own, ...headers } });
}
