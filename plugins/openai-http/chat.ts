import { type HttpCall, messageOf, type PluginContext, type RunHandle, type RunRequest } from "svc/sdk";
import { createChunks } from "./chunks.ts";
import { completionResponse, createEnvelope, type Envelope, judge } from "./completion.ts";
import { badRequest } from "./errors.ts";
import { createEventStream } from "./event-stream.ts";
import { decodeImages } from "./images.ts";
import { toTurn } from "./prompt.ts";
import { relay } from "./relay.ts";
import { type ChatRequest, parseChatRequest } from "./request.ts";
import { checkBackendModelScope, parseBackendModel, resolveTarget } from "./target.ts";
import { demandInstruction } from "./tools.ts";

/** `POST /v1/chat/completions`: parse, run, answer. */
export function createChatHandler(ctx: PluginContext): (call: HttpCall) => Promise<Response> {
  return async (call) => {
    checkBackendModelScope(call);
    const request = parseChatRequest(await call.json());
    const run = await toRunRequest(request, call, ctx);
    const envelope = createEnvelope(request.model, ctx.clock.now());
    const handle = await ctx.service("agents@1").run(run);
    const goAway = onDisconnect(call.req.signal, handle);
    if (request.stream) return streamedAnswer({ handle, request, envelope, goAway }, ctx);
    const outcome = await handle.done;
    goAway.dispose();
    return completionResponse(envelope, judge(outcome, request.demand));
  };
}

async function toRunRequest(request: ChatRequest, call: HttpCall, ctx: PluginContext): Promise<RunRequest> {
  const turn = toTurn(request.messages);
  const attachments = await decodeImages(turn.images, (reason) =>
    ctx.logger.warn(`image refused: ${reason}`, { requestId: call.requestId }),
  );
  const target = resolveTarget(ctx.service("agents@1"), { model: request.model, user: request.user, headers: call.req.headers });
  if (turn.orphan !== undefined && target.isFresh)
    throw badRequest(`${turn.orphan}.tool_call_id: no tool call with this id comes before it`);
  const model = parseBackendModel(call.req.headers.get("x-svc-model"));
  const { clientTools, demand } = request;
  const system = [turn.system, ...(demand ? [demandInstruction(demand, clientTools)] : [])].filter((text) => text !== "").join("\n\n");
  return {
    message: turn.message,
    agentId: target.agentId,
    sessionKey: target.sessionKey,
    trigger: "user",
    actor: { kind: "http", scopes: call.scopes },
    ...(attachments.length > 0 ? { attachments } : {}),
    ...(model === undefined ? {} : { model }),
    ...(system === "" ? {} : { extraSystem: system }),
    ...(turn.history.length > 0 ? { history: turn.history } : {}),
    ...(turn.toolResults.length > 0 ? { toolResults: turn.toolResults } : {}),
    ...(clientTools.length > 0 ? { clientTools } : {}),
    ...(demand ? { toolChoice: demand.tool === undefined ? "required" : { name: demand.tool } } : {}),
    ...(Object.keys(request.sampling).length > 0 ? { sampling: request.sampling } : {}),
  };
}

interface Answer {
  handle: RunHandle;
  request: ChatRequest;
  envelope: Envelope;
  goAway: { dispose(): void };
}

function streamedAnswer({ handle, request, envelope, goAway }: Answer, ctx: PluginContext): Response {
  const out = createEventStream({ clock: ctx.clock, timers: ctx.timers, onGone: () => handle.abort("disconnect") });
  const chunks = createChunks(envelope);
  out.write(chunks.role());
  relay(handle, out, { chunks, includeUsage: request.includeUsage, demand: request.demand })
    .catch((error: unknown) => {
      ctx.logger.error("a streamed answer broke off", { runId: handle.runId, error: messageOf(error) });
      out.close();
    })
    .finally(goAway.dispose);
  const headers = { "Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache", "X-Accel-Buffering": "no" };
  return new Response(out.body, { headers });
}

/** Aborts the run when the client goes away before its end. */
function onDisconnect(signal: AbortSignal, handle: RunHandle): { dispose(): void } {
  const abort = () => handle.abort("disconnect");
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  return { dispose: () => signal.removeEventListener("abort", abort) };
}
