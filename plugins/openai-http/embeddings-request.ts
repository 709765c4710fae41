import { badRequest } from "./errors.ts";

/** Most texts of one request, as at the vendor; how much they are together is a matter of `http.maxBodyBytes`, and one of them of its model. */
export const MAX_INPUTS = 2_048;

/** A request for embeddings, checked. */
export interface EmbeddingsRequest {
  /** As the client wrote it; names an agent. */
  model: string;
  texts: string[];
  /** Path of a text, for messages about it. */
  pathOf(index: number): string;
  encoding: "float" | "base64";
  dimensions: number | undefined;
}

/**
 * Checks a request body; null counts as absent, unknown fields are ignored. Pure.
 * @throws {SvcError} `v1-bad-request` with the first thing that is wrong
 */
export function parseEmbeddingsRequest(body: unknown): EmbeddingsRequest {
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw badRequest("body: expected an object");
  const { model, input, encoding_format: encoding, dimensions } = body as Record<string, unknown>;
  return {
    model: parseModelField(model),
    texts: parseInput(input),
    pathOf: (index) => pathOf(input, index),
    encoding: parseEncoding(encoding),
    dimensions: parseDimensions(dimensions),
  };
}

function parseModelField(model: unknown): string {
  if (model == null || model === "") throw badRequest("Missing `model`.");
  if (typeof model !== "string") throw badRequest(`model: expected string, received ${typeof model}`);
  return model;
}

function parseInput(input: unknown): string[] {
  const items: unknown[] = Array.isArray(input) ? input : [input ?? ""];
  if (items.every((item) => item === "")) throw badRequest("`input` must contain at least one non-empty string.");
  // Counted first: what a hostile caller can make us look at ends here.
  if (items.length > MAX_INPUTS) throw badRequest(isTokens(items) ? noTokens : `Too many inputs (max ${MAX_INPUTS}).`);
  for (const [i, item] of items.entries()) {
    if (typeof item !== "string")
      throw badRequest(isTokens([item]) ? noTokens : `${pathOf(input, i)}: expected string, received ${kindOf(item)}`);
    if (item === "") throw badRequest(`${pathOf(input, i)}: expected a non-empty string`);
  }
  return items as string[];
}

const noTokens =
  "input: expected a string or an array of strings, received token arrays, which another model's tokenizer made; send the text itself (LangChain for Python: check_embedding_ctx_length=False)";

function isTokens(items: readonly unknown[]): boolean {
  return items.some((item) => typeof item === "number" || (Array.isArray(item) && typeof item[0] === "number"));
}

function pathOf(input: unknown, i: number): string {
  return Array.isArray(input) ? `input.${i}` : "input";
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function parseEncoding(value: unknown): "float" | "base64" {
  if (value == null) return "float";
  if (value !== "float" && value !== "base64") throw badRequest("`encoding_format` must be float or base64.");
  return value;
}

function parseDimensions(value: unknown): number | undefined {
  if (value == null) return undefined;
  if (!Number.isSafeInteger(value) || (value as number) < 1) throw badRequest("`dimensions` must be a positive integer.");
  return value as number;
}
