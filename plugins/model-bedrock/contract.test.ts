import type { ModelRequest } from "svc/sdk";
import { createVendorFetch, type ProviderSettings } from "svc/sdk/internal";
import { createTestRequests, modelProviderContract } from "svc/sdk/testing";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { startFakeConverse } from "../../test/fakes/bedrock-converse.ts";
import { answerText, httpErrors } from "../../test/fakes/bedrock-converse-scripts.ts";
import { keysOf, startConversations } from "../../test/fixtures/bedrock-conversations.ts";
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
import { createConnections } from "./connections.ts";
import { createProvider } from "./provider.ts";

const vendor = await startFakeConverse();
const conversations = startConversations(keysOf(vendor));
const requests = createTestRequests();
const connections = createConnections({ service: () => conversations.service as never, logger: quiet });
const headers = { "x-team": "team-secret-0123" };
/** Settings of one provider, so that its thread with the AWS client starts once. */
const settings = withoutKey();

function withoutKey(more: Partial<ProviderSettings> = {}): ProviderSettings {
  const { apiKey: _none, ...rest } = settingsOf({ baseUrl: vendor.url, apiKey: "" }, { headers, ...more });
  return { ...rest, models: [] };
}

const thinkers = ["opus-4-6", "haiku-4-5"].flatMap((name) =>
  ["think", "redacted", "tool", "frame:throttlingException"].map((word) => `anthropic.claude-${name}:${word}`),
);
const reasoning: ProviderSettings = { ...settings, models: thinkers.map((id) => ({ id, reasoning: true, maxTokens: 32_000 })) };

const deps = {
  fetch: createVendorFetch(requests.request, 30_000),
  clock: { now: () => 0, monotonic: () => 0 },
  logger: quiet,
  // One thread for the tests: what a provider is asked for differs, not its connection.
  connections: { of: () => connections.of(settings), close: () => connections.close() },
};
const provider = createProvider(settings, deps);
const thinker = createProvider(reasoning, deps);

beforeEach(() => {
  vendor.requests.length = 0;
});

afterAll(async () => {
  await connections.close();
  await conversations.close();
  await requests.close();
  await vendor.close();
});

/** Data of the vendor in a block, as it was given out. */
function metaOf({ reasoningContent }: { reasoningContent?: { redactedContent?: string; reasoningText?: { signature: string } } }) {
  if (!reasoningContent) return [];
  const { redactedContent: redacted, reasoningText } = reasoningContent;
  return [{ bedrock: redacted === undefined ? { signature: reasoningText?.signature } : { redacted } }];
}

const named = (word: string) => `anthropic.claude-opus-4-6:${word}`;
const model = (word: string) => ({ model: named(word) });
const tools = [searchTool];

describe("the conformance suite", () => {
  modelProviderContract(() => ({
    provider,
    text: model("text"),
    tool: { ...model("redacted"), tools },
    replayedMeta: () => (vendor.requests.at(-1)?.body.messages ?? []).flatMap(({ content }) => content.flatMap(metaOf)),
    slow: model("hang:4"),
    faults: {
      auth: model("http:denied"),
      quota: model("http:quota"),
      rate_limit: model("frame:throttlingException"),
      overloaded: model("http:busy"),
      timeout: model("http:slow"),
      network: model("cut:4"),
      model_not_found: model("http:missing"),
      context_overflow: model("http:long"),
      invalid_request: model("http:bad"),
    },
    secrets: [vendor.identity.accessKeyId, vendor.identity.secretAccessKey, headers["x-team"]],
  }));
});

describe("a turn", () => {
  test("is signed and streams text, then usage with the cache, then the finish", async () => {
    const deltas = await collect(provider, modelRequest(named("text")));
    expect(textOf(deltas)).toBe(answerText);
    expect(deltas.slice(-2)).toEqual([
      { type: "usage", usage: { input: 12, output: 9, cacheRead: 4, cacheWrite: 5, total: 30 } },
      { type: "finish", reason: "stop" },
    ]);
    expect(vendor.requests[0]).toMatchObject({ path: "/model/anthropic.claude-opus-4-6%3Atext/converse-stream", headers });
    expect(vendor.requests[0]?.headers.authorization).toContain("/us-east-1/bedrock/aws4_request, SignedHeaders=");
  });

  test.each([
    ["tool", [1, 1, 1]],
    ["parallel", [1, 4, 3]],
    ["think", [1, 2, 1]],
    ["redacted", [1, 4, 1]],
  ])("%s: blocks of an answer with calls go back as they came, all results in one message", async (word, counts) => {
    for (const name of ["opus-4-6", "haiku-4-5"]) {
      const from = word === "parallel" ? provider : thinker;
      const first = modelRequest(`anthropic.claude-${name}:${word}`, { tools, ...(word === "tool" ? {} : { thinking: "high" }) });
      const messages = [...first.messages, ...continued(await collect(from, first))];
      expect(textOf(await collect(from, { ...first, messages }))).toBe(answerText);
      const { body } = vendor.requests.at(-1) as (typeof vendor.requests)[number];
      expect(body.messages.map(({ content }) => content.filter((block) => !("cachePoint" in block)).length)).toEqual(counts);
    }
  });

  test("sends 25 rounds of calls back whole, within four marks, each request on top of the one before it", async () => {
    let messages: ModelRequest["messages"] = modelRequest("x").messages;
    let before: unknown[] = [];
    for (let i = 0; i < 25; i++) {
      messages = [...messages, ...continued(await collect(provider, modelRequest(named("always-tool"), { tools, messages })))];
      const now = vendor.requests.at(-1)?.body.messages.map(({ content }) => content.filter((block) => !("cachePoint" in block))) ?? [];
      expect(now.slice(0, before.length)).toEqual(before);
      before = now;
    }
    expect(vendor.requests).toHaveLength(25);
    expect(vendor.requests.at(-1)?.text.split('"cachePoint"')).toHaveLength(5);
  });

  test("that begins with another model's calls asks for no budget of thought, and is accepted", async () => {
    const calls = { role: "assistant" as const, content: [{ type: "toolCall" as const, id: "call_1", name: "memory_search", args: {} }] };
    const result = { role: "tool" as const, toolCallId: "call_1", name: "memory_search", text: "" };
    const request = modelRequest("anthropic.claude-haiku-4-5:tool", { tools, thinking: "high", messages: [user("1"), calls, result] });
    expect(textOf(await collect(thinker, request))).toBe(answerText);
    expect(vendor.requests[0]?.body.additionalModelRequestFields).toBeUndefined();
  });

  test("takes no calls where there must be none", async () => {
    const first = modelRequest(named("always-tool"), { tools });
    const messages = [...first.messages, ...continued(await collect(provider, first))];
    for (const without of [{ toolChoice: "none" as const }, { tools: [] }]) {
      const deltas = await collect(provider, { ...first, ...without, messages });
      expect(deltas.map(({ type }) => type)).toEqual(["text", "text", "usage", "finish"]);
      expect(deltas.at(-1)).toEqual({ type: "finish", reason: "stop" });
    }
  });

  test("sends pictures and PDF as bytes", async () => {
    const content = [
      { type: "image" as const, mimeType: "image/png", data: "iVBORw0KGgo=" },
      { type: "file" as const, mimeType: "application/pdf", data: "JVBERi0=", fileName: "a_b.pdf" },
    ];
    await collect(provider, modelRequest(named("text"), { messages: [{ role: "user", content }] }));
    expect(vendor.requests[0]?.body.messages[0]?.content).toMatchObject([
      { image: { format: "png", source: { bytes: "iVBORw0KGgo=" } } },
      { document: { format: "pdf", name: "a b pdf", source: { bytes: "JVBERi0=" } } },
      { text: "(a document without words)" },
      { cachePoint: { type: "default" } },
    ]);
  });
});

