import { ModelError, type ModelInfo, type ModelProvider, type ModelQuestion, type ModelRequest, type Usage } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { beforeEach, expect, test } from "vitest";
import { createDirectory } from "../directory.ts";
import { askModel } from "./ask.ts";
import type { Catalog } from "./catalog.ts";
import { createModelChoice } from "./choice.ts";
import { Cooldown } from "./cooldown.ts";

const models: ModelInfo[] = [
  { id: "reader", input: ["text"] },
  { id: "seer", input: ["text", "image"], cost: { input: 1, output: 1 } },
  { id: "silent" },
];
let asked: ModelRequest[];
let answers: Array<string | ModelError>;
let counted: Usage[];
const provider: ModelProvider = {
  id: "lab",
  models: () => models,
  available: () => ({ ok: true }),
  async *stream(request) {
    asked.push(request);
    const answer = answers.shift() ?? "a cat";
    if (answer instanceof ModelError) throw answer;
    yield { type: "text", delta: answer };
    yield { type: "usage", usage: { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0, total: 1_000_000 } };
    yield { type: "finish", reason: "stop" };
  },
};
const catalog: Catalog = {
  providers: () => [provider],
  provider: (id) => (id === "lab" ? provider : undefined),
  ready: async () => undefined,
  models: async () => models,
  known: () => models,
};
const config = parseSharedConfig({
  agents: {
    list: [
      { id: "main", model: { primary: "lab/reader", fallbacks: ["lab/seer"] } },
      { id: "blind", model: "lab/reader" },
      { id: "unsaid", model: "lab/silent" },
    ],
  },
});
const runs = new Map([["r1", { countAside: (usage: Usage) => counted.push(usage) }]]);
const nothing = () => undefined;
const span = { set: nothing, fail: nothing };
const kit = {
  ctx: {
    signal: new AbortController().signal,
    logger: { debug: nothing, warn: nothing },
    clock: { monotonic: () => 0 },
    tracing: { span: (_: string, __: object, work: (given: object) => unknown) => work(span) },
  },
  config,
  catalog,
  directory: createDirectory(config, "/state"),
  models: createModelChoice(config, catalog),
  store: () => ({ sessions: { get: async () => undefined } }),
  runs,
  cooldown: new Cooldown(() => 0),
  figures: { modelCalled: nothing },
} as unknown as Parameters<typeof askModel>[0];

beforeEach(() => {
  [asked, answers, counted] = [[], [], []];
});

const picture = { type: "image" as const, mimeType: "image/png", data: "AAAA" };
const ask = (given: Partial<ModelQuestion>) =>
  askModel(kit, {
    agentId: "main",
    sessionKey: "agent:main:main",
    system: "Look.",
    content: [picture, { type: "text", text: "What is it?" }],
    signal: AbortSignal.timeout(10_000),
    ...given,
  });

test("a model of the agent that sees is asked once, without tools, and its tokens are those of the run", async () => {
  expect(await ask({ runId: "r1" })).toEqual({ text: "a cat", model: "lab/seer" });
  expect(asked).toMatchObject([
    { model: "seer", system: "Look.", tools: [], messages: [{ role: "user", content: [picture, { type: "text", text: "What is it?" }] }] },
  ]);
  expect(counted).toMatchObject([{ total: 1_000_000, cost: 1 }]);
});

test.each([
  ["blind", "lab/seer", "seer"],
  ["blind", "lab/silent", "silent"],
  ["unsaid", "lab/seer", "seer"],
])("where no model of %s is known to see, %s looks", async (agentId, otherwise, model) => {
  await ask({ agentId, sessionKey: `agent:${agentId}:main`, otherwise });
  expect(asked.map((request) => request.model)).toEqual([model]);
});

test.each([
  ["blind", undefined],
  ["blind", "lab/reader"],
  ["unsaid", undefined],
])("%s with %s beside it is told that none sees", async (agentId, otherwise) => {
  const failed = ask({ agentId, sessionKey: `agent:${agentId}:main`, ...(otherwise ? { otherwise } : {}) });
  await expect(failed).rejects.toMatchObject({ code: "model-cannot-read" });
  expect(asked).toEqual([]);
});

test("a text alone is for any model, and an answer without a word is a fault", async () => {
  answers = ["yes", " "];
  const text = { agentId: "blind", sessionKey: "agent:blind:main", content: [{ type: "text" as const, text: "Well?" }] };
  expect(await ask(text)).toEqual({ text: "yes", model: "lab/reader" });
  await expect(ask(text)).rejects.toMatchObject({ fault: "empty" });
});

test("a refusal of the vendor is passed on", async () => {
  answers = [new ModelError("invalid_request", "the picture is broken")];
  await expect(ask({})).rejects.toThrow("the picture is broken");
});
