import { EmbeddingError } from "../define.ts";
import type { EmbeddingProvider } from "../types/embedding.ts";
import { mapInTurns } from "./in-turns.ts";
import { checkedVectors, type ExpectedVectors } from "./vectors.ts";

/** Purpose of a text; some models embed questions and documents differently. */
export type TextKind = "query" | "document";

/** Texts of one request. */
export interface EmbedRequest {
  /** None is blank; at most `maxItemsPerRequest`. */
  texts: readonly string[];
  kind: TextKind;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/** Answer of a vendor. */
export interface EmbedAnswer {
  /** In the order of the texts; undefined where the answer has none. */
  vectors: ReadonlyArray<Float32Array | undefined>;
  /** As the vendor counted. */
  tokens?: number | undefined;
}

/** One model and how it is asked. */
export interface TextEmbedderOptions {
  /** Adapter id, for messages. */
  adapter: string;
  /** Length of every vector; undefined: learnt from the first answer. */
  dims?: number | undefined;
  maxItemsPerRequest: number;
  /** UTF-8 bytes, which are never fewer than tokens. */
  maxBytesPerRequest?: number | undefined;
  limits: { queryMs: number; batchMs: number };
  /** Sends one request. @throws {EmbeddingError} */
  ask(request: EmbedRequest): Promise<EmbedAnswer>;
}

/**
 * The calls of a provider over single requests: splits what is too much for one, checks every answer (count, length, finite numbers), makes unit vectors.
 * Blank texts, which vendors refuse, are not sent: they get a vector of zeros, which is in no index.
 */
export function createTextEmbedder(options: TextEmbedderOptions): Pick<EmbeddingProvider, "embedQuery" | "embedBatch"> {
  const { adapter, limits } = options;
  let dims = options.dims;

  const embed = async (texts: readonly string[], kind: TextKind, call: Parameters<EmbeddingProvider["embedBatch"]>[1] = {}) => {
    call.signal?.throwIfAborted();
    const sent = texts.filter((text) => !isBlank(text));
    const vectors: Float32Array[] = [];
    let tokens: number | undefined;
    for (const group of groupsOf(sent, options)) {
      const timeoutMs = kind === "query" ? limits.queryMs : limits.batchMs;
      const answer = await options.ask({ texts: group, kind, timeoutMs, signal: call.signal });
      const checked = await checkedInTurns(answer.vectors, { adapter, count: group.length, dims });
      dims ??= checked[0]?.length;
      for (const vector of checked) vectors.push(vector);
      if (answer.tokens !== undefined) tokens = (tokens ?? 0) + answer.tokens;
    }
    if (tokens !== undefined) call.onUsage?.(tokens);
    const length = dims;
    if (sent.length < texts.length && length === undefined)
      throw new EmbeddingError("invalid-request", `embedding adapter "${adapter}": expected a text with something in it, got a blank one`);
    let next = 0;
    return texts.map((text) => (isBlank(text) ? new Float32Array(length ?? 0) : (vectors[next++] as Float32Array)));
  };

  return {
    embedQuery: async (text, call) => (await embed([text], "query", call))[0] as Float32Array,
    embedBatch: (texts, call) => embed(texts, "document", call),
  };
}

/** The same as `checkedVectors`, for answers of any size. */
async function checkedInTurns(found: EmbedAnswer["vectors"], expected: ExpectedVectors): Promise<Float32Array[]> {
  if (found.length === 1 || found.length !== expected.count) return checkedVectors(found, expected);
  const dims = expected.dims ?? found[0]?.length;
  return (await mapInTurns(found, (vector) => checkedVectors([vector], { ...expected, count: 1, dims }))).flat();
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** Groups of neighbours that fit into one request each; a text that is too long alone is a group of its own. */
function groupsOf(
  texts: readonly string[],
  { maxItemsPerRequest, maxBytesPerRequest = Number.POSITIVE_INFINITY }: TextEmbedderOptions,
): string[][] {
  const groups: string[][] = [];
  let bytes = 0;
  for (const text of texts) {
    const size = Buffer.byteLength(text);
    const last = groups.at(-1);
    if (last && last.length < maxItemsPerRequest && bytes + size <= maxBytesPerRequest) {
      last.push(text);
      bytes += size;
    } else {
      groups.push([text]);
      bytes = size;
    }
  }
  return groups;
}
