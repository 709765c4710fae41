import type { ModelDelta, ModelRequest } from "svc/sdk";
import { createVendorFetch, type ProviderSettings, type VendorFetch } from "svc/sdk/internal";
import { createTestRequests, type TestRequests } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { CALL_LINES, type FakeOllama, type FakeOllamaOptions, okText, startFakeOllama, thought } from "../../test/fakes/ollama-chat.ts";
import { answerOf, collect, continued, faultOf, findTool, modelRequest, quiet, textOf, user } from "../../test/fixtures/model-provider.ts";
import { createProvider } from "./provider.ts";
import type { PromptLimits } from "./window.ts";

let server: FakeOllama;
let requests: TestRequests;

beforeAll(async () => {
  server = await startFakeOllama();
  requests = createTestRequests();
});
beforeEach(() => {
  server.requests.length = 0;
});
afterAll(async () => {
  await requests.close();
  await server.close();
});

async function other(options: FakeOllamaOptions): Promise<FakeOllama> {
  const own = await startFakeOllama(options);
  onTestFinished(() => own.close());
  return own;
}

function provider(more: Partial<ProviderSettings> & { prompts?: PromptLimits } = {}, fetching?: VendorFetch) {
  const { prompts = { default: undefined, own: undefined }, ...rest } = more;
  const settings: ProviderSettings = {
    id: "ollama",
    name: "Ollama",
    baseUrl: server.origin,
    headers: {},
    timeoutMs: 30_000,
    firstAnswerMs: 30_000,
    models: [],
    ...rest,
  };
  const fetch = fetching ?? createVendorFetch(requests.request, settings.timeoutMs);
  const clock = { now: () => 0, monotonic: () => 0 };
  return createProvider(settings, { fetch, clock, logger: quiet, prompts: () => prompts });
}

const ask = (model: string, more?: Partial<ModelRequest>, from = provider()) => collect(from, modelRequest(model, more));
const chats = (of = server) => of.requests.filter(({ path }) => path === "/api/chat").map(({ body }) => body as Record<string, unknown>);
const sent = (of = server) => chats(of).at(-1) as { options: Record<string, unknown>; [field: string]: unknown };

