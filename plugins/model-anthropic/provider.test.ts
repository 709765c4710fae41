import type { ModelRequest } from "svc/sdk";
import { createVendorFetch, type ProviderSettings } from "svc/sdk/internal";
import { createTestRequests, type TestRequests } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { answerText, httpErrors } from "../../test/fakes/anthropic-scripts.ts";
import { type FakeAnthropic, startFakeAnthropic } from "../../test/fakes/anthropic-server.ts";
import {
  collect,
  continued,
  faultOf,
  modelRequest,
  quiet,
  searchTool,
  settingsOf,
  textOf,
  user,
} from "../../test/fixtures/model-provider.ts";
import { createProvider } from "./provider.ts";

let vendor: FakeAnthropic;
let requests: TestRequests;

beforeAll(async () => {
  vendor = await startFakeAnthropic();
  requests = createTestRequests();
});

beforeEach(() => {
  vendor.requests.length = 0;
});

afterAll(async () => {
  await requests.close();
  await vendor.close();
});

function provider(more: Partial<ProviderSettings> = {}) {
  const clock = { now: () => 0, monotonic: () => 0 };
  return createProvider(settingsOf(vendor, more), { fetch: createVendorFetch(requests.request, 30_000), clock, logger: quiet });
}

type Body = Record<string, unknown> & { max_tokens: number; messages: Array<{ role: string; content: object[] }> };
const sent = (index = -1) => vendor.requests.at(index)?.body as Body;
const tools = [searchTool];

/** Rounds of calls and results, then an answer. */
async function converse(model: string, more: Partial<ModelRequest> = {}, rounds = 1): Promise<string> {
  let messages = modelRequest(model).messages;
  for (let i = 0; i < rounds; i++)
    messages = [...messages, ...continued(await collect(provider(), modelRequest(model, { tools, ...more, messages })))];
  return textOf(await collect(provider(), modelRequest(model, { tools, ...more, messages })));
}

