import { type HttpCall, messageOf, type PluginContext, type RunHandle, type RunRequest } from "svc/sdk";
import { judge } from "../completion.ts";
import { onDisconnect } from "../disconnect.ts";
import { badRequest } from "../errors.ts";
import { createEventStream, eventStreamHeaders } from "../event-stream.ts";
import { callerOf, isRepeat, repeatedRun, requestIdOf } from "../idempotency.ts";
import { modelReads } from "../model-reads.ts";
import type { PdfReader } from "../pdf/reader.ts";
import { placeOf } from "../place.ts";
import { checkBackendModelScope, parseBackendModel, resolveAgent, resolveTarget, type Target } from "../target.ts";
import { demandInstruction } from "../tools.ts";
import type { EarlierResponses, ResponseOwner } from "./earlier.ts";
import { isLong } from "./given-history.ts";
import { toResponsesTurn } from "./input.ts";
import { readMedia } from "./media.ts";
import { relayResponse } from "./relay.ts";
import { type InputItem, parseResponsesRequest, type ResponsesRequest } from "./request.ts";
import { answeredResponse, failedResponse, type ResponseHead } from "./resource.ts";

const sessionNames = { fresh: "openresponses:", user: "openresponses-user:" };
const jsonType = { "Content-Type": "application/json; charset=utf-8" };
/** References in one request, repeated ones included. */
const MAX_REFERENCES = 1_000;

/** One request on its way. */
interface Work {
  call: HttpCall;
  request: ResponsesRequest;
  owner: ResponseOwner;
  handle: RunHandle;
  head: ResponseHead;
  record(): Promise<void>;
}

/** `POST /v1/responses`: parse, run, answer. */
export function createResponsesHandler(
  ctx: PluginContext,
  { pdf, earlier }: { pdf: PdfReader; earlier: EarlierResponses },
): (call: HttpCall) => Promise<Response> {
  return async (call) => {
    checkBackendModelScope(call);
    const request = parseResponsesRequest(await call.json());
    const owner = ownerOf(call, request, ctx);
    const { uuid, isKeyed } = await requestIdOf(call, ctx.snapshot());
    const id = `resp_${uuid}`;
    const repeated = isKeyed ? await repeatedRun(id, call, ctx) : undefined;
    const { handle, given } = repeated
      ? { handle: repeated, given: undefined }
      : await begin({ id, isKeyed }, { call, request, owner, earlier, pdf }, ctx);
    const head = {
      id,
      createdAtMs: handle.acceptedAt,
      model: request.model,
      previousResponseId: request.previousResponseId,
      echo: request.echo,
    };
    const work = {
      call,
      request,
      owner,
      handle,
      head,
      record: async () => (request.isStored ? earlier.record(id, handle, owner, given) : undefined),
    };
    const answer = request.stream ? streamed(work, ctx) : await whole(work);
    if (isRepeat(handle)) answer.headers.set("Idempotent-Replay", "true");
    return answer;
  };
}

/** Agent and caller, which decide what may be continued. */
function ownerOf(call: HttpCall, request: ResponsesRequest, ctx: PluginContext): ResponseOwner {
  const { headers } = call.req;
  const agentId = resolveAgent(ctx.service("agents@1"), { model: request.model, headers });
  return { caller: callerOf(headers, ctx.snapshot()), agentId, headerKey: headers.get("x-svc-session-key") };
}

interface Begin {
  call: HttpCall;
  request: ResponsesRequest;
  owner: ResponseOwner;
  earlier: EarlierResponses;
}

/** The run, and the history of its session that is not stored. */
interface Begun {
  handle: RunHandle;
  given: NonNullable<RunRequest["history"]>;
}