describe("a turn", () => {
  test("streams thoughts, text, usage and the finish", async () => {
    const deltas = await ask("tk-text", { thinking: "high" });

    expect(answerOf(deltas).content).toEqual([
      { type: "reasoning", text: thought },
      { type: "text", text: okText },
    ]);
    expect(deltas.slice(-2)).toEqual([
      { type: "usage", usage: { input: 26, output: 12, cacheRead: 0, cacheWrite: 0, total: 38 } },
      { type: "finish", reason: "stop" },
    ]);
  });

  test("names its window and lets nothing be cut silently", async () => {
    const sampling = { maxTokens: 100, temperature: 0.5, topP: 0.9, seed: 7, stop: ["END"], frequencyPenalty: 0.1, presencePenalty: 0.2 };
    await ask("tk-text", { sampling, thinking: "off" });

    expect(sent()).toEqual({
      model: "tk-text",
      messages: [
        { role: "system", content: "You are helpful." },
        { role: "user", content: "Where is the router?" },
      ],
      stream: true,
      truncate: false,
      shift: false,
      think: false,
      options: {
        num_ctx: 8_192,
        num_predict: 100,
        temperature: 0.5,
        top_p: 0.9,
        seed: 7,
        stop: ["END"],
        frequency_penalty: 0.1,
        presence_penalty: 0.2,
      },
    });
  });

  test("sends the config's parameters, and nothing lets the server cut", async () => {
    const params = { keep_alive: "30m", truncate: true, options: { top_k: 5, temperature: 0.1 } };
    const modelParams = { "x-text": { keep_alive: "1h", options: { top_k: 9 } } };
    await ask("x-text", { sampling: { temperature: 0.7 } }, provider({ params, modelParams, models: [{ id: "x-text", maxTokens: 50 }] }));
    expect(sent()).toMatchObject({ keep_alive: "1h", truncate: false, options: { top_k: 9, temperature: 0.7, num_predict: 50 } });
  });

  test("sends pictures beside the text, and a word in place of other files", async () => {
    const content = [
      { type: "text" as const, text: "What is this?" },
      { type: "image" as const, mimeType: "image/png", data: "iVBORw0KGgo=" },
      { type: "file" as const, mimeType: "application/pdf", data: "JVBERi0=", fileName: "a.pdf" },
    ];
    await ask("v-text", { messages: [{ role: "user", content }] });
    expect((sent().messages as unknown[])[1]).toEqual({
      role: "user",
      content: "What is this?\n[file a.pdf, which this model cannot read]",
      images: ["iVBORw0KGgo="],
    });
  });

  const schema = { type: "object", properties: { a: { type: "string" } } };
  const look = { ...findTool, name: "look" };
  test.each<[string, Partial<ModelRequest>, object]>([
    ["JSON", { sampling: { responseFormat: { type: "json_object" } } }, { format: "json" }],
    ["a schema", { sampling: { responseFormat: { type: "json_schema", schema } } }, { format: schema }],
    [
      "a named tool, by leaving out the others",
      { tools: [findTool, look], toolChoice: { name: "look" } },
      { tools: [{ function: { name: "look" } }] },
    ],
  ])("asks for %s", async (_name, more, wire) => {
    await ask("t-text", more);
    expect(sent()).toMatchObject(wire);
  });

  test("without tools to be called offers none", async () => {
    await ask("t-text", { tools: [findTool], toolChoice: "none" });
    expect(sent()).not.toHaveProperty("tools");
  });

  test("of thousands of lines is read to its end", async () => {
    expect(textOf(await ask("x-many"))).toHaveLength(10 * 2 + 90 * 3 + 900 * 4 + 3_000 * 5);
  });

  test.each(["/api", "/v1", ""])("goes to the same place with %j behind the address", async (path) => {
    expect(textOf(await ask("x-text", {}, provider({ baseUrl: `${server.origin}${path}` })))).toBe(okText);
  });
});

describe("thinking", () => {
  test.each([
    ["off", false],
    ["minimal", "low"],
    ["low", "low"],
    ["medium", "medium"],
    ["high", "high"],
    ["xhigh", "max"],
    [undefined, undefined],
  ])("level %s is sent as %s", async (thinking, think) => {
    await ask("k-text", thinking === undefined ? {} : { thinking });
    expect(sent().think).toBe(think);
  });

  test("is not user of a model that cannot", async () => {
    await ask("t-text", { thinking: "high" });
    expect(sent()).not.toHaveProperty("think");
  });

  test("that the server refuses is left out from then on", async () => {
    const from = provider({ models: [{ id: "t-text", reasoning: true }] });
    for (let i = 0; i < 2; i++) expect(textOf(await ask("t-text", { thinking: "high" }, from))).toBe(okText);
    expect(chats().map(({ think }) => think)).toEqual(["high", undefined, undefined]);
  });

  test("has no levels at an older server, which is remembered", async () => {
    const old = await other({ old: "levels" });
    const from = provider({ baseUrl: old.origin });
    for (let i = 0; i < 2; i++) await ask("k-text", { thinking: "high" }, from);
    expect(chats(old).map(({ think }) => think)).toEqual(["high", true, true]);
  });
});

