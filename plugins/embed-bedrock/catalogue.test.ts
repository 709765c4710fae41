import { expect, test } from "vitest";
import { DEFAULT_MODEL, factsOf } from "./catalogue.ts";

test.each([
  ["amazon.titan-embed-text-v2:0", "titan-v2", 1024, [256, 512, 1024], 8_192],
  ["amazon.titan-embed-text-v1", "titan-v1", 1536, [], 8_000],
  ["amazon.titan-embed-g1-text-02", "titan-v1", 1536, [], 8_000],
  ["amazon.titan-embed-image-v1", "titan-v1", 1024, [], 128],
  ["amazon.nova-2-multimodal-embeddings-v1:0", "nova", 1024, [256, 384, 1024, 3072], 8_192],
  ["cohere.embed-english-v3", "cohere-v3", 1024, [], 512],
  ["cohere.embed-multilingual-v3", "cohere-v3", 1024, [], 512],
  ["cohere.embed-v4:0", "cohere-v4", 1536, [256, 384, 512, 768, 1024, 1536], 128_000],
  ["twelvelabs.marengo-embed-2-7-v1:0", "twelvelabs", 1024, [], 512],
  ["twelvelabs.marengo-embed-3-0-v1:0", "twelvelabs", 512, [], 512],
])("%s is known", (id, family, dims, selectable, maxInputTokens) => {
  expect(factsOf(id)).toEqual({ family, dims, selectable, maxInputTokens });
});

test.each([
  ["amazon.titan-embed-text-v1:2:8k", "amazon.titan-embed-text-v1"],
  ["amazon.titan-embed-text-v2:0:8k", "amazon.titan-embed-text-v2:0"],
  ["cohere.embed-english-v3:0:512", "cohere.embed-english-v3"],
  ["us.amazon.titan-embed-text-v2:0", "amazon.titan-embed-text-v2:0"],
  ["eu.cohere.embed-v4:0", "cohere.embed-v4:0"],
  ["ap.cohere.embed-v4:0", "cohere.embed-v4:0"],
  ["apac.cohere.embed-v4:0", "cohere.embed-v4:0"],
  ["au.cohere.embed-v4:0", "cohere.embed-v4:0"],
  ["jp.cohere.embed-v4:0", "cohere.embed-v4:0"],
  ["global.cohere.embed-v4:0", "cohere.embed-v4:0"],
  ["us.cohere.embed-multilingual-v3:0:512", "cohere.embed-multilingual-v3"],
  ["arn:aws:bedrock:us-east-1::foundation-model/amazon.titan-embed-text-v2:0", "amazon.titan-embed-text-v2:0"],
  ["arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.cohere.embed-v4:0", "cohere.embed-v4:0"],
])("%s inherits from %s", (id, base) => {
  expect(factsOf(id)).toEqual(factsOf(base));
  expect(factsOf(id).dims).toBeGreaterThan(0);
});

test.each([
  ["amazon.titan-embed-text-v2", "titan-v2"],
  ["amazon.titan-embed-text-v2:7", "titan-v2"],
  ["amazon.titan-embed-later-v9:0", "titan-v1"],
  ["amazon.nova-9-embeddings-v1:0", "nova"],
  ["us.amazon.nova-9-embeddings-v1:0", "nova"],
  ["cohere.embed-v4-turbo:0", "cohere-v4"],
  ["cohere.embed-light-v3", "cohere-v3"],
  ["twelvelabs.marengo-embed-9", "twelvelabs"],
  ["acme.embed-v1", "titan-v1"],
  ["arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/k3x9", "titan-v1"],
])("%s is not known but has the shape %s; its length is learnt", (id, family) => {
  expect(factsOf(id)).toEqual({ family, selectable: [] });
});

test("the default model is in the catalogue", () => {
  expect(factsOf(DEFAULT_MODEL).dims).toBe(1024);
});
