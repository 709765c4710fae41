import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { isModelError, type ModelDelta, type ModelRequest } from "svc/sdk";
import { createVendorFetch } from "svc/sdk/internal";
import { createTestRequests, type TestRequests } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { okText } from "../../test/fakes/openai-scripts.ts";
import { type FakeOpenAi, startFakeOpenAi } from "../../test/fakes/openai-server.ts";
import { createProvider } from "./provider.ts";
import type { ChatSettings } from "./vendors.ts";

let vendor: FakeOpenAi;
let requests: TestRequests;
let now: number;

beforeEach(async () => {
  vendor = await startFakeOpenAi();
  requests = createTestRequests();
  now = 0;
});

afterEach(async () => {
  await requests.close();
  await vendor.close();
});

const quiet = {
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => quiet,
};
const searchTool = {
  name: "memory_search",
  description: "Searches.",
  inputSchema: { type: "object", properties: { query: { type: "string" } } },
};

function provider(more: Partial<ChatSettings> = {}) {
  const settings: ChatSettings = {
    id: "lab",
    name: "lab",
    baseUrl: vendor.url,
    apiKey: vendor.apiKey,
    headers: {},
    timeoutMs: 30_000,
    firstAnswerMs: 600_000,
    models: [],
    ...more,
  };
  const fetch = createVendorFetch(requests.request, settings.timeoutMs);
  return createProvider(settings, { fetch, clock: { now: () => now, monotonic: () => now }, logger: quiet });
}

function request(model: string, more: Partial<ModelRequest> = {}): ModelRequest {
  const context = { agentId: "main", sessionKey: "agent:main:main", runId: "r1" };
  const messages: ModelRequest["messages"] = [{ role: "user", content: [{ type: "text", text: "Where is the router?" }] }];
  return { model, system: "You are helpful.", messages, tools: [], context, ...more };
}

async function collect(req: ModelRequest, from = provider(), signal = new AbortController().signal): Promise<ModelDelta[]> {
  const deltas: ModelDelta[] = [];
  for await (const delta of from.stream(req, { signal })) deltas.push(delta);
  return deltas;
}

async function faultOf(model: string, from = provider()) {
  const error: unknown = await collect(request(model), from).catch((e: unknown) => e);
  if (!isModelError(error)) throw new Error(`expected a ModelError, got ${String(error)}`);
  return error;
}

function textOf(deltas: ModelDelta[]): string {
  return deltas.map((d) => (d.type === "text" ? d.delta : "")).join("");
}

function sentMessages(index: number): unknown[] {
  const body = vendor.requests[index]?.body as { messages?: unknown[] } | undefined;
  return body?.messages ?? [];
}

