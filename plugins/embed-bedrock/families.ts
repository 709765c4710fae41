import type { Family } from "./catalogue.ts";

/** Purpose of an embedding: some models embed documents and queries differently into one space. */
export type Purpose = "document" | "query";

export interface BodyOptions {
  modelId: string;
  family: Family;
  purpose: Purpose;
  /** Length to ask for; undefined: the vendor's own choice. */
  dims: number | undefined;
}

/** Most texts in one call. */
export function itemsPerCall(family: Family): number {
  return family === "cohere-v3" || family === "cohere-v4" ? 96 : 1;
}

/** Whether a request of this family can name the length of the vectors. */
export function takesDimensions(family: Family): boolean {
  return family === "titan-v2" || family === "nova" || family === "cohere-v4";
}

/** Longest query in UTF-16 units, where the vendor refuses what is longer instead of cutting it. */
const maxQueryChars: Partial<Record<Family, number>> = { "cohere-v3": 2_048, "titan-v2": 50_000, "titan-v1": 50_000, nova: 50_000 };

/** A query as long as the family takes it; surrogate pairs stay whole. */
export function fitQuery(text: string, family: Family): string {
  const max = maxQueryChars[family];
  if (max === undefined || text.length <= max) return text;
  const isPairCut = /[\ud800-\udbff]/.test(text.charAt(max - 1));
  return text.slice(0, isPairCut ? max - 1 : max);
}

/** Body of one call. Pure. */
export function bodyOf(texts: readonly string[], { modelId, family, purpose, dims }: BodyOptions): Record<string, unknown> {
  const [text = ""] = texts;
  switch (family) {
    case "titan-v2":
      return { inputText: text, ...(dims === undefined ? {} : { dimensions: dims }), normalize: true };
    case "titan-v1":
      return { inputText: text };
    case "nova":
      return {
        schemaVersion: "nova-multimodal-embed-v1",
        taskType: "SINGLE_EMBEDDING",
        singleEmbeddingParams: {
          embeddingPurpose: purpose === "query" ? "TEXT_RETRIEVAL" : "GENERIC_INDEX",
          ...(dims === undefined ? {} : { embeddingDimension: dims }),
          text: { truncationMode: "END", value: text },
        },
      };
    case "cohere-v3":
    case "cohere-v4":
      return {
        texts,
        input_type: purpose === "query" ? "search_query" : "search_document",
        truncate: "END",
        ...(family === "cohere-v3" ? {} : { embedding_types: ["float"], ...(dims === undefined ? {} : { output_dimension: dims }) }),
      };
    case "twelvelabs":
      // The older generation has the text beside its type (unconfirmed by the vendor's own pages).
      return modelId.includes("marengo-embed-2")
        ? { inputType: "text", inputText: text }
        : { inputType: "text", text: { inputText: text } };
  }
}

/**
 * Vectors of an answer in input order, as it has them: count and numbers are not checked yet. Pure.
 * @returns undefined where the answer has another shape
 */
export function vectorsOf(answer: unknown, family: Family): number[][] | undefined {
  const body = asObject(answer);
  switch (family) {
    case "titan-v2":
    case "titan-v1":
      return asVectors([body.embedding]);
    case "nova":
      return asVectors([asObject(asList(body.embeddings)[0]).embedding]);
    case "cohere-v3":
    case "cohere-v4":
      return asVectors(asObject(body.embeddings).float ?? body.embeddings);
    case "twelvelabs":
      return asVectors([asObject(asList(body.data)[0]).embedding ?? asObject(body.data).embedding ?? body.embedding]);
  }
}

/** Tokens as models of the vendor itself count them in the answer. */
export function tokensOf(answer: unknown): number | undefined {
  const count = asObject(answer).inputTextTokenCount;
  return typeof count === "number" ? count : undefined;
}

function asVectors(value: unknown): number[][] | undefined {
  const isVector = (one: unknown) => Array.isArray(one) && one.every((part) => typeof part === "number");
  return Array.isArray(value) && value.every(isVector) ? value : undefined;
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
