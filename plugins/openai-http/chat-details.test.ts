import OpenAI from "openai";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { okText } from "../../test/fakes/openai-scripts.ts";
import { type FakeOpenAi, startFakeOpenAi } from "../../test/fakes/openai-server.ts";

const plugins = ["store", "agents", "memory-core", "model-openai-compatible", "openai-http"];
const models = [
  "ok",
  "tool-last",
  "reasoning",
  "tool-cut",
  "tool-malformed",
  "tool-slow",
  "filtered",
  "filtered-empty",
  "429-long",
  "no-tools",
];

let vendor: FakeOpenAi;
let gateway: TestGateway;
let client: OpenAI;

beforeAll(async () => {
  vendor = await startFakeOpenAi();
  const lab = { baseUrl: vendor.url, apiKey: vendor.apiKey, models: models.map((id) => ({ id })) };
  const narrow = { ...lab, models: [{ id: "ok", contextWindow: 4_000 }] };
  const rejected = { ...lab, apiKey: "sk-of-somebody-else" };
  const plain = { ...lab, models: [{ id: "ok", tools: false }] };
  const memorySearch = { provider: "none", sync: { watch: false, onSessionStart: false, onSearch: false } };
  gateway = await createTestGateway({
    plugins,
    config: { agents: { defaults: { memorySearch } }, models: { providers: { lab, plain, narrow, rejected } } },
  });
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.token, maxRetries: 0 });
});

afterAll(async () => {
  await gateway?.close();
  await vendor?.close();
});

beforeEach(() => {
  vendor.requests.length = 0;
});

interface Sent {
  messages: Array<{ role: string; content: unknown }>;
  tools?: Array<{ function: { name: string } }>;
  [field: string]: unknown;
}

const write = { type: "function" as const, function: { name: "write_file", parameters: { type: "object" } } };
const ask = (content: string) => [{ role: "user" as const, content }];
const on = (model: string) => ({ headers: { "x-svc-model": model.includes("/") ? model : `lab/${model}` } });
/** The newest request for an answer: the list of models is asked for in between. */
/** Requests to the model; the gateway also lists the models of a vendor now and then, in its own time. */
const calls = () => vendor.requests.filter(({ method }) => method === "POST");
const sent = () => vendor.requests.findLast(({ body }) => body !== undefined)?.body as Sent;
const toolsSent = () => sent().tools?.map((tool) => tool.function.name) ?? [];

async function post(body: object, model = "ok"): Promise<Response> {
  return gateway.fetch("/v1/chat/completions", { method: "POST", body: JSON.stringify(body), ...on(model) });
}

async function refusal(body: object, model?: string): Promise<[number, string]> {
  const response = await post(body, model);
  return [response.status, ((await response.json()) as { error: { message: string } }).error.message];
}

describe("a call that is no JSON object goes out as the model wrote it", () => {
  const cut = '{"path":"/etc/important.conf","te';

  test.each([
    ["tool-cut", cut],
    ["tool-malformed", "{path: 1}"],
  ])("%s", async (model, text) => {
    const request = { model: "svc", messages: ask("write"), tools: [write] };
    const whole = await client.chat.completions.create(request, on(model));
    expect(whole.choices[0]).toMatchObject({
      finish_reason: "length",
      message: { content: "Writing. ", tool_calls: [{ function: { name: "write_file", arguments: text } }] },
    });

    let streamed = "";
    let reason: string | null | undefined;
    for await (const { choices } of await client.chat.completions.create({ ...request, stream: true }, on(model))) {
      streamed += choices[0]?.delta.tool_calls?.[0]?.function?.arguments ?? "";
      reason = choices[0]?.finish_reason ?? reason;
    }
    expect([streamed, reason]).toEqual([text, "length"]);
  });

  test("and comes back to the vendor as an empty object", async () => {
    const call = { id: "c1", type: "function" as const, function: { name: "write_file", arguments: cut } };
    const messages = [
      ...ask("write"),
      { role: "assistant" as const, tool_calls: [call] },
      { role: "tool" as const, tool_call_id: "c1", content: "no" },
    ];
    await client.chat.completions.create({ model: "svc", messages, tools: [write] }, on("ok"));

    expect(sent().messages.find(({ role }) => role === "assistant")).toMatchObject({ tool_calls: [{ function: { arguments: "{}" } }] });
  });
});

test("arguments of a client's tool are streamed while the model writes them", async () => {
  const request = { model: "svc", messages: ask("write"), tools: [write], stream: true as const };
  const arrived = vendor.nextRequest();
  const answer = await client.chat.completions.create(request, on("tool-slow"));
  let isOver = false;
  void (await arrived).ended.then(() => {
    isOver = true;
  });
  const seen: string[] = [];
  let before = 0;
  for await (const { choices } of answer) {
    const piece = choices[0]?.delta.tool_calls?.[0]?.function?.arguments;
    if (piece) seen.push(piece);
    if (piece && !isOver) before += 1;
  }

  expect(JSON.parse(seen.join(""))).toEqual({ text: "0123456789".repeat(40) });
  expect(before).toBeGreaterThan(0);
});