describe("tool loops", () => {
  test("return thoughts and calls with their results", async () => {
    const first = await ask("tk-tools", { tools: [findTool], thinking: "low" });
    expect(first.at(-1)).toEqual({ type: "finish", reason: "tool_calls" });
    const messages = [user("Where is the router?"), ...continued(first)];

    expect(textOf(await ask("tk-tools", { tools: [findTool], thinking: "low", messages }))).toBe(okText);
    const id = expect.stringMatching(/^call_[\w-]{12}$/);
    const call = { name: "find", arguments: { query: "Where is the router?" } };
    expect((sent().messages as unknown[]).slice(2)).toEqual([
      {
        role: "assistant",
        content: "",
        thinking: thought,
        tool_calls: [
          { id, function: call },
          { id: "call_abc", function: call },
        ],
      },
      { role: "tool", tool_name: "find", tool_call_id: id, content: "In the cupboard." },
      { role: "tool", tool_name: "find", tool_call_id: "call_abc", content: "In the cupboard." },
    ]);
  });

  test("leave the thoughts of earlier turns out and mark a failure", async () => {
    const call = { type: "toolCall" as const, id: "a", name: "find", args: "no object" };
    const messages: ModelRequest["messages"] = [
      user("Where?"),
      { role: "assistant", content: [{ type: "reasoning", text: "old" }, { type: "text", text: "I look." }, call] },
      { role: "tool", toolCallId: "a", name: "find", text: "it is closed", isError: true },
      user("And now?"),
    ];
    await ask("tk-text", { tools: [findTool], messages });
    expect((sent().messages as unknown[]).slice(2, 4)).toEqual([
      { role: "assistant", content: "I look.", tool_calls: [{ id: "a", function: { name: "find", arguments: {} } }] },
      { role: "tool", tool_name: "find", tool_call_id: "a", content: "Error: it is closed" },
    ]);
  });

  test("of 25 rounds load the model once", async () => {
    const own = await other({});
    const from = provider({ baseUrl: own.origin });
    const messages = [user("Where is the router?")];
    for (let round = 0; round < 25; round++) messages.push(...continued(await ask("t-endless", { tools: [findTool], messages }, from)));
    expect(textOf(await ask("t-endless", { tools: [findTool], messages }, from))).toBe(okText);
    expect(own.loads()).toBe(1);
  });

  test("show malformed arguments as they came", async () => {
    const deltas = await ask("t-malformed", { tools: [findTool] });
    expect(deltas.find((d) => d.type === "toolCall")).toMatchObject({ argsDelta: '{"query": rout' });
  });

  test("with a model that takes no tools fail in the server's words, by which agents learn", async () => {
    const error = await faultOf(provider(), modelRequest("x-text", { tools: [findTool] }));
    expect(error).toMatchObject({ fault: "invalid_request", message: expect.stringContaining("does not support tools") });
  });
});

test.each([
  ["text", "stop"],
  ["tool", "tool_calls"],
  ["length", "length"],
  ["unloaded", "other"],
  ["before", "stop"],
])("an answer that ends with %s finishes with %s", async (script, reason) => {
  expect((await ask(`t-${script}`, { tools: [findTool] })).at(-1)).toEqual({ type: "finish", reason });
});

describe("faults", () => {
  test.each([
    ["x-status-400", "invalid_request", 400],
    ["x-status-401", "auth", 401],
    ["x-status-500", "overloaded", 500],
    ["x-status-503-server_busy", "overloaded", 503],
    ["x-status-500-the_input_length_exceeds_the_context_length", "context_overflow", 500],
    ["x-status-400-request_(9_tokens)_exceeds_the_available_context_size", "context_overflow", 400],
    ["x-status-429", "rate_limit", 429],
    ["nobody", "model_not_found", 404],
    ["x-late", "overloaded", 500],
    ["x-late-busy", "overloaded", 503],
    ["x-garbage", "network", undefined],
    ["x-flood", "network", undefined],
  ])("%s is %s", async (model, fault, status) => {
    const error = await faultOf(provider(), modelRequest(model));
    expect({ fault: error.fault, status: error.status }).toEqual({ fault, status });
  });

  test("a prompt above the window is refused and not cut", async () => {
    const error = await faultOf(provider(), modelRequest("x-text", { messages: [user("word ".repeat(8_192))] }));
    expect(error.fault).toBe("context_overflow");
  });

  test.each(["cut", "short"])("a stream that is %s behind any of its lines is a broken connection", async (how) => {
    const from = provider();
    const seen = [];
    for (let lines = 0; lines < CALL_LINES; lines++) {
      const req = modelRequest(`tk-${how}-${lines}`, { tools: [findTool], thinking: "low" });
      seen.push((await faultOf(from, req)).fault);
    }
    expect(seen).toEqual(Array(CALL_LINES).fill("network"));
  });

  test("a key for a proxy before the server is sent, and shown by no message", async () => {
    const locked = await other({ apiKey: "sk-of-the-proxy-123" });
    expect(textOf(await ask("x-text", {}, provider({ baseUrl: locked.origin, apiKey: "sk-of-the-proxy-123" })))).toBe(okText);
    const error = await faultOf(provider({ baseUrl: locked.origin, apiKey: "wrong-key-987654" }), modelRequest("x-text"));
    expect(error.fault).toBe("auth");
    expect(`${error.message}${error.stack}`).not.toContain("wrong-key-987654");
  });
});