describe("an end", () => {
  test("of the connection is a fault of the network, behind whichever event", async () => {
    // The eleventh has the stop reason.
    const turns = [...Array.from({ length: 11 }, (_, frames) => `cut:${frames}`), "broken:4", "ended:0", "ended:4", "ended:10"];
    const faults = await Promise.all(turns.map((word) => faultOf(provider, modelRequest(named(word)))));
    expect(faults.map(({ fault }, i) => [turns[i], fault])).toEqual(turns.map((word) => [word, "network"]));
    expect(await faultOf(provider, modelRequest(named("unreasoned")))).toMatchObject({ fault: "network" });
    expect(textOf(await collect(provider, modelRequest(named("ended:11"))))).toBe(answerText);
  });

  test("in the middle of a call leaves its arguments as they came", async () => {
    const deltas = await collect(provider, modelRequest(named("half-call"), { tools }));
    expect(deltas.map((delta) => (delta.type === "toolCall" ? delta.argsDelta : "")).join("")).toBe('{"query":"rou');
    expect(deltas.at(-1)).toEqual({ type: "finish", reason: "length" });
  });

  test.each(["malformed_tool_use", "malformed_model_output"])("%s is a fault that is tried again", async (stop) => {
    expect(await faultOf(provider, modelRequest(named(`stop:${stop}`)))).toMatchObject({ fault: "network" });
  });
});

describe("an error", () => {
  const byFrame: Record<string, string> = {
    ...{ throttlingException: "rate_limit", serviceUnavailableException: "overloaded", internalServerException: "overloaded" },
    ...{ modelStreamErrorException: "overloaded", validationException: "context_overflow" },
    // Not in the vendor's model of this stream.
    ...{ accessDeniedException: "auth", AccessDeniedException: "auth", ThrottlingException: "rate_limit" },
  };

  test.each(["frame", "late-frame"])("in a stream (%s) is what it would be over HTTP", async (word) => {
    const names = Object.keys(byFrame);
    const faults = await Promise.all(names.map((name) => faultOf(provider, modelRequest(named(`${word}:${name}`)))));
    expect(Object.fromEntries(faults.map(({ fault }, i) => [names[i], fault]))).toEqual(byFrame);
  });

  test("over HTTP has its status, and the wait that the vendor asks for", async () => {
    const error = await faultOf(provider, modelRequest(named("http:throttled")));
    expect(error).toMatchObject({ fault: "rate_limit", status: 429, retryAfterMs: 2_000 });
    expect(error.message).toContain(`ThrottlingException: ${httpErrors.throttled?.message}`);
  });

  test("is over with the next try", async () => {
    expect(await faultOf(provider, modelRequest(named("once")))).toMatchObject({ fault: "rate_limit" });
    expect(textOf(await collect(provider, modelRequest(named("once"))))).toBe(answerText);
  });
});

test.each([0, 4])("an abort closes the socket, behind %i events, and the thread goes on", async (frames) => {
  const stop = new AbortController();
  const arrived = vendor.nextRequest();
  const run = collect(provider, modelRequest(named(`hang:${frames}`)), stop.signal);
  run.catch(() => undefined);
  const request = await arrived;
  stop.abort();
  await expect(run).rejects.toMatchObject({ name: "AbortError" });
  expect(await request.ended).toEqual({ aborted: true });
  expect(textOf(await collect(provider, modelRequest(named("text"))))).toBe(answerText);
});

test("a reader that leaves early closes the socket", async () => {
  const arrived = vendor.nextRequest();
  for await (const _ of provider.stream(modelRequest(named("hang:4")), { signal: new AbortController().signal })) break;
  expect(await (await arrived).ended).toEqual({ aborted: true });
});