test("a demanded call is streamed, too", async () => {
  const frames = await (await post({ messages: ask("write"), tools: [write], tool_choice: "required", stream: true }, "tool-slow")).text();
  const deltas = frames.split("\n\n").flatMap((f) => (f.startsWith("data: {") ? [JSON.parse(f.slice(6)).choices[0]?.delta] : []));

  expect(deltas.filter((delta) => delta?.content).map((delta) => delta.content)).toEqual(["Writing. "]);
  expect(deltas.filter((delta) => delta?.tool_calls).length).toBeGreaterThan(10);
});

describe("pictures", () => {
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const part = { type: "image_url" as const, image_url: { url: `data:image/png;base64,${png}` } };
  const asked = { role: "user" as const, content: [{ type: "text" as const, text: "what is this?" }, part] };
  const pictures = () => JSON.stringify(sent().messages).split(png.slice(0, 40)).length - 1;

  test("of earlier turns are sent again when the client sends them", async () => {
    const messages = [asked, { role: "assistant" as const, content: "a dot" }, ...ask("which colour is it?")];
    await client.chat.completions.create({ model: "svc", messages }, on("ok"));

    expect(sent().messages.slice(1)).toEqual([
      asked,
      { role: "assistant", content: "a dot" },
      { role: "user", content: "which colour is it?" },
    ]);
  });

  test("of earlier turns stay in a session", async () => {
    const request = { model: "svc", user: "painter" };
    await client.chat.completions.create({ ...request, messages: [asked] }, on("ok"));
    for (const question of ["is it small?", "which colour is it?"]) {
      await client.chat.completions.create({ ...request, messages: ask(question) }, on("ok"));
      expect(pictures()).toBe(1);
    }
  });

  test("beyond eight are a note, the newest stay", async () => {
    // The same picture is sent once.
    const bytes = (n: number) => Buffer.concat([Buffer.from(png, "base64"), Buffer.from([n])]).toString("base64");
    const another = (n: number) => ({ ...part, image_url: { url: `data:image/png;base64,${bytes(n)}` } });
    const turn = (n: number) => ({ role: "user" as const, content: [{ type: "text" as const, text: "what is this?" }, another(n)] });
    const messages = Array.from({ length: 10 }, (_, n) => [turn(n), { role: "assistant" as const, content: "a dot" }]).flat();
    await client.chat.completions.create({ model: "svc", messages: [...messages, ...ask("and now?")] }, on("ok"));

    expect(pictures()).toBe(8);
    const texts = ["what is this?", "[image]"].map((text) => ({ type: "text", text }));
    expect(sent().messages[1]).toMatchObject({ content: texts });
  });
});

describe("reasoning", () => {
  test("goes out as reasoning_content", async () => {
    const answer = (await (await post({ messages: ask("hi") }, "reasoning")).json()) as { choices: Array<{ message: object }> };
    expect(answer.choices[0]?.message).toMatchObject({ content: okText, reasoning_content: "Let me see." });

    const frames = await (await post({ messages: ask("hi"), stream: true }, "reasoning")).text();
    const deltas = frames.split("\n\n").flatMap((f) => (f.startsWith("data: {") ? [JSON.parse(f.slice(6)).choices[0].delta] : []));
    expect(deltas.flatMap((delta) => delta.reasoning_content ?? [])).toEqual(["Let me ", "see."]);
  });

  test.each(["minimal", "high", undefined])("effort %s reaches the vendor", async (effort) => {
    await post({ messages: ask("hi"), ...(effort ? { reasoning_effort: effort } : {}) });

    expect(sent().reasoning_effort).toBe(effort);
  });
});

test.each([
  ["filtered", "The rou"],
  ["filtered-empty", ""],
])("an answer that the vendor withheld (%s) says content_filter", async (model, content) => {
  const answer = await client.chat.completions.create({ model: "svc", messages: ask("hi") }, on(model));
  expect(answer.choices[0]).toMatchObject({ finish_reason: "content_filter", message: { content } });

  const frames = await (await post({ messages: ask("hi"), stream: true }, model)).text();
  expect(frames).toContain('"finish_reason":"content_filter"');
});

test("a model that the config names holds to its window from the first request on", async () => {
  const messages = [...ask("a".repeat(11_900)), { role: "assistant" as const, content: "yes" }, ...ask("hi")];
  await post({ messages }, "narrow/ok");

  expect(sent().messages.map(({ role }) => role)).toEqual(["system", "user"]);
});

