import {
  checkedVectors,
  createTextEmbedder,
  type EmbedAnswer,
  EmbeddingError,
  type EmbeddingProvider,
  type EmbedOptions,
  isRecord,
  readVector,
  remoteLimits,
  type StructuredInput,
  type VendorHttp,
} from "svc/sdk";
import type { Tree } from "svc/sdk/internal";
import type { ModelChoice } from "./model-choice.ts";
import { jsonBody } from "./request-body.ts";
import { type EmbedContent, groupContents, isOversized, MAX_ITEMS, toContent } from "./requests.ts";

export const ADAPTER = "gemini";

/** Destination of the requests of one provider. */
export interface GeminiConnection {
  http: VendorHttp;
  base: string;
  headers: Readonly<Record<string, string>>;
}

interface CallLimits {
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/** Calls of one model. Large calls become several requests, one after the other. */
export function createGeminiProvider(choice: ModelChoice, connection: GeminiConnection): EmbeddingProvider {
  const { model, dims, multimodal, maxInputTokens } = choice;
  const calls = createCalls(model, connection);
  const texts = createTextEmbedder({
    adapter: ADAPTER,
    dims,
    maxItemsPerRequest: MAX_ITEMS,
    limits: remoteLimits,
    ask({ texts, kind, ...limits }) {
      const contents = texts.map((text) => toContent([{ type: "text", text }], kind, choice));
      const [only] = contents;
      return kind === "query" && only ? calls.one(only, limits) : calls.many(contents, limits);
    },
  });

  async function embedBatchInputs(inputs: readonly StructuredInput[], { signal, onUsage }: EmbedOptions = {}): Promise<Float32Array[]> {
    const contents = inputs.map((input) => toContent(input, "document", choice));
    const oversized = contents.findIndex(isOversized);
    if (oversized >= 0) throw tooLarge(oversized);
    const vectors: Float32Array[] = [];
    let counted = 0;
    for (const group of groupContents(contents)) {
      const { vectors: found, tokens = 0 } = await calls.many(group, { timeoutMs: remoteLimits.batchMs, signal });
      vectors.push(...checkedVectors(found, { adapter: ADAPTER, count: group.length, dims }));
      counted += tokens;
    }
    if (counted > 0) onUsage?.(counted);
    return vectors;
  }

  return {
    id: ADAPTER,
    model,
    ...(dims === undefined ? {} : { dims }),
    normalized: true,
    maxInputTokens,
    maxItemsPerRequest: MAX_ITEMS,
    ...texts,
    ...(multimodal ? { embedBatchInputs } : {}),
    close: async () => connection.http.close(),
  };
}

function createCalls(model: string, { http, base, headers }: GeminiConnection) {
  const call = async (method: string, value: unknown, limits: CallLimits): Promise<Tree> => {
    const answer = await http.json({
      ...limits,
      url: `${base}/models/${encodeURIComponent(model)}:${method}`,
      headers: { ...headers, "content-type": "application/json" },
      body: jsonBody(value),
    });
    return isRecord(answer) ? answer : {};
  };
  return {
    async one(content: EmbedContent, limits: CallLimits): Promise<EmbedAnswer> {
      const answer = await call("embedContent", content, limits);
      return { vectors: [vectorIn(answer.embedding)], ...tokensIn(answer) };
    },
    async many(contents: readonly EmbedContent[], limits: CallLimits): Promise<EmbedAnswer> {
      // The vendor wants the model in each request, too.
      const requests = contents.map((content) => ({ model: `models/${model}`, ...content }));
      const answer = await call("batchEmbedContents", { requests }, limits);
      const found: unknown[] = Array.isArray(answer.embeddings) ? answer.embeddings : [];
      return { vectors: found.map(vectorIn), ...tokensIn(answer) };
    },
  };
}

function vectorIn(embedding: unknown): Float32Array | undefined {
  return isRecord(embedding) ? readVector(embedding.values) : undefined;
}

function tokensIn({ usageMetadata }: Tree): { tokens?: number } {
  const tokens = isRecord(usageMetadata) ? usageMetadata.promptTokenCount : undefined;
  return typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens > 0 ? { tokens } : {};
}

function tooLarge(index: number): EmbeddingError {
  const what = `input ${index + 1} is too large: expected at most 6 images and 20 MB in base64`;
  return new EmbeddingError("too-long", `embedding adapter "${ADAPTER}": ${what}`);
}
