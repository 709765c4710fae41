import { EmbeddingError } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { chooseModel, modelName } from "./model-choice.ts";

test.each([
  [undefined, "gemini-embedding-001"],
  ["", "gemini-embedding-001"],
  ["gemini-embedding-2", "gemini-embedding-2"],
  ["google/gemini-embedding-2", "gemini-embedding-2"],
  ["gemini/gemini-embedding-2", "gemini-embedding-2"],
  ["models/gemini-embedding-2", "gemini-embedding-2"],
  ["google/models/gemini-embedding-2", "gemini-embedding-2"],
  ["text-embedding-004", "text-embedding-004"],
])("%j is the model %s", (given, name) => {
  expect(modelName(given)).toBe(name);
});

describe("sizes", () => {
  test.each([
    [undefined, undefined, { dims: 3_072, sentDims: undefined, task: "type", maxInputTokens: 2_048, multimodal: false }],
    ["gemini-embedding-2", undefined, { dims: 3_072, sentDims: 3_072, task: "prefix", maxInputTokens: 8_192, multimodal: true }],
    ["gemini-embedding-2", 768, { dims: 768, sentDims: 768 }],
    ["gemini-embedding-2-preview", 1_536, { dims: 1_536, sentDims: 1_536, task: "type", multimodal: true }],
    ["gemini-embedding-2-preview", 3_072, { dims: 3_072, sentDims: 3_072 }],
    ["text-embedding-004", undefined, { dims: undefined, sentDims: undefined, task: "type", multimodal: false }],
  ])("of %s with %s", (model, wanted, expected) => {
    const { choice, warning } = chooseModel(model, wanted);

    expect(choice).toMatchObject(expected);
    expect(warning).toBeUndefined();
  });

  test.each([
    ["gemini-embedding-2", 512, "gemini-embedding-2 offers 768, 1536, 3072, got 512"],
    ["google/gemini-embedding-2-preview", 3_073, "gemini-embedding-2-preview offers 768, 1536, 3072, got 3073"],
    ["gemini-embedding-001", 127, "gemini-embedding-001 offers 128 to 3072, got 127"],
    [undefined, 3_073, "gemini-embedding-001 offers 128 to 3072, got 3073"],
  ])("that %s does not have are refused by name (%i)", (model, wanted, message) => {
    const refusal = () => chooseModel(model, wanted);

    expect(refusal).toThrow(EmbeddingError);
    expect(refusal).toThrow(`embedding adapter "gemini": outputDimensionality: ${message}`);
  });

  test.each([
    [
      undefined,
      128,
      "outputDimensionality has no effect with gemini-embedding-001: its vectors have 3072 dimensions; leave it out or use gemini-embedding-2",
    ],
    [
      undefined,
      3_072,
      "outputDimensionality has no effect with gemini-embedding-001: its vectors have 3072 dimensions; leave it out or use gemini-embedding-2",
    ],
    [
      "text-embedding-004",
      256,
      "outputDimensionality has no effect with text-embedding-004: its vectors have the size of its own; leave it out or use gemini-embedding-2",
    ],
  ])("that cannot be chosen with %s are a warning (%i)", (model, wanted, warning) => {
    expect(chooseModel(model, wanted)).toMatchObject({ choice: { sentDims: undefined }, warning });
  });
});
