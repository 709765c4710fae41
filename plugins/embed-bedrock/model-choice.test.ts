import { EmbeddingError } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { chooseModel } from "./model-choice.ts";

test("the default is Titan v2 with 1024", () => {
  const choice = { modelId: "amazon.titan-embed-text-v2:0", family: "titan-v2", dims: 1024, askedDims: 1024, maxInputTokens: 8_192 };
  expect(chooseModel(undefined, undefined)).toEqual(choice);
  expect(chooseModel(" ", undefined)).toEqual(choice);
  expect(chooseModel("amazon-bedrock/amazon.titan-embed-text-v2:0", undefined)).toEqual(choice);
  expect(chooseModel("bedrock/amazon.titan-embed-text-v2:0", 1024)).toEqual(choice);
});

test("the whole id is what the vendor is asked for", () => {
  const id = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.cohere.embed-v4:0";
  expect(chooseModel(id, 512)).toMatchObject({ modelId: id, family: "cohere-v4", dims: 512, askedDims: 512 });
  expect(chooseModel("amazon.titan-embed-text-v1:2:8k", undefined)).toMatchObject({
    modelId: "amazon.titan-embed-text-v1:2:8k",
    dims: 1536,
    askedDims: undefined,
  });
});

describe("outputDimensionality", () => {
  test.each([
    ["amazon.titan-embed-text-v2:0", [256, 512, 1024]],
    ["amazon.nova-2-multimodal-embeddings-v1:0", [256, 384, 1024, 3072]],
    ["cohere.embed-v4:0", [256, 384, 512, 768, 1024, 1536]],
    ["global.cohere.embed-v4:0", [256, 384, 512, 768, 1024, 1536]],
  ])("of %s is one of %j", (model, valid) => {
    for (const dims of valid) expect(chooseModel(model, dims)).toMatchObject({ dims, askedDims: dims });
    for (const dims of [1, 255, 257, 1_025, 4_096]) expect(refusal(model, dims)).toContain(valid.join(", "));
  });

  test.each([
    "amazon.titan-embed-text-v1",
    "cohere.embed-english-v3:0:512",
    "twelvelabs.marengo-embed-3-0-v1:0",
    "amazon.titan-embed-image-v1",
  ])("of %s may be named but not changed", (model) => {
    const usual = chooseModel(model, undefined).dims as number;
    expect(chooseModel(model, usual)).toEqual(chooseModel(model, undefined));
    expect(refusal(model, 256)).toContain(`expected ${usual} for model "${model}", got 256`);
  });

  test("of an unknown model is asked for where its family has a word for it", () => {
    expect(chooseModel("amazon.nova-9-embeddings", 123)).toMatchObject({ dims: 123, askedDims: 123 });
    expect(chooseModel("amazon.nova-9-embeddings", undefined)).toMatchObject({ dims: undefined, askedDims: undefined });
    expect(refusal("acme.embed", 256)).toContain("cannot name one");
  });
});

function refusal(model: string, dims: number): string {
  try {
    chooseModel(model, dims);
  } catch (error) {
    expect(error).toBeInstanceOf(EmbeddingError);
    expect(error).toMatchObject({ fault: "invalid-request" });
    return (error as Error).message;
  }
  return "not refused";
}