describe("a turn", () => {
  test("streams text, then usage with the cache and the reasoning, then the finish", async () => {
    const deltas = await collect(provider(), modelRequest("claude-opus-4-6"));
    expect(textOf(deltas)).toBe(answerText);
    expect(deltas.slice(-2)).toEqual([
      { type: "usage", usage: { input: 12, output: 9, cacheRead: 4, cacheWrite: 5, reasoning: 3, total: 30 } },
      { type: "finish", reason: "stop" },
    ]);
  });

  test("sends key, version, the product's name and a limit of the answer, and marks what the vendor keeps", async () => {
    await collect(provider(), modelRequest("claude-opus-4-6", { sampling: { temperature: 0.5, stop: ["END"] } }));
    expect(vendor.requests[0]?.headers).toMatchObject({
      ...{ "x-api-key": vendor.apiKey, "anthropic-version": "2023-06-01", "user-agent": "svc", "accept-encoding": "identity" },
    });
    expect(sent()).toEqual({
      ...{ model: "claude-opus-4-6", stream: true, max_tokens: 32_000, temperature: 0.5, stop_sequences: ["END"] },
      system: [{ type: "text", text: "You are helpful.", cache_control: { type: "ephemeral" } }],
      messages: [{ role: "user", content: [{ type: "text", text: "Where is the router?", cache_control: { type: "ephemeral" } }] }],
    });
  });

  test("sends a token of the environment as such, in the place of a key, with turns and for the list of models", async () => {
    const bearer = provider({ keySource: "ANTHROPIC_AUTH_TOKEN" });
    expect(textOf(await collect(bearer, modelRequest("claude-opus-4-6")))).toBe(answerText);
    expect(await bearer.models()).not.toEqual([]);
    expect(vendor.requests.map(({ headers }) => [headers.authorization, headers["x-api-key"]])).toEqual(
      vendor.requests.map(() => [`Bearer ${vendor.apiKey}`, undefined]),
    );
  });

  test("a conversation that begins with an answer is sent whole, behind a message that stands for a user's", async () => {
    const answer = { role: "assistant" as const, content: [{ type: "text" as const, text: "Welcome." }] };
    expect(textOf(await collect(provider(), modelRequest("claude-opus-4-6", { messages: [answer, user("Hi.")] })))).toBe(answerText);
    expect(sent().messages.map(({ role, content }) => [role, content])).toMatchObject([
      ["user", [{ text: "(start of the conversation)" }]],
      ["assistant", [{ text: "Welcome." }]],
      ["user", [{ text: "Hi." }]],
    ]);
  });

  test.each(["tool", "think", "redacted", "parallel"])(
    "%s: blocks of an answer with calls go back as they came, each call with its result",
    async (word) => {
      expect(await converse(`claude-opus-4-6:${word}`, { thinking: "high" })).toBe(answerText);
      const kinds = { tool: 1, think: 2, redacted: 4, parallel: 4 }[word];
      expect(sent().messages.map(({ content }) => content.length)).toEqual([1, kinds, word === "parallel" ? 3 : 1]);
    },
  );

  test("sends 25 rounds of calls back whole, within four marks, each request on top of the one before it", async () => {
    let messages = modelRequest("x").messages;
    let before: unknown[] = [];
    for (let i = 0; i < 25; i++) {
      messages = [
        ...messages,
        ...continued(await collect(provider(), modelRequest("claude-opus-4-6:think", { tools, thinking: "low", messages }))),
      ];
      messages.push(user("again"));
      const now = JSON.parse(JSON.stringify(sent().messages, (key, value) => (key === "cache_control" ? undefined : value))) as unknown[];
      expect(now.slice(0, before.length)).toEqual(before);
      before = now;
    }
    expect(vendor.requests).toHaveLength(25);
    expect(vendor.requests.at(-1)?.text.split('"cache_control"')).toHaveLength(4);
  });

  test("the bytes of a request without its last mark begin the next one of its session", async () => {
    const [first, second] = [modelRequest("claude-opus-4-6"), modelRequest("claude-opus-4-6")];
    second.messages.push({ role: "assistant", content: [{ type: "text", text: "There." }] }, user("And the modem?"));
    await collect(provider(), first);
    await collect(provider(), second);
    const [one = "", two = ""] = vendor.requests.map(({ text }) => text.replaceAll(',"cache_control":{"type":"ephemeral"}', ""));
    expect(two.startsWith(one.slice(0, one.lastIndexOf("}]")))).toBe(true);
    expect(vendor.requests[1]?.text).toContain('"text":"Where is the router?","cache_control"');
  });

  test("thinks by budget only where its calls were made thinking, and none has to be made", async () => {
    const haiku = (word: string, more: Partial<ModelRequest> = {}) =>
      modelRequest(`claude-haiku-4-5:${word}`, { tools, thinking: "low", ...more });
    const thinking = () => (sent() as { thinking?: object }).thinking;
    for (const [word, expected] of [
      ["think", { type: "enabled", budget_tokens: 2_048 }],
      ["tool", undefined],
    ] as const) {
      const first = await collect(provider(), haiku(word));
      expect(thinking()).toEqual({ type: "enabled", budget_tokens: 2_048 });
      await collect(provider(), haiku(word, { messages: [...haiku(word).messages, ...continued(first)] }));
      expect(thinking()).toEqual(expected);
    }
    await collect(provider(), haiku("tool", { toolChoice: "required" }));
    expect(thinking()).toBeUndefined();
  });

  test("thinks by budget over no calls of another model, whatever was said in between", async () => {
    const calls = (meta: Record<string, { id: string }> | undefined): ModelRequest["messages"] => [
      user("1"),
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm.", ...(meta ? { meta } : {}) },
          { type: "toolCall", id: "a", name: "memory_search", args: {} },
        ],
      },
      { role: "tool", toolCallId: "a", name: "memory_search", text: "found" },
    ];
    const answered: ModelRequest["messages"] = [{ role: "assistant", content: [{ type: "text", text: "There." }] }, user("2")];
    for (const [messages, isThinking] of [
      [calls(undefined), false],
      [calls({ openai: { id: "rs_1" } }), false],
      [[...calls(undefined), user("Hurry.")], false],
      [[...calls(undefined), ...answered], true],
    ] as const) {
      await collect(provider(), modelRequest("claude-haiku-4-5", { tools, thinking: "low", messages: [...messages] }));
      expect("thinking" in sent()).toBe(isThinking);
    }
  });

  test("ids of calls that the vendor would refuse are replaced, each by another, in call and result", async () => {
    const ids = ["call:1", "call.1", "fc_1|rs_2", "toolu_1"];
    const messages: ModelRequest["messages"] = [
      user("1"),
      { role: "assistant", content: ids.map((id) => ({ type: "toolCall", id, name: "memory_search", args: {} })) },
      ...ids.map((id) => ({ role: "tool" as const, toolCallId: id, name: "memory_search", text: "found" })),
    ];
    expect(textOf(await collect(provider(), modelRequest("claude-opus-4-6", { tools, messages })))).toBe(answerText);
    const [, calls, results] = sent().messages.map(({ content }) => content as Array<{ id: string; tool_use_id: string }>);
    const given = calls?.map(({ id }) => id) ?? [];
    expect(new Set(given).size).toBe(ids.length);
    expect(given.at(-1)).toBe("toolu_1");
    expect(results?.map(({ tool_use_id: id }) => id)).toEqual(given);
  });

  test("an address without a path has the version", async () => {
    const lab = provider({ baseUrl: vendor.origin });
    expect(textOf(await collect(lab, modelRequest("claude-opus-4-6")))).toBe(answerText);
    expect(await lab.models()).not.toEqual([]);
    expect(vendor.requests.map(({ path }) => path)).toEqual(["/v1/messages", "/v1/models?limit=1000"]);
  });

  test.each([
    ["required" as const, { type: "any" }],
    ["none" as const, { type: "none" }],
    [{ name: "memory_search" }, { type: "tool", name: "memory_search" }],
  ])("passes tool choice %j on, with calls one at a time when asked", async (toolChoice, wire) => {
    await collect(provider(), modelRequest("claude-opus-4-6", { tools, toolChoice, sampling: { parallelToolCalls: false } }));
    expect(sent().tool_choice).toEqual(toolChoice === "none" ? wire : { ...wire, disable_parallel_tool_use: true });
  });

  test("sends pictures and PDF", async () => {
    const content = [
      { type: "image" as const, mimeType: "image/png", data: "iVBORw0KGgo=" },
      { type: "file" as const, mimeType: "application/pdf", data: "JVBERi0=", fileName: "a.pdf" },
    ];
    await collect(provider(), modelRequest("claude-opus-4-6", { messages: [{ role: "user", content }] }));
    expect(sent().messages[0]?.content).toMatchObject([
      { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
      { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" }, title: "a.pdf" },
    ]);
  });

  test("has a word in the place of a file that the vendor does not read", async () => {
    const content = [
      { type: "file" as const, mimeType: "audio/wav", data: "AAAA", fileName: "a.wav" },
      { type: "image" as const, mimeType: "image/heic", data: "AAAA" },
    ];
    await collect(provider(), modelRequest("claude-opus-4-6", { messages: [{ role: "user", content }] }));
    expect(sent().messages[0]?.content).toMatchObject([
      { text: "[file a.wav, which this model cannot read]" },
      { text: "[file image/heic, which this model cannot read]" },
    ]);
  });

  test("asks for JSON by a schema, or by words where there is none", async () => {
    const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false };
    await collect(provider(), modelRequest("claude-opus-4-6", { sampling: { responseFormat: { type: "json_schema", schema } } }));
    expect(sent().output_config).toEqual({ format: { type: "json_schema", schema } });
    await collect(provider(), modelRequest("claude-opus-4-6", { sampling: { responseFormat: { type: "json_object" } } }));
    expect(sent().system).toMatchObject([{ cache_control: {} }, { text: expect.stringContaining("JSON object") }]);
  });

  test("sends the config's parameters under the request's own", async () => {
    const lab = provider({ params: { top_k: 5, model: "x", max_tokens: 70 }, modelParams: { "claude-opus-4-6": { top_k: 9 } } });
    await collect(lab, modelRequest("claude-opus-4-6"));
    expect(sent()).toMatchObject({ model: "claude-opus-4-6", top_k: 9, max_tokens: 70 });
    await collect(lab, modelRequest("claude-opus-4-6", { sampling: { maxTokens: 60 } }));
    expect(sent().max_tokens).toBe(60);
    await collect(
      provider({ models: [{ id: "claude-opus-4-6", maxTokens: 50 }] }),
      modelRequest("claude-opus-4-6", { sampling: { maxTokens: 60 } }),
    );
    expect(sent().max_tokens).toBe(50);
  });

  test("sends the config's sampling only where the model and its thinking take it", async () => {
    const lab = provider({ params: { temperature: 0.2, top_k: 5 }, modelParams: { "claude-haiku-4-5": { top_p: 0.9, temperature: 0.3 } } });
    const sampled = async (model: string, more: Partial<ModelRequest> = {}) => {
      await collect(lab, modelRequest(model, more));
      const { temperature, top_k, top_p } = sent();
      return { temperature, top_k, top_p };
    };
    expect(await sampled("claude-opus-4-6")).toEqual({ temperature: 0.2, top_k: 5 });
    expect(await sampled("claude-haiku-4-5", { sampling: { temperature: 0.7 } })).toEqual({ temperature: 0.7, top_k: 5 });
    expect(await sampled("claude-opus-4-6", { thinking: "high" })).toEqual({});
    expect(await sampled("claude-haiku-4-5", { thinking: "high" })).toEqual({});
    expect(await sampled("claude-sonnet-5-5")).toEqual({});
  });

  test("a server without a key gets none, whatever the environment has", async () => {
    const { apiKey: _none, ...settings } = settingsOf(vendor, { headers: { authorization: "Bearer t" } });
    const clock = { now: () => 0, monotonic: () => 0 };
    const lab = createProvider(settings, { fetch: createVendorFetch(requests.request, 30_000), clock, logger: quiet });
    expect(await faultOf(lab, modelRequest("claude-opus-4-6"))).toMatchObject({ fault: "auth", status: 401 });
    expect(vendor.requests[0]?.headers).toMatchObject({ authorization: "Bearer t" });
    expect(vendor.requests[0]?.headers).not.toHaveProperty("x-api-key");
  });

  test("leaves out what the vendor refuses: empty texts, reasoning that nothing follows, arguments that are no object", async () => {
    const meta = { anthropic: { signature: "s" } };
    await collect(
      provider(),
      modelRequest("claude-opus-4-6", {
        tools,
        messages: [
          user(""),
          { role: "assistant", content: [{ type: "reasoning", text: "Hm.", meta }] },
          user("2"),
          { role: "assistant", content: [{ type: "toolCall", id: "a", name: "memory_search", args: '{"q":' }] },
          { role: "tool", toolCallId: "a", name: "memory_search", text: "bad", isError: true },
        ],
      }),
    );
    expect(sent().messages.map(({ content }) => content)).toMatchObject([
      [{ text: "(empty)" }, { text: "2" }],
      [{ type: "tool_use", input: { malformed: '{"q":' } }],
      [{ type: "tool_result", is_error: true, content: "bad" }],
    ]);
  });
});