describe("a turn", () => {
  test("streams text, then usage, then the finish", async () => {
    const deltas = await collect(request("ok"));

    expect(textOf(deltas)).toBe(okText);
    expect(deltas.filter((d) => d.type === "text")).toHaveLength(3);
    expect(deltas.slice(-2)).toEqual([
      { type: "usage", usage: { input: 8, output: 7, cacheRead: 4, cacheWrite: 0, reasoning: 2, total: 19 } },
      { type: "finish", reason: "stop" },
    ]);
  });

  test("sends the key, the product's name and a streaming request with usage", async () => {
    await collect(
      request("ok", { sampling: { temperature: 0.5, maxTokens: 100, stop: ["END"], responseFormat: { type: "json_object" } } }),
    );

    const [sent] = vendor.requests;
    expect(sent).toMatchObject({ method: "POST", path: "/v1/chat/completions" });
    expect(sent?.headers).toMatchObject({ authorization: `Bearer ${vendor.apiKey}`, "user-agent": "svc", "accept-encoding": "identity" });
    expect(sent?.body).toEqual({
      model: "ok",
      messages: [
        { role: "system", content: "You are helpful." },
        { role: "user", content: "Where is the router?" },
      ],
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0.5,
      max_tokens: 100,
      stop: ["END"],
      response_format: { type: "json_object" },
    });
  });

  test("names the output budget as the vendor wants it", async () => {
    await collect(
      request("ok", { sampling: { maxTokens: 100 } }),
      provider({ vendor: { id: "lab", name: "lab", baseUrl: vendor.url, maxTokensField: "max_completion_tokens" } }),
    );

    expect(vendor.requests[0]?.body).toMatchObject({ max_completion_tokens: 100 });
    expect(vendor.requests[0]?.body).not.toHaveProperty("max_tokens");
  });

  test("sends the config's parameters of vendor and model, and the request's own win", async () => {
    const lab = provider({ params: { temperature: 0.1, top_k: 5, model: "other" }, modelParams: { ok: { top_k: 9 } } });
    await collect(request("ok"), lab);
    await collect(request("ok", { sampling: { temperature: 0.7 } }), lab);
    expect(vendor.requests.map((r) => r.body)).toMatchObject([
      { model: "ok", temperature: 0.1, top_k: 9 },
      { model: "ok", temperature: 0.7, top_k: 9 },
    ]);
  });

  test("asks for no longer answer than the model is said to give", async () => {
    const lab = provider({ models: [{ id: "ok", maxTokens: 777 }] });
    for (const sampling of [{}, { maxTokens: 100 }, { maxTokens: 5_000 }]) await collect(request("ok", { sampling }), lab);
    expect(vendor.requests.map((r) => (r.body as { max_tokens?: number }).max_tokens)).toEqual([777, 100, 777]);
  });

  test("takes the config's output budget for one that was asked for, under the vendor's name alone", async () => {
    const vendorOf = (maxTokensField?: "max_completion_tokens") => ({
      vendor: { id: "lab", name: "lab", baseUrl: vendor.url, ...(maxTokensField ? { maxTokensField } : {}) },
    });
    const newer = vendorOf("max_completion_tokens");
    const models = [{ id: "ok", maxTokens: 777 }];
    for (const [more, maxTokens, expected] of [
      [{ ...newer, params: { max_tokens: 90 } }, undefined, { max_completion_tokens: 90 }],
      [{ ...newer, params: { max_tokens: 90 } }, 40, { max_completion_tokens: 40 }],
      [
        { ...newer, params: { max_completion_tokens: 90 }, modelParams: { ok: { max_tokens: 80 } } },
        undefined,
        { max_completion_tokens: 80 },
      ],
      [{ ...newer, params: { max_tokens: 999 }, models }, undefined, { max_completion_tokens: 777 }],
      [{ ...vendorOf(), params: { max_tokens: 90 }, models }, undefined, { max_tokens: 90 }],
      [{ ...vendorOf(), params: { max_tokens: 999 }, models }, undefined, { max_tokens: 777 }],
    ] as const) {
      await collect(
        request("ok", { sampling: { ...(maxTokens === undefined ? {} : { maxTokens }) } }),
        provider(more as Partial<ChatSettings>),
      );
      const { max_tokens, max_completion_tokens } = (vendor.requests.at(-1)?.body ?? {}) as Record<string, unknown>;
      expect({ max_tokens, max_completion_tokens }).toEqual(expected);
    }
  });

  test("sends a thinking level only to a model declared to reason", async () => {
    await collect(request("ok", { thinking: "high" }));
    await collect(request("ok", { thinking: "high" }), provider({ models: [{ id: "ok", reasoning: true }] }));
    await collect(request("ok", { thinking: "off" }), provider({ models: [{ id: "ok", reasoning: true }] }));

    expect(vendor.requests.map((r) => (r.body as { reasoning_effort?: string }).reasoning_effort)).toEqual([undefined, "high", undefined]);
  });

  test("carries a tool call out and its result back", async () => {
    const deltas = await collect(request("tool", { tools: [searchTool], toolChoice: "auto" }));

    const args = deltas.map((d) => (d.type === "toolCall" ? d.argsDelta : "")).join("");
    expect(JSON.parse(args)).toEqual({ query: "Where is the router?" });
    expect(
      deltas.filter((d) => d.type === "toolCall").every((d) => d.type === "toolCall" && d.name === "memory_search" && d.id === "call_1"),
    ).toBe(true);
    expect(deltas).toContainEqual({ type: "toolCallEnd", id: "call_1" });
    expect(deltas.at(-1)).toEqual({ type: "finish", reason: "tool_calls" });

    const { messages } = request("tool");
    const next = await collect(
      request("tool", {
        tools: [searchTool],
        messages: [
          ...messages,
          { role: "assistant", content: [{ type: "toolCall", id: "call_1", name: "memory_search", args: JSON.parse(args) }] },
          { role: "tool", toolCallId: "call_1", name: "memory_search", text: "" },
        ],
      }),
    );
    expect(textOf(next)).toBe(okText);
    expect(sentMessages(1).slice(2)).toEqual([
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: { name: "memory_search", arguments: args } }],
      },
      { role: "tool", tool_call_id: "call_1", content: "" },
    ]);
  });

  test.each([
    ["required" as const, "required"],
    [{ name: "memory_search" }, { type: "function", function: { name: "memory_search" } }],
  ])("passes tool choice %j on", async (toolChoice, wire) => {
    await collect(request("tool", { tools: [searchTool], toolChoice }));

    expect(vendor.requests[0]?.body).toMatchObject({ tool_choice: wire });
  });

  test("sends a message of several texts as one", async () => {
    const content = ["System: Now: Friday.", "Where is the router?"].map((text) => ({ type: "text" as const, text }));
    await collect(request("ok", { messages: [{ role: "user", content }] }));
    const sent = vendor.requests.at(-1)?.body as { messages: unknown[] } | undefined;
    expect(sent?.messages.at(-1)).toEqual({ role: "user", content: "System: Now: Friday.\n\nWhere is the router?" });
  });

  test("sends images as data addresses", async () => {
    const content = [
      { type: "text" as const, text: "What is this?" },
      { type: "image" as const, mimeType: "image/png", data: "iVBORw0KGgo=" },
    ];
    await collect(request("ok", { messages: [{ role: "user", content }] }));

    expect(sentMessages(0)[1]).toEqual({
      role: "user",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
      ],
    });
  });

  test("tells reasoning from text, and a spent budget from an end", async () => {
    const reasoned = await collect(request("reasoning"));
    expect(reasoned.map((d) => (d.type === "reasoning" ? d.delta : "")).join("")).toBe("Let me see.");
    expect(textOf(reasoned)).toBe(okText);

    expect((await collect(request("length"))).at(-1)).toEqual({ type: "finish", reason: "length" });
  });

  test("keeps its connections for the next turns", async () => {
    const from = provider();
    for (let i = 0; i < 10; i++) await collect(request("ok"), from);

    expect(vendor.requests).toHaveLength(10);
    // A turn that starts in the tick in which the last one ended may find its socket not free yet.
    expect(vendor.connections()).toBeLessThanOrEqual(2);
  });

  test("says how long its first word may take", () => {
    expect(provider()).toMatchObject({ firstAnswerMs: 600_000 });
  });

  test("does not retry: that is the run loop's business", async () => {
    const from = provider();
    await expect(collect(request("503-twice"), from)).rejects.toMatchObject({ fault: "overloaded", status: 503 });
    await expect(collect(request("503-twice"), from)).rejects.toMatchObject({ fault: "overloaded" });

    expect(textOf(await collect(request("503-twice"), from))).toBe(okText);
    expect(vendor.requests).toHaveLength(3);
  });
});