test("a chosen model is asked while it rests, and nobody in its place", async () => {
  expect((await post({ messages: ask("hi") }, "rejected/ok")).status).toBe(401);
  expect((await post({ messages: ask("hi") }, "rejected/ok")).status).toBe(401);

  expect(calls().map(({ headers }) => headers.authorization)).toEqual(Array(2).fill("Bearer sk-of-somebody-else"));
});

test("the vendor's Retry-After is passed on", async () => {
  const response = await post({ messages: ask("hi") }, "429-long");

  expect([response.status, response.headers.get("retry-after")]).toEqual([429, "90"]);
});

describe("functions, the legacy form of tools", () => {
  const functions = [{ name: "write_file", parameters: { type: "object" } }];

  test("are called in their own form", async () => {
    const request = { model: "svc", messages: ask("router"), functions };
    const answer = await client.chat.completions.create({ ...request, function_call: { name: "write_file" } }, on("tool-last"));
    expect(answer.choices[0]).toMatchObject({
      finish_reason: "function_call",
      message: { function_call: { name: "write_file", arguments: '{"query":"router"}' } },
    });
    expect(sent()).toMatchObject({ tool_choice: { type: "function", function: { name: "write_file" } } });

    let text = "";
    let name: string | undefined;
    for await (const { choices } of await client.chat.completions.create({ ...request, stream: true }, on("tool-last"))) {
      text += choices[0]?.delta.function_call?.arguments ?? "";
      name ??= choices[0]?.delta.function_call?.name;
    }
    expect([name, text]).toEqual(["write_file", '{"query":"router"}']);
  });

  test.each([
    [{ functions, tools: [write] }, /functions and function_call cannot be sent beside them/],
    [{ functions: {} }, /^functions: expected an array$/],
    [{ functions, function_call: 1 }, /^function_call: expected auto/],
    [{ functions, function_call: { name: "other" } }, /"other", which is not one of the tools/],
  ])("%j is refused", async (fields, message) => {
    expect(await refusal({ messages: ask("hi"), ...fields })).toEqual([400, expect.stringMatching(message)]);
  });
});

describe("what cannot be served is refused by name", () => {
  test.each([
    [{ messages: [...ask("hi"), { role: "assistant", content: "Sure: " }] }, /^messages\.1: .*prefill/],
    [
      { messages: [{ role: "user", content: [{ type: "file", file: { file_id: "file-1" } }] }] },
      /^messages\.0\.content\.0\.file\.file_id: files are not stored here/,
    ],
    [
      { messages: [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }] }] },
      /^messages\.0\.content\.0\.input_audio: the model does not take audio/,
    ],
    [{ messages: ask("hi"), reasoning_effort: "huge" }, /^`reasoning_effort` must be one of none, minimal/],
    [{ messages: ask("hi"), parallel_tool_calls: "no" }, /^`parallel_tool_calls` must be true or false/],
    [
      { messages: ask("hi"), tools: [{ type: "function", function: { name: "memory_search" } }] },
      /"memory_search" is the name of one of the agent's own tools/,
    ],
  ])("%j", async (body, message) => {
    expect(await refusal(body)).toEqual([400, expect.stringMatching(message)]);
    expect(calls()).toEqual([]);
  });
});

test("parallel_tool_calls reaches the vendor, beside tools only", async () => {
  await post({ messages: ask("hi"), tools: [write], parallel_tool_calls: false });
  expect(sent().parallel_tool_calls).toBe(false);
});

describe("the agent's own tools", () => {
  const schema = { type: "json_schema", json_schema: { name: "a", schema: { type: "object" } } };

  test.each([
    ["plainly", {}, "ok", true],
    ["beside the format text", { response_format: { type: "text" } }, "ok", true],
    ["beside a JSON schema", { response_format: schema }, "ok", false],
    ["beside JSON", { response_format: { type: "json_object" } }, "ok", false],
    ["for a model that the config says takes none", {}, "plain/ok", false],
    ["for a model that refuses them", {}, "no-tools", false],
  ])("%s", async (_name, fields, model, isOffered) => {
    expect((await post({ messages: ask("hi"), ...fields }, model)).status).toBe(200);

    expect(toolsSent()).toEqual(isOffered ? ["memory_append", "memory_get", "memory_search"] : []);
    expect(String(sent().messages[0]?.content).includes("memory_search")).toBe(isOffered);
  });

  test("are offered once to a model that refuses them", async () => {
    await post({ messages: ask("hi") }, "no-tools");

    expect(calls()).toHaveLength(1);
  });

  test("stay left out beside those of the client", async () => {
    await post({ messages: ask("hi"), tools: [write], response_format: schema });

    expect(toolsSent()).toEqual(["write_file"]);
  });
});