describe("an end", () => {
  test.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["tool_use", "tool_calls"],
    ["refusal", "content_filter"],
    ["something_new", "other"],
  ])("%s is %s", async (word, reason) => {
    expect((await collect(provider(), modelRequest(`claude-opus-4-6:stop:${word}`))).at(-1)).toEqual({ type: "finish", reason });
  });

  test("that is a pause goes on with what was said, and counts both parts", async () => {
    const deltas = await collect(provider(), modelRequest("claude-opus-4-6:stop:pause_turn"));
    expect(textOf(deltas)).toBe(answerText + answerText);
    expect(deltas.slice(-2)).toMatchObject([{ usage: { input: 24, output: 18 } }, { type: "finish", reason: "stop" }]);
    expect(sent().messages.at(-1)).toEqual({ role: "assistant", content: [{ type: "text", text: answerText }] });
  });

  test("of a withheld answer has no text", async () => {
    const deltas = await collect(provider(), modelRequest("claude-opus-4-6:withheld"));
    expect(deltas.map(({ type }) => type)).toEqual(["usage", "finish"]);
    expect(deltas.at(-1)).toEqual({ type: "finish", reason: "content_filter" });
  });

  test("in the middle of a call leaves its arguments as they came", async () => {
    const deltas = await collect(provider(), modelRequest("claude-opus-4-6:malformed", { tools }));
    expect(deltas.map((delta) => (delta.type === "toolCall" ? delta.argsDelta : "")).join("")).toBe('{"query":"rou');
    expect(deltas.at(-1)).toEqual({ type: "finish", reason: "length" });
  });

  test("of the connection is a fault of the network, behind whichever event", async () => {
    for (let events = 0; events < 15; events++) {
      for (const word of ["cut", "ended"]) {
        const { fault } = await faultOf(provider(), modelRequest(`claude-opus-4-6:${word}:${events}`));
        expect([word, events, fault]).toEqual([word, events, "network"]);
      }
    }
    expect(await faultOf(provider(), modelRequest("claude-opus-4-6:unreasoned"))).toMatchObject({ fault: "network" });
    expect(textOf(await collect(provider(), modelRequest("claude-opus-4-6:cut:15")))).toBe(answerText);
  });
});

