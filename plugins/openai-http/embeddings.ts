import { type HttpCall, type HttpReply, type MemoryEmbedding, type MemoryEmbedOptions, messageOf, type PluginContext } from "svc/sdk";
import { embeddingsJson } from "./embeddings-answer.ts";
import { type EmbeddingsRequest, parseEmbeddingsRequest } from "./embeddings-request.ts";
import { errorResponse, internalProblem } from "./error-body.ts";
import { badRequest } from "./errors.ts";
import { checkBackendModelScope, parseBackendModel, resolveAgent } from "./target.ts";
import { toEmbeddingProblem } from "./upstream.ts";

const headers = { "Content-Type": "application/json; charset=utf-8" };

/** `POST /v1/embeddings`: parse, embed with the memory of the named agent, answer. */
export function createEmbeddingsHandler(ctx: PluginContext): (call: HttpCall) => Promise<Response | HttpReply> {
  return async (call) => {
    checkBackendModelScope(call);
    const request = parseEmbeddingsRequest(await call.json());
    const agentId = resolveAgent(ctx.service("agents@1"), { model: request.model, headers: call.req.headers });
    const options = toOptions(request, call);
    // Not the call's own signal: that one is dear to make, and a gateway that stops lets open requests end.
    const { signal } = call.req;
    try {
      const embedding = await ctx.service("memory@1").embed(agentId, request.texts, { ...options, signal });
      checkDimensions(embedding, request.dimensions);
      return { headers, body: await embeddingsJson(embedding, { ...request, signal }) };
    } catch (error) {
      // Nobody reads this answer.
      if (signal.aborted) return errorResponse(internalProblem);
      const problem = toEmbeddingProblem(error);
      if (!problem) throw error;
      ctx.logger.warn(`embeddings: ${messageOf(error)}`, { agentId, requestId: call.requestId });
      return errorResponse(problem);
    }
  };
}

function toOptions({ dimensions }: EmbeddingsRequest, { req }: HttpCall): MemoryEmbedOptions {
  const named = parseBackendModel(req.headers.get("x-svc-model"));
  const slash = named?.indexOf("/") ?? -1;
  return {
    ...(named === undefined ? {} : slash < 0 ? { model: named } : { provider: named.slice(0, slash), model: named.slice(slash + 1) }),
    ...(dimensions === undefined ? {} : { dimensions }),
  };
}

/** Some models have one size and leave out what they were asked for. */
function checkDimensions({ vectors }: MemoryEmbedding, wanted: number | undefined): void {
  const given = vectors[0]?.length;
  if (wanted !== undefined && given !== wanted)
    throw badRequest(`dimensions: this agent's embedding model gives ${given}, got ${wanted}; leave \`dimensions\` out`);
}
