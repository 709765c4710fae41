import { EmbeddingError } from "../define.ts";
import { isRecord } from "../is-record.ts";
import type { EmbeddingBatch, EmbeddingContext, OpenedEmbedding } from "../types/embedding.ts";
import { createVendorHttp, remoteLimits, type VendorHttp } from "./http.ts";
import { mapInTurns } from "./in-turns.ts";
import { type RemoteEndpoint, type RemoteSource, type RemoteVendor, resolveRemote } from "./remote.ts";
import { createTextEmbedder, type EmbedAnswer, type EmbedRequest, type TextKind } from "./text-embedder.ts";
import { inIndexOrder, readVector } from "./vectors.ts";

/** A model behind `POST {base}/embeddings` in the shape that OpenAI brought. */
export interface OpenAiShapedOptions {
  vendor: RemoteVendor;
  model: string;
  /** Length of the vectors; undefined: learnt from the first answer. */
  dims?: number | undefined;
  maxInputTokens?: number | undefined;
  maxItemsPerRequest: number;
  maxTokensPerRequest?: number | undefined;
  /** Fields of the request besides `model` and `input`. */
  body?: ((kind: TextKind) => Readonly<Record<string, unknown>>) | undefined;
  /** Vectors are asked for as base64, a quarter of the size; a server that refuses that is asked without. */
  asksBase64?: boolean;
  /** Facts that vectors depend on besides adapter, model, address, headers and length. */
  identity?: Readonly<Record<string, unknown>>;
  /** The vendor's batch API over the same connections. */
  batch?: ((parts: { http: VendorHttp; endpoint: RemoteEndpoint }) => EmbeddingBatch) | undefined;
}

/**
 * Opens such a model.
 * @throws {EmbeddingError} what `resolveRemote` throws
 */
export function openOpenAiShaped(source: RemoteSource, context: EmbeddingContext, options: OpenAiShapedOptions): OpenedEmbedding {
  const { vendor, model, dims, maxInputTokens, maxItemsPerRequest, maxTokensPerRequest } = options;
  const endpoint = resolveRemote(source, context, vendor);
  const { adapter } = vendor;
  const http = createVendorHttp({ adapter, request: source.request, secrets: endpoint.secrets, signals: [context.signal, source.signal] });
  const embedder = createTextEmbedder({
    adapter,
    dims,
    maxItemsPerRequest,
    maxBytesPerRequest: maxTokensPerRequest,
    limits: remoteLimits,
    ask: createAsk(options, { http, endpoint }),
  });
  const batch = options.batch?.({ http, endpoint });
  return {
    provider: {
      id: adapter,
      model,
      ...(dims === undefined ? {} : { dims }),
      normalized: true,
      ...(maxInputTokens === undefined ? {} : { maxInputTokens }),
      maxItemsPerRequest,
      ...(maxTokensPerRequest === undefined ? {} : { maxTokensPerRequest }),
      ...embedder,
      close: async () => http.close(),
    },
    identity: { adapter, model, dims: dims ?? null, ...options.identity, ...endpoint.identity },
    ...(batch === undefined ? {} : { batch }),
  };
}

function createAsk(
  { vendor: { adapter }, model, body, asksBase64 = false }: OpenAiShapedOptions,
  { http, endpoint }: { http: VendorHttp; endpoint: RemoteEndpoint },
): (request: EmbedRequest) => Promise<EmbedAnswer> {
  let takesBase64 = asksBase64;
  const send = ({ texts, kind, timeoutMs, signal }: EmbedRequest, isBase64: boolean) => {
    const json = { model, input: texts, ...body?.(kind), ...(isBase64 ? { encoding_format: "base64" } : {}) };
    return http.json({ url: `${endpoint.baseUrl}/embeddings`, headers: endpoint.headers, json, timeoutMs, signal });
  };
  return async (request) => {
    // Of this call: another one may be refused meanwhile.
    const isBase64 = takesBase64;
    try {
      return await readAnswer(await send(request, isBase64), adapter);
    } catch (error) {
      if (!isBase64 || !refusesBase64(error)) throw error;
      takesBase64 = false;
      return await readAnswer(await send(request, false), adapter);
    }
  };
}

function refusesBase64(error: unknown): boolean {
  return error instanceof EmbeddingError && error.fault === "invalid-request" && /encoding_format|base64/i.test(error.message);
}

/** The vectors of `{data: [{index?, embedding}], usage?}`, ordered. @throws {EmbeddingError} `bad-response` for another shape */
async function readAnswer(answer: unknown, adapter: string): Promise<EmbedAnswer> {
  const data = isRecord(answer) ? answer.data : undefined;
  if (!Array.isArray(data) || !data.every(isRecord))
    throw new EmbeddingError("bad-response", `embedding adapter "${adapter}": the answer has no list of vectors`);
  const usage = isRecord(answer) && isRecord(answer.usage) ? answer.usage : {};
  const tokens = [usage.total_tokens, usage.prompt_tokens].find((count) => typeof count === "number");
  return { vectors: await mapInTurns(inIndexOrder(data, adapter), (item) => readVector(item.embedding)), tokens };
}

/**
 * The length of vectors a model is asked for.
 * @param offered `{ from, to }` or every length there is
 * @throws {EmbeddingError} `invalid-request` for one that the model does not offer
 */
export function offeredDimensions(
  wanted: number | undefined,
  { adapter, model, offered }: { adapter: string; model: string; offered: { from: number; to: number } | readonly number[] },
): number | undefined {
  if (wanted === undefined) return undefined;
  const isList = (value: typeof offered): value is readonly number[] => Array.isArray(value);
  const isOffered = isList(offered) ? offered.includes(wanted) : wanted >= offered.from && wanted <= offered.to;
  if (isOffered) return wanted;
  const valid = isList(offered) ? offered.join(", ") : `${offered.from} to ${offered.to}`;
  throw new EmbeddingError(
    "invalid-request",
    `embedding adapter "${adapter}": outputDimensionality: ${model} offers ${valid}, got ${wanted}`,
  );
}
