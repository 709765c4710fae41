import { expect, test } from "vitest";
import { readDetails } from "./details.ts";
import { longestPrompts, windowOf } from "./window.ts";

const none = { default: undefined, own: undefined };

test.each<[string, Partial<Parameters<typeof windowOf>[1]>, number]>([
  ["nothing", {}, 32_768],
  ["a smaller model", { details: { contextLength: 8_192 } }, 8_192],
  ["a larger model", { details: { contextLength: 262_144 } }, 32_768],
  ["the model's own file", { details: { contextLength: 262_144, numCtx: 65_536 } }, 65_536],
  ["contextTokens", { prompts: { default: 16_000, own: undefined }, details: { contextLength: 131_072, numCtx: 65_536 } }, 16_000],
  ["contextTokens above the model", { prompts: { default: 1_000_000, own: undefined }, details: { contextLength: 131_072 } }, 131_072],
  ["an agent with more", { prompts: { default: 16_000, own: 20_000 } }, 20_000],
  ["an agent with less", { prompts: { default: undefined, own: 4_000 } }, 32_768],
  ["contextWindow", { settings: { models: [{ id: "m", contextWindow: 100_000 }] }, details: { contextLength: 131_072 } }, 100_000],
  [
    "contextWindow below contextTokens",
    { settings: { models: [{ id: "m", contextWindow: 9_000 }] }, prompts: { default: 16_000, own: undefined } },
    9_000,
  ],
  ["contextWindow of another model", { settings: { models: [{ id: "n", contextWindow: 9_000 }] } }, 32_768],
  ["a parameter", { settings: { models: [], params: { options: { num_ctx: 5 } } }, details: { contextLength: 2 } }, 5],
  [
    "a parameter of the model",
    { settings: { models: [], params: { options: { num_ctx: 5 } }, modelParams: { m: { options: { num_ctx: 6 } } } } },
    6,
  ],
  ["a parameter that is none", { settings: { models: [], params: { options: { num_ctx: "8k" } } } }, 32_768],
])("the window by %s", (_name, sources, window) => {
  expect(windowOf("m", { settings: { models: [] }, prompts: none, details: undefined, ...sources })).toBe(window);
});

test("the longest prompts are those of the defaults and of agents", () => {
  const agents = (defaults: object, list: object[]) =>
    longestPrompts({ defaults, list } as unknown as Parameters<typeof longestPrompts>[0]);
  expect(agents({}, [])).toEqual(none);
  expect(agents({ contextTokens: 5 }, [{}, { contextTokens: 7 }, { contextTokens: 6 }])).toEqual({ default: 5, own: 7 });
});

test.each([
  [{}, {}],
  [
    { capabilities: ["tools"], model_info: { "general.architecture": "a", "a.context_length": 9, "b.context_length": 8 } },
    { capabilities: ["tools"], contextLength: 9 },
  ],
  [{ parameters: 'stop "<x>"\nnum_ctx                        4096\ntemperature 1' }, { numCtx: 4_096 }],
  [{ parameters: 'stop "num_ctx 5"', model_info: { "general.architecture": "a", "a.context_length": "9" } }, {}],
])("details %#", (body, details) => {
  expect(readDetails(body)).toEqual(details);
});
