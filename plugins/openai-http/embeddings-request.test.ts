import { isSvcError } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { parseEmbeddingsRequest } from "./embeddings-request.ts";

const parse = (more: object) => parseEmbeddingsRequest({ model: "svc", input: "hi", ...more });

function refusal(body: unknown): string {
  try {
    parseEmbeddingsRequest(body);
  } catch (error) {
    if (isSvcError(error, "v1-bad-request")) return error.message;
    throw error;
  }
  return "accepted";
}

test("the smallest request is a model and a text; null counts as absent, unknown fields are ignored", () => {
  const smallest = { model: "svc", texts: ["hi"], encoding: "float", dimensions: undefined, pathOf: expect.any(Function) };

  expect(parse({})).toEqual(smallest);
  expect(parse({ encoding_format: null, dimensions: null, user: "ann", metadata: 1 })).toEqual(smallest);
});

test("every field arrives, and the model as it was written", () => {
  expect(parse({ model: " SVC/Work", input: ["a", " "], encoding_format: "base64", dimensions: 256 })).toEqual({
    model: " SVC/Work",
    texts: ["a", " "],
    encoding: "base64",
    dimensions: 256,
    pathOf: expect.any(Function),
  });
});

describe("the input", () => {
  const empty = "`input` must contain at least one non-empty string.";
  const tokens =
    "input: expected a string or an array of strings, received token arrays, which another model's tokenizer made; send the text itself (LangChain for Python: check_embedding_ctx_length=False)";
  const many = (count: number, text = "x") => Array<string>(count).fill(text);

  test.each([
    ["nothing", undefined, empty],
    ["null", null, empty],
    ["no text", "", empty],
    ["no texts", [], empty],
    ["empty texts only", ["", ""], empty],
    ["one empty text among others", ["a", ""], "input.1: expected a non-empty string"],
    ["2048 texts", many(2_048), "accepted"],
    ["2049 texts", many(2_049), "Too many inputs (max 2048)."],
    ["a text of any length", "x".repeat(1_000_000), "accepted"],
    ["tokens", [1, 2, 3], tokens],
    ["more tokens than texts are allowed", Array(3_000).fill(7), tokens],
    ["lists of tokens", [[1, 2], [3]], tokens],
    ["a number", 5, tokens],
    ["an object", { text: "a" }, "input: expected string, received object"],
    ["null among texts", ["a", null], "input.1: expected string, received null"],
    ["a list among texts", ["a", ["b"]], "input.1: expected string, received array"],
  ])("%s", (_name, input, message) => {
    expect(refusal({ model: "svc", input })).toBe(message);
  });
});

test.each([
  [[], "body: expected an object"],
  ["text", "body: expected an object"],
  [{}, "Missing `model`."],
  [{ model: null, input: "a" }, "Missing `model`."],
  [{ model: "", input: "a" }, "Missing `model`."],
  [{ model: 5, input: "a" }, "model: expected string, received number"],
  [{ model: "svc", input: "a", encoding_format: "int8" }, "`encoding_format` must be float or base64."],
  [{ model: "svc", input: "a", dimensions: 1 }, "accepted"],
  [{ model: "svc", input: "a", dimensions: 0 }, "`dimensions` must be a positive integer."],
  [{ model: "svc", input: "a", dimensions: 1.5 }, "`dimensions` must be a positive integer."],
  [{ model: "svc", input: "a", dimensions: "256" }, "`dimensions` must be a positive integer."],
])("%j: %s", (body, message) => {
  expect(refusal(body)).toBe(message);
});