describe("an error", () => {
  const faults: Record<string, string> = {
    ...{ "400": "invalid_request", "401": "auth", "402": "quota", "403": "auth", "404": "model_not_found", "413": "context_overflow" },
    ...{ "429": "rate_limit", "500": "overloaded", "504": "timeout", "529": "overloaded" },
    ...{ spent: "quota", credit: "quota", long: "context_overflow", both: "context_overflow" },
  };

  test.each(Object.entries(faults))("%s over HTTP is %s", async (name, fault) => {
    const error = await faultOf(provider(), modelRequest(`claude-opus-4-6:http:${name}`));
    expect(error).toMatchObject({ fault, status: httpErrors[name]?.[0], ...(name === "429" ? { retryAfterMs: 2_000 } : {}) });
    expect(error.message).not.toContain(vendor.apiKey);
  });

  test("529 carries the wait that the vendor asks for, and the next try answers", async () => {
    expect(await faultOf(provider(), modelRequest("claude-opus-4-6:once"))).toMatchObject({ fault: "overloaded", retryAfterMs: 7_000 });
    expect(textOf(await collect(provider(), modelRequest("claude-opus-4-6:once")))).toBe(answerText);
  });

  test.each(["first-error", "late-error"])("in a stream (%s) is what it would be over HTTP", async (word) => {
    for (const type of [
      "overloaded_error",
      "rate_limit_error",
      "authentication_error",
      "not_found_error",
      "api_error",
      "invalid_request_error",
    ]) {
      const { fault } = await faultOf(provider(), modelRequest(`claude-opus-4-6:${word}:${type}`));
      const [name] = Object.entries(httpErrors).find(([, [, known]]) => known === type) ?? [];
      expect([type, fault]).toEqual([type, faults[name ?? ""]]);
    }
  });
});