describe("faults", () => {
  test.each([
    ["401", "auth", 401],
    ["403", "auth", 403],
    ["429", "rate_limit", 429],
    ["500", "overloaded", 500],
    ["context", "context_overflow", 400],
    ["no-such-model", "model_not_found", 404],
    ["redirect", "invalid_request", 307],
  ])("model %s → %s", async (model, fault, status) => {
    expect(await faultOf(model)).toMatchObject({ fault, status });
  });

  test("a rate limit carries the wait the server asks for", async () => {
    expect((await faultOf("429")).retryAfterMs).toBe(2000);
  });

  test("an answer that breaks off in the middle of an event is a network fault after its first text", async () => {
    const seen: ModelDelta[] = [];
    const run = (async () => {
      for await (const delta of provider().stream(request("cut-mid-event"), { signal: new AbortController().signal })) seen.push(delta);
    })();

    await expect(run).rejects.toMatchObject({ name: "ModelError", fault: "network" });
    expect(textOf(seen)).not.toBe("");
  });

  test("an answer that is not JSON is a network fault", async () => {
    expect(await faultOf("bad-json")).toMatchObject({ fault: "network", message: 'provider "lab": the answer could not be understood' });
  });

  test("an error inside the stream keeps the vendor's words", async () => {
    expect(await faultOf("error-in-stream")).toMatchObject({
      fault: "overloaded",
      message: expect.stringContaining("Overloaded, try later"),
    });
  });

  test("a server that never answers is a timeout", async () => {
    expect(await faultOf("hang", provider({ timeoutMs: 200 }))).toMatchObject({
      fault: "timeout",
      message: 'provider "lab": no answer within 0.2 s',
    });
  });

  test.each([204, 304])("an answer %i, which has no body, is a fault and not an empty answer", async (status) => {
    const server = createServer((_req, res) => res.writeHead(status).end());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    expect(await faultOf("ok", provider({ baseUrl }))).toMatchObject({ fault: status === 204 ? "network" : "invalid_request" });
    server.closeAllConnections();
    server.close();
  });

  test.each([
    [200, "gzip", { fault: "network", message: "the server packs its answers although it was asked not to" }],
    [200, "identity, br", { fault: "network", message: "the server packs its answers although it was asked not to" }],
    [401, "gzip", { fault: "auth", message: 'provider "lab": the key was rejected (401)' }],
  ])("an answer %i that is packed (%s) is a fault, and its connection ends", async (status, encoding, fault) => {
    const ended: Array<Promise<unknown>> = [];
    const server = createServer((req, res) => {
      ended.push(once(req.socket, "close"));
      res.writeHead(status, { "content-type": "text/event-stream", "content-encoding": encoding }).write(gzipSync("data: {}\n\n"));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    expect(await faultOf("ok", provider({ baseUrl }))).toMatchObject(fault);
    await Promise.all(ended);
    expect(ended).toHaveLength(1);
    server.close();
  });

  test("an answer that says it is not packed is read", async () => {
    const server = createServer((_req, res) =>
      res
        .writeHead(200, { "content-type": "text/event-stream", "content-encoding": "Identity" })
        .end('data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'),
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    expect(textOf(await collect(request("ok"), provider({ baseUrl })))).toBe("hi");
    server.closeAllConnections();
    server.close();
  });

  test("nobody listening is a network fault", async () => {
    const gone = await startFakeOpenAi();
    await gone.close();

    const error = await faultOf("ok", provider({ baseUrl: gone.url }));
    expect(error).toMatchObject({ fault: "network", message: 'provider "lab": the connection failed: ECONNREFUSED' });
  });

  test("a wrong key is named by no message", async () => {
    const apiKey = "sk-wrong-key-000000000000";
    const error = await faultOf("ok", provider({ apiKey }));

    expect(error).toMatchObject({ fault: "auth", status: 401 });
    expect(JSON.stringify(error) + String(error.stack) + String(error.cause)).not.toContain(apiKey);
  });
});

describe("abort", () => {
  test.each(["hang", "slow-drip"])("closes the socket of %s and rejects with an AbortError", async (model) => {
    const abort = new AbortController();
    const arrived = vendor.nextRequest();
    const run = collect(request(model), provider(), abort.signal);
    run.catch(() => undefined);
    const sent = await arrived;

    abort.abort(new Error("user pressed stop"));

    await expect(run).rejects.toMatchObject({ name: "AbortError" });
    expect(await sent.ended).toEqual({ aborted: true });
  });

  test("leaving the loop early closes the socket too", async () => {
    const arrived = vendor.nextRequest();
    for await (const delta of provider().stream(request("slow-drip"), { signal: new AbortController().signal })) {
      if (delta.type === "text") break;
    }

    expect(await (await arrived).ended).toEqual({ aborted: true });
  });

  test("a signal that is already aborted sends nothing", async () => {
    await expect(collect(request("ok"), provider(), AbortSignal.abort())).rejects.toMatchObject({ name: "AbortError" });
    expect(vendor.requests).toEqual([]);
  });
});

describe("the list of models", () => {
  test("is the configured one when there is one, without asking", async () => {
    expect(await provider({ models: [{ id: "a" }] }).models()).toEqual([{ id: "a" }]);
    expect(vendor.requests).toEqual([]);
  });

  test("is the server's own otherwise, asked once in ten minutes", async () => {
    const from = provider();
    const [first, second] = await Promise.all([from.models(), from.models()]);
    now = 599_999;
    await from.models();
    expect(first).toEqual([{ id: "ok" }, { id: "tool" }]);
    expect(second).toEqual(first);
    expect(vendor.requests).toHaveLength(1);

    now = 600_001;
    await from.models();
    expect(vendor.requests).toHaveLength(2);
  });

  test("is empty when the server refuses, and not asked for again at once", async () => {
    const from = provider({ apiKey: "wrong" });

    expect(await from.models()).toEqual([]);
    expect(await from.models()).toEqual([]);
    expect(vendor.requests).toHaveLength(1);
  });
});

test("reasoning goes back until the turn is over, and no further", async () => {
  const call = (id: string) => ({ type: "toolCall" as const, id, name: "memory_search", args: {} });
  const answer = (id: string) => ({ role: "tool" as const, toolCallId: id, name: "memory_search", text: "…" });
  const said = (text: string, id: string) => ({ role: "assistant" as const, content: [{ type: "reasoning" as const, text }, call(id)] });
  const user = (text: string) => ({ role: "user" as const, content: [{ type: "text" as const, text }] });
  const messages = [user("1"), said("old", "a"), answer("a"), user("2"), said("new", "b"), answer("b")];

  await collect(request("ok", { messages, tools: [searchTool] }));

  const sent = vendor.requests[0]?.body as { messages: Array<{ reasoning_content?: string }> } | undefined;
  expect(sent?.messages.flatMap((m) => m.reasoning_content ?? [])).toEqual(["new"]);
});
