import type { SvcConfigInput } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { expect, test } from "vitest";
import { resolveLocal } from "./settings.ts";

const resolve = (local: object, agents: SvcConfigInput["agents"] = {}) =>
  resolveLocal(parseSharedConfig({ agents, models: { providers: { local } } } as never), "/state");

test("there is a provider for an entry without a server only", () => {
  expect(resolveLocal(parseSharedConfig({}), "/state")).toBeUndefined();
  expect(resolve({ baseUrl: "http://127.0.0.1:1/v1" })).toBeUndefined();
  expect(resolve({})).toEqual({ firstAnswerMs: 600_000, models: [], problems: [] });
});

test("a model has a file, a window and what the config says of it", () => {
  const models = [
    { id: "a", modelPath: "models/a.gguf", name: "A", contextWindow: 4_096, maxTokens: 512, reasoning: true, tools: false },
    { id: "b", modelPath: "hf:owner/repo/b.gguf" },
  ];
  const settings = resolve(
    { timeoutSeconds: 30, params: { topK: 40 }, models },
    { defaults: { models: { "local/b": { params: { topK: 5, temperature: 0 } } } } },
  );
  expect(settings).toMatchObject({
    firstAnswerMs: 30_000,
    problems: [],
    models: [
      {
        id: "a",
        source: { kind: "file", path: "/state/models/a.gguf", name: "a.gguf" },
        contextWindow: 4_096,
        maxTokens: 512,
        params: { topK: 40 },
        info: { id: "a", name: "A", contextWindow: 4_096, maxTokens: 512, reasoning: true, tools: false, input: ["text"] },
      },
      { id: "b", source: { kind: "reference", uri: "hf:owner/repo/b.gguf" }, contextWindow: 8_192, params: { topK: 5, temperature: 0 } },
    ],
  });
});

test("a parameter that the runtime does not know is named with those that it does", () => {
  expect(resolve({ params: { top_k: 1 } })?.problems).toEqual([
    expect.stringMatching(/^models\.providers\.local\.params: .*"top_k"; expected of temperature, topP, topK/),
  ]);
});

test.each([
  [
    "modelPath of a vendor",
    { acme: { baseUrl: "https://acme.example/v1", models: [{ id: "a", modelPath: "a.gguf" }] } },
    /only the provider/,
  ],
  ["a local model without a file", { local: { models: [{ id: "a" }] } }, /expected the GGUF file of this model/],
  ["a key for no server", { local: { apiKey: "k", models: [] } }, /has no meaning for models on this machine/],
])("%s is refused by the config", (_, providers, message) => {
  expect(() => parseSharedConfig({ models: { providers } } as never)).toThrow(message);
});