async function begin(
  { id, isKeyed }: { id: string; isKeyed: boolean },
  { call, request, owner, earlier, pdf }: Begin & { pdf: PdfReader },
  ctx: PluginContext,
): Promise<Begun> {
  const { target, remembered } = await targetOf({ call, request, owner, earlier }, ctx);
  const turn = toResponsesTurn(
    request.input,
    await referencedTexts(request.input, { owner, earlier, maxBytes: ctx.snapshot().gateway.http.maxBodyBytes }),
  );
  if (turn.orphan !== undefined && target.isFresh)
    throw badRequest(`${turn.orphan}.call_id: no function_call with this id comes before it`);
  const place = placeOf(call.req.headers);
  const model = parseBackendModel(call.req.headers.get("x-svc-model"));
  const reads = modelReads(ctx, { agentId: target.agentId, sessionKey: target.sessionKey, model });
  const { attachments, texts } = await readMedia(turn.media, {
    limits: ctx.snapshot().gateway.http.endpoints.responses,
    signal: call.req.signal,
    pdf,
    readsPdf: () => reads("pdf"),
    refused: (reason) => ctx.logger.warn(`responses: ${reason}`, { requestId: call.requestId }),
  });
  const { clientTools, demand, thinking, sampling } = request;
  const instruction = demand ? demandInstruction(demand, clientTools) : "";
  const system = [request.instructions, ...turn.system, ...texts, instruction].filter((text) => text !== "").join("\n\n");
  const isSingle = target.isFresh && !request.isStored;
  const given = target.isFresh ? (isSingle || isLong(turn.history) ? turn.history : []) : remembered;
  const history = target.isFresh ? turn.history : [...given, ...turn.history];
  const run: RunRequest = {
    runId: id,
    isRepeatable: isKeyed,
    ...(isSingle ? { transcript: "single" as const } : {}),
    message: turn.message,
    agentId: target.agentId,
    sessionKey: target.sessionKey,
    trigger: "user",
    actor: { kind: "http", scopes: call.scopes },
    ...(attachments.length > 0 ? { attachments } : {}),
    ...(place ? { place } : {}),
    ...(model === undefined ? {} : { model }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(system === "" ? {} : { extraSystem: system }),
    ...(history.length > 0 ? { history, unstoredTurns: given.length } : {}),
    ...(turn.toolResults.length > 0 ? { toolResults: turn.toolResults } : {}),
    ...(clientTools.length > 0 ? { clientTools } : {}),
    ...(demand ? { toolChoice: demand.tool === undefined ? ("required" as const) : { name: demand.tool } } : {}),
    ...(Object.keys(sampling).length > 0 ? { sampling } : {}),
  };
  return { handle: await ctx.service("agents@1").run(run), given };
}

/** The session of the response that is continued, else that of the headers and of `user`; and the long history that it began with. */
async function targetOf(
  { call, request, owner, earlier }: Begin,
  ctx: PluginContext,
): Promise<{ target: Target; remembered: Begun["given"] }> {
  const { model, user, previousResponseId } = request;
  const own = resolveTarget(ctx.service("agents@1"), { model, user, headers: call.req.headers }, sessionNames);
  if (previousResponseId === undefined) return { target: own, remembered: earlier.givenOf(own.sessionKey) };
  const { sessionKey, given } = await earlier.sessionOf(previousResponseId, owner);
  return { target: { agentId: own.agentId, sessionKey, isFresh: false }, remembered: given };
}

/**
 * Texts of the answers that the input refers to by their ids; together no longer than a body may be.
 * @throws {SvcError} `v1-bad-request`
 */
async function referencedTexts(
  input: string | readonly InputItem[],
  { owner, earlier, maxBytes }: Pick<Begin, "owner" | "earlier"> & { maxBytes: number },
): Promise<(itemId: string) => string | undefined> {
  const ids =
    typeof input === "string"
      ? []
      : input.flatMap(({ id, type, role }) =>
          typeof id === "string" && (type ?? role) == null ? [id] : type === "item_reference" && typeof id === "string" ? [id] : [],
        );
  const texts = new Map<string, string | undefined>();
  if (ids.length > MAX_REFERENCES) throw badRequest(`input: ${ids.length} item references; at most ${MAX_REFERENCES}`);
  let left = maxBytes;
  for (const id of ids) {
    if (!texts.has(id)) texts.set(id, await earlier.textOf(id, owner));
    left -= Buffer.byteLength(texts.get(id) ?? "");
    if (left < 0) throw badRequest(`input: the texts of the item references are larger than ${maxBytes} bytes together`);
  }
  return (id) => texts.get(id);
}

async function whole({ call, request, handle, head, record }: Work): Promise<Response> {
  const watch = isRepeat(handle) ? undefined : onDisconnect(call.req.signal, handle);
  const outcome = await handle.done;
  const verdict = judge(outcome, request.demand);
  watch?.dispose();
  if (!verdict.ok) {
    const { status, headers } = verdict.problem;
    return new Response(JSON.stringify(failedResponse(head, verdict.problem)), { status, headers: { ...jsonType, ...headers } });
  }
  await record();
  return new Response(JSON.stringify(answeredResponse(head, verdict, { endedAtMs: outcome.endedAt })), { headers: jsonType });
}

function streamed({ call, request, handle, head, record }: Work, ctx: PluginContext): Response {
  const { clock, timers } = ctx;
  // The run ends with the client of the request that began it, not with that of a repeat.
  const isOwn = !isRepeat(handle);
  const watch = isOwn ? onDisconnect(call.req.signal, handle) : undefined;
  const out = createEventStream({ clock, timers, onGone: () => isOwn && handle.abort("disconnect") });
  const hasTools = request.clientTools.length > 0;
  relayResponse(handle, out, { head, demand: request.demand, hasTools, record })
    .catch((error: unknown) => {
      ctx.logger.error("a streamed response broke off", { runId: handle.runId, error: messageOf(error) });
      out.close();
    })
    .finally(() => watch?.dispose());
  return new Response(out.body, { headers: eventStreamHeaders });
}