test.each([0, 9])("an abort closes the socket, behind %i events", async (events) => {
  const stop = new AbortController();
  const arrived = vendor.nextRequest();
  const run = collect(provider(), modelRequest(`claude-opus-4-6:hang:${events}`), stop.signal);
  run.catch(() => undefined);
  const request = await arrived;
  stop.abort();
  await expect(run).rejects.toMatchObject({ name: "AbortError" });
  expect(await request.ended).toEqual({ aborted: true });
});

test("the list of models has their windows and inputs, as far as the vendor tells them", async () => {
  expect(await provider().models()).toEqual([
    {
      ...{ id: "claude-sonnet-5-5", name: "Claude Sonnet 5.5", contextWindow: 1_000_000, maxTokens: 128_000, reasoning: true },
      input: ["text", "image", "pdf"],
    },
    { id: "claude-3-haiku-20240307", name: "Claude Haiku 3", reasoning: false, input: ["text", "image", "pdf"] },
  ]);
});

test("a configured model has what its family is known for, and the config wins", () => {
  const models: ProviderSettings["models"] = [
    { id: "claude-opus-4-6" },
    { id: "claude-3-5-haiku-latest", contextWindow: 9_000 },
    { id: "claude-2.1" },
    { id: "claude-next", input: ["text"], reasoning: false },
    { id: "glm-9" },
  ];
  expect(provider({ models }).models()).toEqual([
    { id: "claude-opus-4-6", reasoning: true, input: ["text", "image", "pdf"] },
    { id: "claude-3-5-haiku-latest", reasoning: false, input: ["text", "image", "pdf"], contextWindow: 9_000 },
    { id: "claude-2.1", reasoning: false, input: ["text"] },
    { id: "claude-next", reasoning: false, input: ["text"] },
    { id: "glm-9" },
  ]);
});
