import type { ModelRequest } from "svc/sdk";
import { createVendorFetch, type ProviderSettings } from "svc/sdk/internal";
import { createTestRequests, type TestRequests } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { answerText, httpErrors, signature, thoughtText } from "../../test/fakes/google-scripts.ts";
import { type FakeGoogle, startFakeGoogle } from "../../test/fakes/google-server.ts";
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

let vendor: FakeGoogle;
let requests: TestRequests;

beforeAll(async () => {
  vendor = await startFakeGoogle();
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

type Body = Record<string, unknown> & { contents: Array<{ role: string; parts: object[] }>; generationConfig: object };
const sent = (index = -1) => vendor.requests.at(index)?.body as Body;
const model = (word: string) => `gemini-3.5-flash${word === "" ? "" : `~${word}`}`;
const tools = [searchTool];

describe("a turn", () => {
  test("streams text, then usage with the cache and the reasoning, then the finish", async () => {
    const deltas = await collect(provider(), modelRequest(model("")));
    expect(textOf(deltas)).toBe(answerText);
    expect(deltas.slice(-2)).toEqual([
      { type: "usage", usage: { input: 8, output: 9, cacheRead: 4, cacheWrite: 0, reasoning: 3, total: 21 } },
      { type: "finish", reason: "stop" },
    ]);
  });

  test("sends the key in a header, and what the request says over the config's parameters", async () => {
    const lab = provider({
      baseUrl: `${vendor.origin}/v1beta/openai/`,
      params: { generationConfig: { topK: 5, temperature: 0.1 }, safetySettings: [], contents: [] },
      modelParams: { [model("")]: { generationConfig: { topK: 9 } } },
      models: [{ id: model(""), maxTokens: 50 }],
    });
    await collect(lab, modelRequest(model(""), { sampling: { temperature: 0.5, maxTokens: 60, stop: ["END"], seed: 1 } }));
    expect(vendor.requests[0]?.headers).toMatchObject({
      ...{ "x-goog-api-key": vendor.apiKey, "user-agent": "svc", "accept-encoding": "identity" },
    });
    expect(sent()).toEqual({
      generationConfig: { topK: 9, temperature: 0.5, maxOutputTokens: 50, stopSequences: ["END"], seed: 1 },
      safetySettings: [],
      contents: [{ role: "user", parts: [{ text: "Where is the router?" }] }],
      systemInstruction: { parts: [{ text: "You are helpful." }] },
    });
  });

  test.each(["tool", "think", "parallel"])("%s: parts with calls go back as they came, with all results in one message", async (word) => {
    const messages = modelRequest("").messages;
    const asked: Partial<ModelRequest> = { tools, thinking: "high" };
    const first = await collect(provider(), modelRequest(model(word), asked));
    expect(first.at(-1)).toEqual({ type: "finish", reason: "tool_calls" });
    const next = [...messages, ...continued(first)];
    expect(textOf(await collect(provider(), modelRequest(model(word), { ...asked, messages: next })))).toBe(answerText);
    const [, answer, results] = sent().contents;
    const call = { functionCall: { args: { query: "wo ist der 🦉 0" } }, thoughtSignature: signature };
    const second = { functionCall: { args: { query: "wo ist der 🦉 1" } } };
    expect(answer?.parts).toMatchObject(
      { tool: [call], think: [{ text: thoughtText, thought: true }, call], parallel: [call, second] }[word] ?? [],
    );
    if (word === "parallel") expect(answer?.parts[1]).not.toHaveProperty("thoughtSignature");
    expect(results?.parts).toHaveLength(word === "parallel" ? 2 : 1);
  });

  test("the signature of a text goes back on that text", async () => {
    const said = continued(await collect(provider(), modelRequest(model(""))));
    await collect(provider(), modelRequest(model(""), { messages: [...modelRequest("").messages, ...said, user("again")] }));
    expect(sent().contents[1]?.parts).toEqual([{ text: answerText, thoughtSignature: signature }]);
  });

  test("a conversation that begins with an answer is sent whole, behind a message that stands for a user's", async () => {
    const answer = { role: "assistant" as const, content: [{ type: "text" as const, text: "Welcome." }] };
    await collect(provider(), modelRequest(model(""), { messages: [answer, user("Hi.")] }));
    expect(sent().contents).toMatchObject([
      { role: "user", parts: [{ text: "(start of the conversation)" }] },
      { role: "model", parts: [{ text: "Welcome." }] },
      { role: "user", parts: [{ text: "Hi." }] },
    ]);
  });

  test("sends 25 rounds of calls back, and thoughts of the last turn only", async () => {
    let messages = modelRequest("").messages;
    for (let i = 0; i < 25; i++) {
      const req = modelRequest(model("think"), { tools, thinking: "low", messages });
      messages = [...messages, ...continued(await collect(provider(), req)), user("again")];
    }
    expect(vendor.requests).toHaveLength(25);
    expect(JSON.stringify(sent()).split(signature)).toHaveLength(25);
    expect(JSON.stringify(sent())).not.toContain(thoughtText);
  });

  test("calls of another model go back with the mark that the vendor has for them", async () => {
    const messages: ModelRequest["messages"] = [
      user("1"),
      { role: "assistant", content: [{ type: "toolCall", id: "a", name: "memory_search", args: '{"q":' }] },
      { role: "tool", toolCallId: "a", name: "memory_search", text: "bad", isError: true },
      user(""),
      user("2"),
    ];
    await collect(provider(), modelRequest(model(""), { tools, messages }));
    expect(sent().contents.map(({ parts }) => parts)).toEqual([
      [{ text: "1" }],
      [
        {
          functionCall: { id: "a", name: "memory_search", args: { malformed: '{"q":' } },
          thoughtSignature: "skip_thought_signature_validator",
        },
      ],
      [{ functionResponse: { id: "a", name: "memory_search", response: { name: "memory_search", content: "Error: bad" } } }],
      [{ text: "(empty)" }, { text: "2" }],
    ]);
  });

  test.each([
    ["required" as const, { mode: "ANY" }],
    ["none" as const, { mode: "NONE" }],
    [{ name: "memory_search" }, { mode: "ANY", allowedFunctionNames: ["memory_search"] }],
  ])("passes tool choice %j on", async (toolChoice, functionCallingConfig) => {
    await collect(provider(), modelRequest(model(""), { tools, toolChoice }));
    expect(sent().toolConfig).toEqual({ functionCallingConfig });
  });

  test("sends pictures, PDF and audio", async () => {
    const kinds = ["image/png", "application/pdf", "audio/wav"];
    const content = kinds.map((mimeType) => ({ type: "file" as const, mimeType, data: "AAAA" }));
    await collect(provider(), modelRequest(model(""), { messages: [{ role: "user", content }] }));
    expect(sent().contents[0]?.parts).toEqual(kinds.map((mimeType) => ({ inlineData: { mimeType, data: "AAAA" } })));
  });

  test("has a word in the place of a file that the vendor does not read", async () => {
    const content = [
      { type: "image" as const, mimeType: "image/gif", data: "AAAA" },
      { type: "file" as const, mimeType: "application/zip", data: "AAAA", fileName: "a.zip" },
    ];
    await collect(provider(), modelRequest(model(""), { messages: [{ role: "user", content }] }));
    expect(sent().contents[0]?.parts).toEqual([
      { text: "[file image/gif, which this model cannot read]" },
      { text: "[file a.zip, which this model cannot read]" },
    ]);
  });

  test("asks for JSON, with a schema in the vendor's subset", async () => {
    const schema = { type: "object", properties: { a: { type: "string", format: "uri" } }, required: ["a"], additionalProperties: false };
    await collect(provider(), modelRequest(model(""), { sampling: { responseFormat: { type: "json_schema", schema } } }));
    expect(sent().generationConfig).toEqual({
      responseMimeType: "application/json",
      responseSchema: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
    });
  });

  test("offers tools with schemas in the vendor's subset", async () => {
    const query = { oneOf: [{ type: "string", format: "uri", pattern: "^h" }, { type: "null" }] };
    const inputSchema = { $schema: "s", type: "object", properties: { query }, additionalProperties: false };
    await collect(provider(), modelRequest(model(""), { tools: [{ ...searchTool, inputSchema }] }));
    const parameters = { type: "object", properties: { query: { type: "string", nullable: true } } };
    expect(sent().tools).toEqual([{ functionDeclarations: [{ name: "memory_search", description: "Searches.", parameters }] }]);
  });

  test("offers tools whose schemas have what the vendor or the package would refuse the whole request for", async () => {
    const properties = {
      mode: { enum: ["auto", 1] },
      none: { type: "string", enum: [] },
      kind: { const: { a: 1 } },
      list: { type: "array" },
      any: { type: "array", items: {} },
      other: { $ref: "https://schemas.example/other.json" },
      self: { $ref: "#/properties/list" },
      known: { $ref: "#/$defs/known" },
    };
    const inputSchema = { type: "object", properties, $defs: { known: { type: "array" } } };
    await collect(provider(), modelRequest(model(""), { tools: [{ ...searchTool, inputSchema }] }));
    const list = { type: "array", items: { type: "string" } };
    expect(sent().tools).toMatchObject([
      {
        functionDeclarations: [
          {
            parameters: {
              properties: {
                ...{ mode: { type: "string" }, none: { type: "string" }, kind: { type: "string" } },
                ...{ list, any: list, other: { type: "object" }, self: { type: "object" }, known: list },
              },
            },
          },
        ],
      },
    ]);
  });

  test("asks for thoughts by level or budget", async () => {
    await collect(provider(), modelRequest(model(""), { thinking: "xhigh" }));
    await collect(provider(), modelRequest("gemini-2.5-flash", { thinking: "low" }));
    await collect(provider(), modelRequest("gemini-2.0-flash", { thinking: "low" }));
    expect(vendor.requests.map(({ body }) => (body as { generationConfig: object }).generationConfig)).toEqual([
      { thinkingConfig: { includeThoughts: true, thinkingLevel: "high" } },
      { thinkingConfig: { includeThoughts: true, thinkingBudget: 2_048 } },
      {},
    ]);
  });

  test("a server without a key gets none, whatever the environment has", async () => {
    const { apiKey: _none, ...settings } = settingsOf(vendor);
    const clock = { now: () => 0, monotonic: () => 0 };
    const lab = createProvider(settings, { fetch: createVendorFetch(requests.request, 30_000), clock, logger: quiet });
    expect(await faultOf(lab, modelRequest(model("")))).toMatchObject({ fault: "auth", status: 400 });
    expect(vendor.requests[0]?.headers).not.toHaveProperty("x-goog-api-key");
  });
});

describe("an end", () => {
  const withheld = ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"];
  test.each([
    ["STOP", "stop"],
    ["MAX_TOKENS", "length"],
    ...withheld.map((word) => [word, "content_filter"]),
    ["OTHER", "other"],
    ["SOMETHING_NEW", "other"],
  ])("%s is %s", async (word, reason) => {
    expect((await collect(provider(), modelRequest(model(`stop~${word}`)))).at(-1)).toEqual({ type: "finish", reason });
  });

  test("of a prompt that is blocked has no text", async () => {
    const deltas = await collect(provider(), modelRequest(model("blocked")));
    expect(deltas.map(({ type }) => type)).toEqual(["usage", "finish"]);
    expect(deltas.at(-1)).toEqual({ type: "finish", reason: "content_filter" });
  });

  test("by a call that the vendor could not read is worth another try", async () => {
    const fault = await faultOf(provider(), modelRequest(model("malformed-once"), { tools }));
    expect(fault).toMatchObject({ fault: "network", message: expect.stringContaining("MALFORMED_FUNCTION_CALL") });
    expect(textOf(await collect(provider(), modelRequest(model("malformed-once"), { tools })))).toBe(answerText);
  });

  test("of the connection is a fault of the network, behind whichever event", async () => {
    for (let chunks = 0; chunks < 5; chunks++) {
      for (const word of ["cut", "ended"]) {
        const { fault } = await faultOf(provider(), modelRequest(model(`${word}~${chunks}`)));
        expect([word, chunks, fault]).toEqual([word, chunks, "network"]);
      }
    }
  });
});

describe("an error", () => {
  const faults: Record<string, string> = {
    ...{ API_KEY_INVALID: "auth", expired: "auth", "400": "invalid_request", "403": "auth", "404": "model_not_found" },
    ...{ "34s": "rate_limit", "90s": "rate_limit", "1.5s": "rate_limit", soon: "rate_limit", spent: "quota", long: "context_overflow" },
    ...{ day: "quota", "day-34s": "quota", minute: "rate_limit", broken: "rate_limit", "34h": "rate_limit" },
    ...{ "500": "overloaded", "503": "overloaded", "504": "timeout" },
  };
  const waits: Record<string, number> = {
    "34s": 34_000,
    "90s": 90_000,
    "1.5s": 1_500,
    "day-34s": 34_000,
    broken: 34_000,
    "34h": 3_600_000,
  };

  test.each(Object.entries(faults))("%s over HTTP is %s", async (name, fault) => {
    const error = await faultOf(provider(), modelRequest(model(`http~${name}`)));
    expect(error).toMatchObject({ fault, status: httpErrors[name]?.code });
    expect(error.retryAfterMs).toBe(waits[name]);
    expect(error.message).not.toContain(vendor.apiKey);
  });

  test.each(["API_KEY_INVALID", "404", "503", "long"])("%s in a stream is what it would be over HTTP", async (name) => {
    expect(await faultOf(provider(), modelRequest(model(`late-error~${name}`)))).toMatchObject({ fault: faults[name] });
  });
});

test.each([0, 2])("an abort closes the socket, behind %i events", async (chunks) => {
  const stop = new AbortController();
  const arrived = vendor.nextRequest();
  const run = collect(provider(), modelRequest(model(`hang~${chunks}`)), stop.signal);
  run.catch(() => undefined);
  const request = await arrived;
  stop.abort();
  await expect(run).rejects.toMatchObject({ name: "AbortError" });
  expect(await request.ended).toEqual({ aborted: true });
});

test("the list of models has those that write, with their windows and inputs", async () => {
  expect(await provider().models()).toEqual([
    {
      ...{ id: "gemini-flash-latest", name: "Gemini Flash", contextWindow: 1_048_576, maxTokens: 65_536, reasoning: true },
      input: ["text", "image", "pdf", "audio"],
    },
    { id: "gemma-3-4b-it" },
  ]);
});

test("a configured model has what its family is known for, and the config wins", () => {
  const input: ProviderSettings["models"][number]["input"] = ["text", "image", "pdf", "audio"];
  const models = [{ id: "gemini-3.5-flash" }, { id: "gemini-2.0-flash", contextWindow: 9_000 }, { id: "gemini-next", reasoning: false }];
  expect(provider({ models: [...models, { id: "gemma-3-4b-it" }] }).models()).toEqual([
    { id: "gemini-3.5-flash", reasoning: true, input },
    { id: "gemini-2.0-flash", reasoning: false, input, contextWindow: 9_000 },
    { id: "gemini-next", reasoning: false, input },
    { id: "gemma-3-4b-it" },
  ]);
});
