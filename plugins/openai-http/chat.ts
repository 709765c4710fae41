import { type HttpCall, messageOf, type PluginContext, type RunHandle, type RunRequest } from "svc/sdk";
import { createChunks } from "./chunks.ts";
import { completionResponse, createEnvelope, type Envelope, judge } from "./completion.ts";
import { onDisconnect } from "./disconnect.ts";
import { badRequest } from "./errors.ts";
import { createEventStream, eventStreamHeaders } from "./event-stream.ts";
import { type ReadMedia, readAudio, readFiles } from "./files.ts";
import { isRepeat, repeatedRun, requestIdOf } from "./idempotency.ts";
import { imageFetcher } from "./image-urls.ts";
import { addEarlierImages, decodeImages } from "./images.ts";
import { modelReads } from "./model-reads.ts";
import type { PdfReader } from "./pdf/reader.ts";
import { placeOf } from "./place.ts";
import { type Turn, toTurn } from "./prompt.ts";
import { relay } from "./relay.ts";
import { type ChatRequest, parseChatRequest } from "./request.ts";
import { thinkingOf } from "./sampling.ts";
import { checkBackendModelScope, parseBackendModel, resolveTarget, type Target } from "./target.ts";
import { demandInstruction } from "./tools.ts";

/** `POST /v1/chat/completions`: parse, run, answer. */
export function createChatHandler(ctx: PluginContext, pdf: PdfReader): (call: HttpCall) => Promise<Response> {
  return async (call) => {
    checkBackendModelScope(call);
    const request = parseChatRequest(await call.json());
    const { uuid, isKeyed } = await requestIdOf(call, ctx.snapshot());
    const id = `chatcmpl_${uuid}`;
    const handle =
      (isKeyed ? await repeatedRun(id, call, ctx) : undefined) ??
      (await ctx.service("agents@1").run({ ...(await toRunRequest(request, call, { ctx, pdf })), runId: id, isRepeatable: isKeyed }));
    const answer = await answerOf({ handle, request, envelope: createEnvelope(id, request.model, handle.acceptedAt) }, call, ctx);
    if (isRepeat(handle)) answer.headers.set("Idempotent-Replay", "true");
    return answer;
  };
}

interface Answer {
  handle: RunHandle;
  request: ChatRequest;
  envelope: Envelope;
}

async function answerOf(parts: Answer, call: HttpCall, ctx: PluginContext): Promise<Response> {
  const { handle, request, envelope } = parts;
  // The run ends with the client of the request that began it, not with that of a repeat.
  const watch = isRepeat(handle) ? undefined : onDisconnect(call.req.signal, handle);
  if (request.stream) return streamedAnswer(parts, watch, ctx);
  const outcome = await handle.done;
  watch?.dispose();
  return completionResponse(envelope, judge(outcome, request.demand), request);
}

interface Deps {
  ctx: PluginContext;
  pdf: PdfReader;
}

async function toRunRequest(request: ChatRequest, call: HttpCall, { ctx, pdf }: Deps): Promise<RunRequest> {
  const place = placeOf(call.req.headers);
  const turn = toTurn(request.messages);
  const images = await decodeImages(
    turn.images,
    (reason) => ctx.logger.warn(`image refused: ${reason}`, { requestId: call.requestId }),
    imageFetcher(ctx.snapshot().gateway.http.endpoints.chatCompletions.images, { signal: call.req.signal }),
  );
  const target = resolveTarget(ctx.service("agents@1"), { model: request.model, user: request.user, headers: call.req.headers });
  if (turn.orphan !== undefined && target.isFresh)
    throw badRequest(`${turn.orphan}.tool_call_id: no tool call with this id comes before it`);
  await addEarlierImages(turn.earlierImages);
  const model = parseBackendModel(call.req.headers.get("x-svc-model"));
  const { texts, attachments } = await readMedia(turn, { call, ctx, pdf, target, model });
  const { clientTools, demand, sampling } = request;
  const thinking = thinkingOf(sampling.reasoningEffort);
  const system = [turn.system, ...texts, ...(demand ? [demandInstruction(demand, clientTools)] : [])]
    .filter((text) => text !== "")
    .join("\n\n");
  return {
    message: turn.message,
    agentId: target.agentId,
    sessionKey: target.sessionKey,
    ...(target.isFresh ? { transcript: "single" as const, unstoredTurns: turn.history.length } : {}),
    trigger: "user",
    actor: { kind: "http", scopes: call.scopes },
    ...(images.length + attachments.length > 0 ? { attachments: [...images, ...attachments] } : {}),
    ...(place ? { place } : {}),
    ...(model === undefined ? {} : { model }),
    ...(system === "" ? {} : { extraSystem: system }),
    ...(turn.history.length > 0 ? { history: turn.history } : {}),
    ...(turn.toolResults.length > 0 ? { toolResults: turn.toolResults } : {}),
    ...(clientTools.length > 0 ? { clientTools } : {}),
    ...(demand ? { toolChoice: demand.tool === undefined ? "required" : { name: demand.tool } } : {}),
    ...(thinking === undefined ? {} : { thinking }),
    ...(Object.keys(request.sampling).length > 0 ? { sampling: request.sampling } : {}),
  };
}

interface MediaDeps extends Deps {
  call: HttpCall;
  target: Target;
  model: string | undefined;
}

/** Files and recordings of the conversation: texts for the system prompt, and what the model gets itself. */
async function readMedia(turn: Turn, { call, ctx, pdf, target: { agentId, sessionKey }, model }: MediaDeps): Promise<ReadMedia> {
  const reads = modelReads(ctx, { agentId, sessionKey, model });
  const files = await readFiles(turn, {
    limits: ctx.snapshot().gateway.http.endpoints.responses,
    signal: call.req.signal,
    pdf,
    readsPdf: () => reads("pdf"),
    refused: (reason) => ctx.logger.warn(`file: ${reason}`, { requestId: call.requestId }),
  });
  return { texts: files.texts, attachments: [...files.attachments, ...(await readAudio(turn.audio, () => reads("audio")))] };
}

/** @param watch undefined for a repeat, whose client ends nothing */
function streamedAnswer({ handle, request, envelope }: Answer, watch: { dispose(): void } | undefined, ctx: PluginContext): Response {
  const out = createEventStream({ clock: ctx.clock, timers: ctx.timers, onGone: () => watch && handle.abort("disconnect") });
  const chunks = createChunks(envelope, request);
  out.write(chunks.role());
  relay(handle, out, { chunks, ...request })
    .catch((error: unknown) => {
      ctx.logger.error("a streamed answer broke off", { runId: handle.runId, error: messageOf(error) });
      out.close();
    })
    .finally(() => watch?.dispose());
  return new Response(out.body, { headers: eventStreamHeaders });
}
