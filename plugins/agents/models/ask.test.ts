import { ModelError, type ModelInfo, type ModelProvider, type ModelQuestion, type ModelRequest, type Usage } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { beforeEach, describe, expect, test } from "vitest";
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
type Answer = string | ModelError | { calls: Array<{ name: string; args: unknown }> };
let answers: Answer[];
let counted: Usage[];
const provider: ModelProvider = {
  id: "lab",
  defaultModel: "reader",
  models: () => models,
  available: () => ({ ok: true }),
  async *stream(request) {
    asked.push(request);
    const answer = answers.shift() ?? "a cat";
    if (answer instanceof ModelError) throw answer;
    if (typeof answer === "string") yield { type: "text", delta: answer };
    else
      for (const [i, { name, args }] of answer.calls.entries())
        yield { type: "toolCall", id: `c${i}`, name, argsDelta: JSON.stringify(args) };
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
      { id: "free" },
    ],
  },
});
const run = {
  countAside: (usage: Usage) => counted.push(usage),
  request: { tools: { deny: ["read"] } },
  origin: "person",
  sessionKey: "agent:main:main",
};
const runs = new Map([["r1", run]]);
const invoked: unknown[] = [];
const tools = {
  ready: async () => undefined,
  specs: (_: object, given?: { request: { tools: { deny: string[] } } }) =>
    ["look", "read", "write"]
      .filter((name) => !given?.request.tools.deny.includes(name))
      .map((name) => ({ name, description: "", inputSchema: {} })),
  async invoke(_: object, call: { name: string; args: unknown }, target: { origin?: string }) {
    invoked.push([call.name, call.args, target.origin]);
    if (call.name === "read") throw new Error("it is torn");
    return { content: [{ type: "text", text: "seen" }] };
  },
};
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
  tools,
  cooldown: new Cooldown(() => 0),
  figures: { modelCalled: nothing },
} as unknown as Parameters<typeof askModel>[0];

beforeEach(() => {
  [asked, answers, counted] = [[], [], []];
  invoked.length = 0;
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
  expect(await ask({ runId: "r1" })).toEqual({
    text: "a cat",
    model: "lab/seer",
    messages: [{ role: "assistant", content: [{ type: "text", text: "a cat" }] }],
  });
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
  expect(await ask(text)).toMatchObject({ text: "yes", model: "lab/reader" });
  await expect(ask(text)).rejects.toMatchObject({ fault: "empty" });
});

test("a refusal of the vendor is passed on", async () => {
  answers = [new ModelError("invalid_request", "the picture is broken")];
  await expect(ask({})).rejects.toThrow("the picture is broken");
});

describe("with tools", () => {
  const text = { content: [{ type: "text" as const, text: "Well?" }], tools: ["look", "read"] };
  const resultsIn = (request: ModelRequest | undefined) =>
    request?.messages.flatMap((message) => (message.role === "tool" ? [message.text] : []));

  test("the model calls those that the question names, reads their results, and the answer has all of it", async () => {
    answers = [
      {
        calls: [
          { name: "look", args: { at: "it" } },
          { name: "read", args: {} },
          { name: "write", args: {} },
        ],
      },
      "a cat",
    ];
    const { messages } = await ask(text);
    expect(asked[0]?.tools.map(({ name }) => name)).toEqual(["look", "read"]);
    expect(invoked).toEqual([
      ["look", { at: "it" }, undefined],
      ["read", {}, undefined],
    ]);
    expect(resultsIn(asked[1])).toEqual(["seen", "the tool failed: it is torn", "the tool failed: the tool write is not offered here"]);
    expect(messages.map(({ role }) => role)).toEqual(["assistant", "tool", "tool", "tool", "assistant"]);
  });

  test("those of a run have no more rights than it", async () => {
    answers = [{ calls: [{ name: "look", args: {} }] }, "a cat"];
    await ask({ ...text, runId: "r1" });
    expect(asked[0]?.tools.map(({ name }) => name)).toEqual(["look"]);
    expect(invoked).toEqual([["look", {}, "person"]]);
    expect(counted).toHaveLength(2);
  });

  test("four answers may call, eight calls each; the fifth has to do without", async () => {
    const calls = { calls: Array.from({ length: 9 }, () => ({ name: "look", args: {} })) };
    answers = [calls, calls, calls, calls, "a cat"];
    await ask(text);
    expect(asked.map(({ toolChoice }) => toolChoice)).toEqual([undefined, undefined, undefined, undefined, "none"]);
    expect(invoked).toHaveLength(32);
    expect(resultsIn(asked[1])?.at(-1)).toBe("too many calls at once");
  });
});

test("the model that the question names is asked first, one that nobody offers is passed over, and the thinking level is its own", async () => {
  const text = { agentId: "blind", sessionKey: "agent:blind:main", content: [{ type: "text" as const, text: "Well?" }] };
  await ask({ ...text, model: "lab/seer", thinking: "low" });
  expect(asked.at(-1)).toMatchObject({ model: "seer", thinking: "low" });
  answers = [new ModelError("model_not_found", "gone")];
  await ask({ ...text, model: "lab/seer" });
  expect(asked.at(-1)).toMatchObject({ model: "reader", thinking: "off" });
  await ask({ ...text, model: "nobody/none" });
  expect(asked.at(-1)).toMatchObject({ model: "reader" });
});

test("where nobody names a model the first one that is ready is asked, unless only named ones may be", async () => {
  const text = { agentId: "free", sessionKey: "agent:free:main", content: [{ type: "text" as const, text: "Well?" }] };
  await ask(text);
  await expect(ask({ ...text, isNamedOnly: true })).rejects.toMatchObject({ code: "model-cannot-read" });
  expect(asked).toHaveLength(1);
});
