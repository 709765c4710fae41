import { setImmediate as nextTurn } from "node:timers/promises";
import { type HttpCall, type HttpReply, type MemoryEmbedding, type MemoryEmbedOptions, messageOf, type PluginContext } from "svc/sdk";
import { type EmbeddingsRequest, parseEmbeddingsRequest } from "./embeddings-request.ts";
import { errorResponse, internalProblem } from "./error-body.ts";
import { badRequest } from "./errors.ts";
import { floatsText } from "./float-text.ts";
import { checkBackendModelScope, parseBackendModel, resolveAgent } from "./target.ts";
import { toEmbeddingProblem } from "./upstream.ts";

const headers = { "Content-Type": "application/json; charset=utf-8" };

/** `POST /v1/embeddings`: parse, embed with the memory of the named agent, answer. */
export function createEmbeddingsHandler(ctx: PluginContext): (call: HttpCall) => Promise<Response | HttpReply> {
  return async (call) => {
    checkBackendModelScope(call);
    const request = parseEmbeddingsRequest(await call.json());
    const agentId = resolveAgent(ctx.service("agents@1"), { model: request.model, headers: call.req.headers });
    const options = toOptions(request, call, ctx);
    // Not the call's own signal: that one is dear to make, and a gateway that stops lets open requests end.
    const { signal } = call.req;
    try {
      const embedding = await ctx.service("memory@1").embed(agentId, request.texts, { ...options, signal });
      checkDimensions(embedding, request.dimensions);
      return { headers, body: await embeddingsJson(embedding, { ...request, signal }) };
    } catch (error) {
      // Nobody reads this answer.
      if (signal.aborted) return errorResponse(internalProblem);
      const problem = toEmbeddingProblem(error, request.pathOf);
      if (!problem) throw error;
      ctx.logger.warn(`embeddings: ${messageOf(error)}`, { agentId, requestId: call.requestId });
      return errorResponse(problem);
    }
  };
}

function toOptions({ dimensions }: EmbeddingsRequest, { req }: HttpCall, ctx: PluginContext): MemoryEmbedOptions {
  const named = parseBackendModel(req.headers.get("x-svc-model"));
  const slash = named?.indexOf("/") ?? -1;
  const isListed = named !== undefined && Object.hasOwn(ctx.snapshot().agents.defaults.models ?? {}, named);
  return {
    ...(named === undefined ? {} : slash < 0 ? { model: named } : { provider: named.slice(0, slash), model: named.slice(slash + 1) }),
    ...(isListed ? { mayLeaveProvider: true } : {}),
    ...(dimensions === undefined ? {} : { dimensions }),
  };
}

/** Some models have one size and leave out what they were asked for. */
function checkDimensions({ vectors }: MemoryEmbedding, wanted: number | undefined): void {
  const given = vectors[0]?.length;
  if (wanted !== undefined && given !== wanted)
    throw badRequest(`dimensions: this agent's embedding model gives ${given}, got ${wanted}; leave \`dimensions\` out`);
}

/** Writing numbers as text is work: 128 vectors of 3072 numbers are 8 MB. After this long the others get their turn. */
const SLICE_MS = 5;
/** A shorter answer stays one text, which is the cheapest to send. */
const MAX_TEXT_CHARS = 64 * 1024;

/**
 * The body of an answer, in the order of the vectors. Written in slices, so that a large one does not hold the gateway up.
 * @param signal ends the work between two slices, by its reason
 */
export async function embeddingsJson(
  { vectors, tokens }: Pick<MemoryEmbedding, "vectors" | "tokens">,
  { model, encoding, signal }: { model: string; encoding: "float" | "base64"; signal?: AbortSignal },
): Promise<string | Uint8Array> {
  const write = encoding === "base64" ? toBase64 : floatsText;
  const parts: Buffer[] = [];
  let text = '{"object":"list","data":[';
  let since = performance.now();
  for (const [index, vector] of vectors.entries()) {
    text += `${index === 0 ? "" : ","}{"object":"embedding","index":${index},"embedding":${write(vector)}}`;
    if (text.length > MAX_TEXT_CHARS) {
      parts.push(Buffer.from(text, "latin1"));
      text = "";
    }
    if (performance.now() - since < SLICE_MS) continue;
    await nextTurn();
    signal?.throwIfAborted();
    since = performance.now();
  }
  text += `],"model":${JSON.stringify(model)},"usage":{"prompt_tokens":${tokens},"total_tokens":${tokens}}}`;
  return parts.length === 0 ? text : Buffer.concat([...parts, Buffer.from(text)]);
}

/** Little-endian float32: the order of bytes in memory on every platform Node runs on but s390x, for which nothing is built. */
function toBase64({ buffer, byteOffset, byteLength }: Float32Array): string {
  return `"${Buffer.from(buffer, byteOffset, byteLength).toString("base64")}"`;
}
