import { expect, test } from "vitest";
import type { Family } from "./catalogue.ts";
import { type BodyOptions, bodyOf, fitQuery, itemsPerCall, type Purpose, takesDimensions, tokensOf, vectorsOf } from "./families.ts";

const how = (family: Family, purpose: Purpose = "document", own: Partial<BodyOptions> = {}): BodyOptions => ({
  modelId: "m",
  family,
  purpose,
  dims: undefined,
  ...own,
});

test("Titan v2 names its length and asks for unit vectors; older Titans take the text alone", () => {
  expect(bodyOf(["hi"], how("titan-v2", "query", { dims: 256 }))).toEqual({ inputText: "hi", dimensions: 256, normalize: true });
  expect(bodyOf(["hi"], how("titan-v2"))).toEqual({ inputText: "hi", normalize: true });
  expect(bodyOf(["hi"], how("titan-v1"))).toEqual({ inputText: "hi" });
});

test("Nova tells what a text is embedded for", () => {
  const params = (purpose: string, more: object = {}) => ({
    schemaVersion: "nova-multimodal-embed-v1",
    taskType: "SINGLE_EMBEDDING",
    singleEmbeddingParams: { embeddingPurpose: purpose, ...more, text: { truncationMode: "END", value: "hi" } },
  });
  expect(bodyOf(["hi"], how("nova", "document", { dims: 3072 }))).toEqual(params("GENERIC_INDEX", { embeddingDimension: 3072 }));
  expect(bodyOf(["hi"], how("nova", "query"))).toEqual(params("TEXT_RETRIEVAL"));
});

test("Cohere takes many texts, and a length from the fourth generation on", () => {
  const v3 = { texts: ["a", "b"], input_type: "search_document", truncate: "END" };
  expect(bodyOf(["a", "b"], how("cohere-v3"))).toEqual(v3);
  expect(bodyOf(["a", "b"], how("cohere-v3", "query"))).toEqual({ ...v3, input_type: "search_query" });
  expect(bodyOf(["a", "b"], how("cohere-v4", "document", { dims: 512 }))).toEqual({
    ...v3,
    embedding_types: ["float"],
    output_dimension: 512,
  });
  expect(bodyOf(["a"], how("cohere-v4", "query"))).toEqual({
    texts: ["a"],
    input_type: "search_query",
    truncate: "END",
    embedding_types: ["float"],
  });
});

test("Marengo has its text inside since its third generation", () => {
  expect(bodyOf(["hi"], how("twelvelabs", "document", { modelId: "us.twelvelabs.marengo-embed-3-0-v1:0" }))).toEqual({
    inputType: "text",
    text: { inputText: "hi" },
  });
  expect(bodyOf(["hi"], how("twelvelabs", "query", { modelId: "twelvelabs.marengo-embed-2-7-v1:0" }))).toEqual({
    inputType: "text",
    inputText: "hi",
  });
});

test.each<[Family, unknown, number[][]]>([
  ["titan-v2", { embedding: [1, 2], inputTextTokenCount: 3 }, [[1, 2]]],
  ["titan-v1", { embedding: [1] }, [[1]]],
  ["nova", { embeddings: [{ embeddingType: "TEXT", embedding: [1, 2] }] }, [[1, 2]]],
  ["cohere-v3", { embeddings: [[1], [2]] }, [[1], [2]]],
  ["cohere-v4", { embeddings: { float: [[1], [2]] } }, [[1], [2]]],
  ["twelvelabs", { data: [{ embedding: [1] }] }, [[1]]],
  ["twelvelabs", { data: { embedding: [1] } }, [[1]]],
  ["twelvelabs", { embedding: [1] }, [[1]]],
])("the vectors of %s are found", (family, answer, vectors) => {
  expect(vectorsOf(answer, family)).toEqual(vectors);
});

test.each<[Family, unknown]>([
  ["titan-v2", {}],
  ["titan-v2", null],
  ["titan-v2", "busy"],
  ["titan-v2", { embedding: [1, null] }],
  ["titan-v1", { embedding: ["1"] }],
  ["nova", { embeddings: [] }],
  ["nova", { embeddings: "no" }],
  ["cohere-v3", { embeddings: [[1], 2] }],
  ["cohere-v4", { embeddings: { int8: [[1]] } }],
  ["twelvelabs", { data: [] }],
])("an answer to %s without vectors has none: %j", (family, answer) => {
  expect(vectorsOf(answer, family)).toBeUndefined();
});

test("tokens are taken where the answer counts them", () => {
  expect(tokensOf({ inputTextTokenCount: 12 })).toBe(12);
  expect(tokensOf({ inputTextTokenCount: "12" })).toBeUndefined();
  expect(tokensOf(null)).toBeUndefined();
});

test("only Cohere takes more than one text a call", () => {
  const families: Family[] = ["titan-v2", "titan-v1", "nova", "cohere-v3", "cohere-v4", "twelvelabs"];
  expect(families.map(itemsPerCall)).toEqual([1, 1, 1, 96, 96, 1]);
  expect(families.filter(takesDimensions)).toEqual(["titan-v2", "nova", "cohere-v4"]);
});

test("a query longer than the family takes is cut, not within a character", () => {
  expect(fitQuery("a".repeat(2_048), "cohere-v3")).toHaveLength(2_048);
  expect(fitQuery("a".repeat(2_049), "cohere-v3")).toBe("a".repeat(2_048));
  expect(fitQuery(`${"a".repeat(2_047)}🙂b`, "cohere-v3")).toBe("a".repeat(2_047));
  expect(fitQuery("a".repeat(9_999), "cohere-v4")).toHaveLength(9_999);
});