test.each(["hang", "drip"])("an abort closes the socket of %s", async (script) => {
  const from = provider();
  await from.models();
  const stop = new AbortController();
  const seen: ModelDelta[] = [];
  const turn = (async () => {
    for await (const delta of from.stream(modelRequest(`x-${script}`), { signal: stop.signal })) seen.push(delta);
  })();
  turn.catch(() => undefined);
  let arrived = await server.nextRequest();
  while (arrived.path !== "/api/chat") arrived = await server.nextRequest();
  stop.abort();
  await expect(turn).rejects.toMatchObject({ name: "AbortError" });
  expect(await arrived.ended).toEqual({ aborted: true });
});

test("an abort does not wait for the details of a model", async () => {
  let user: () => void = () => undefined;
  const isAsked = new Promise<void>((resolve) => {
    user = resolve;
  });
  const silent = () => {
    user();
    return new Promise<never>(() => undefined);
  };
  const from = provider({}, silent);
  const stop = new AbortController();
  const turn = collect(from, modelRequest("x-text"), stop.signal);
  turn.catch(() => undefined);
  await isAsked;
  stop.abort();
  await expect(turn).rejects.toMatchObject({ name: "AbortError" });
});

describe("the list of models", () => {
  test("is the server's, with what it says about each, without those that only embed", async () => {
    expect(await provider().models()).toEqual([
      { id: "tk-text", input: ["text"], reasoning: true, tools: true, contextWindow: 8_192 },
      { id: "x-text", input: ["text"], reasoning: false, tools: false, contextWindow: 8_192 },
    ]);
  });

  test("asks about each model once", async () => {
    const from = provider();
    await from.models();
    await from.models();
    await ask("x-text", {}, from);
    expect(server.requests.map(({ path }) => path)).toEqual(["/api/tags", "/api/show", "/api/show", "/api/show", "/api/chat"]);
  });

  test("of the config holds at once, and is completed by what the server says", async () => {
    const from = provider({ models: [{ id: "tv-text", contextWindow: 4_096 }] });
    expect(from.models()).toEqual([{ id: "tv-text", contextWindow: 4_096 }]);
    await ask("tv-text", {}, from);
    expect(from.models()).toEqual([{ id: "tv-text", input: ["text", "image"], reasoning: false, tools: true, contextWindow: 4_096 }]);
    expect(sent().options.num_ctx).toBe(4_096);
  });

  test("of a server that knows no details has names only", async () => {
    const old = await other({ old: "details" });
    expect(await provider({ baseUrl: old.origin }).models()).toEqual([
      { id: "tk-text", contextWindow: 32_768 },
      { id: "x-text", contextWindow: 32_768 },
      { id: "embed-text", contextWindow: 32_768 },
    ]);
    expect(textOf(await ask("x-text", {}, provider({ baseUrl: old.origin })))).toBe(okText);
  });

  test("is user for by a probe, which tells a server that is away", async () => {
    const away = await startFakeOllama();
    await away.close();
    const signal = new AbortController().signal;
    expect(await provider().probe?.({ signal })).toEqual({ ok: true });
    expect(await provider({ baseUrl: away.origin }).probe?.({ signal })).toMatchObject({ ok: false, fault: "network" });
  });
});
