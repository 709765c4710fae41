import { definePlugin, z } from "svc/sdk";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFakeOpenAiEmbeddings, type FakeOpenAiEmbeddings } from "../../../test/fakes/embedding-openai.ts";
import { type FakeOpenAi, startFakeOpenAi } from "../../../test/fakes/openai-server.ts";

type Json = Record<string, unknown>;
interface Content {
  schema: Json;
}
interface Document {
  paths: Record<
    string,
    Record<string, { requestBody?: { content: Record<string, Content> }; responses: Record<string, { content: Record<string, Content> }> }>
  >;
  components: { schemas: Record<string, Json> };
}

const lab = ["ok", "tool", "tool-cut", "reasoning", "length", "401", "429", "500", "cut-mid-event"];
const tools = definePlugin<unknown>({
  id: "bench",
  version: "1.0.0",
  svc: { api: "*" },
  setup(ctx) {
    const tool = (name: string, run: () => unknown) => ctx.registerTool({ name, description: name, input: z.strictObject({}), run });
    tool("hello", () => ({ said: "hello" }));
    tool("broken", () => {
      throw new Error("at /secret/place");
    });
    tool("held", () => "never");
    ctx.on("tool.before", ({ tool }) => (tool === "held" ? { block: true as const, reason: "not today" } : undefined));
  },
});

let vendor: FakeOpenAi;
let embedder: FakeOpenAiEmbeddings;
let gateway: TestGateway;
let document: Document;

beforeAll(async () => {
  vendor = await startFakeOpenAi();
  embedder = await createFakeOpenAiEmbeddings();
  const remote = { baseUrl: embedder.url, apiKey: embedder.apiKey };
  const memorySearch = {
    provider: "openai",
    remote,
    outputDimensionality: 4,
    sync: { watch: false, onSessionStart: false, onSearch: false },
  };
  gateway = await createTestGateway({
    plugins: ["store", "agents", "memory-core", "embed-openai", "model-openai-compatible", "openai-http", tools],
    config: {
      agents: {
        list: [
          { id: "main", memorySearch },
          { id: "blind", memorySearch: { provider: "none" } },
        ],
      },
      models: { providers: { lab: { baseUrl: vendor.url, apiKey: vendor.apiKey, models: lab.map((id) => ({ id })) } } },
      gateway: { http: { maxBodyBytes: 100_000 } },
    },
  });
  document = (await (await gateway.fetch("/openapi.json")).json()) as Document;
});

afterAll(async () => {
  await gateway?.close();
  await vendor?.close();
  await embedder?.close();
});

/** A check of a schema of the document. `isClosed`: keys that are not in it are refused, which the document itself leaves open. */
function checkOf(schema: Json, { isClosed }: { isClosed: boolean }): (value: unknown) => string {
  const close = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(close);
    if (typeof node !== "object" || node === null) return node;
    const own = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, close(value)]));
    return isClosed && own.type === "object" && own.properties && own.additionalProperties === undefined
      ? { ...own, additionalProperties: false }
      : own;
  };
  const whole = JSON.stringify(close({ ...schema, $defs: document.components.schemas })).replaceAll("#/components/schemas/", "#/$defs/");
  const check = z.fromJSONSchema(JSON.parse(whole));
  return (value) => {
    const { error } = check.safeParse(value);
    return error ? `${z.prettifyError(error).slice(0, 1_000)} in ${JSON.stringify(value).slice(0, 1_000)}` : "";
  };
}

const schemaOf = (path: string, method: string, status: number, type: string): Json => {
  const schema = document.paths[path]?.[method]?.responses[status]?.content[type]?.schema;
  if (!schema) throw new Error(`the document has no ${type} for ${method} ${path} ${status}`);
  return schema;
};

interface Asked {
  path: string;
  /** Path in the document. */
  as?: string;
  body?: object | string;
  headers?: Record<string, string>;
  key?: string;
}

/** Sends a request, and checks the answer by the document: JSON by its schema, a stream event by event. */
async function ask({
  path,
  as = path,
  body,
  headers = {},
  key = gateway.token,
}: Asked): Promise<[status: number, problems: string[], events: number]> {
  const method = body === undefined ? "get" : "post";
  const response = await fetch(gateway.url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  const check = checkOf(schemaOf(as, method, response.status, type), { isClosed: true });
  if (type !== "text/event-stream") return [response.status, [check(await response.json())].filter(Boolean), 0];
  const frames = (await response.text()).split("\n\n").filter((frame) => frame !== "" && !frame.startsWith(":"));
  expect(frames.pop()).toBe("data: [DONE]");
  const events = frames.map((frame) => JSON.parse(frame.slice(frame.indexOf("data: ") + 6)));
  return [response.status, events.map(check).filter(Boolean), events.length];
}

const on = (model: string) => ({ headers: { "x-svc-model": `lab/${model}` } });
const chat = "/v1/chat/completions";
const messages = [{ role: "user", content: "Bern?" }];
const weather = {
  name: "weather",
  description: "Weather.",
  parameters: { type: "object", properties: { query: { type: "string" } } },
  strict: true,
};
const chatTools = { messages, tools: [{ type: "function", function: weather }] };
const flat = {
  model: "svc",
  input: "Bern?",
  tools: [{ type: "function", ...weather }],
  reasoning: { effort: "low" },
  metadata: { a: "b" },
};
const format = { type: "json_schema", name: "x", schema: { type: "object" } };

describe("an answer is as /openapi.json says:", () => {
  test.each<[name: string, status: number, asked: Asked]>([
    ["the models", 200, { path: "/v1/models" }],
    ["one model", 200, { path: "/v1/models/svc/main", as: "/v1/models/{id}" }],
    ["an unknown model", 404, { path: "/v1/models/svc/nobody", as: "/v1/models/{id}" }],
    ["a wrong key", 401, { path: "/v1/models", key: "wrong" }],
    ["the document", 200, { path: "/openapi.json" }],
    ["the document without a key", 401, { path: "/openapi.json", key: "wrong" }],
    ...["/healthz", "/health", "/readyz", "/ready"].map((path): [string, number, Asked] => [`a probe: ${path}`, 200, { path }]),
    ["a chat", 200, { path: chat, body: { messages } }],
    ["a chat with a call", 200, { path: chat, body: chatTools, ...on("tool") }],
    ["a legacy call", 200, { path: chat, body: { messages, functions: [weather] }, ...on("tool") }],
    ["a chat with reasoning", 200, { path: chat, body: { messages }, ...on("reasoning") }],
    ["a chat that was cut off", 200, { path: chat, body: { messages }, ...on("length") }],
    ["a bad chat", 400, { path: chat, body: { messages: 1 } }],
    ["no JSON", 400, { path: chat, body: "{" }],
    ["a body above the cap", 413, { path: chat, body: { messages: [{ role: "user", content: "x".repeat(100_001) }] } }],
    ["a vendor's refusal", 401, { path: chat, body: { messages }, ...on("401") }],
    ["an unknown backend model", 404, { path: chat, body: { messages }, ...on("nothing") }],
    ["a response", 200, { path: "/v1/responses", body: { model: "svc", input: "hi" } }],
    ["a response with a call", 200, { path: "/v1/responses", body: flat, ...on("tool") }],
    ["a structured response", 200, { path: "/v1/responses", body: { model: "svc", input: "hi", text: { format, verbosity: "low" } } }],
    ["a failed response", 401, { path: "/v1/responses", body: { model: "svc", input: "hi" }, ...on("401") }],
    ["a bad response", 400, { path: "/v1/responses", body: { model: "svc" } }],
    ["an unknown earlier response", 404, { path: "/v1/responses", body: { model: "svc", input: "x", previous_response_id: "resp_x" } }],
    ["an unmet demand", 502, { path: "/v1/responses", body: { ...flat, tool_choice: "required" } }],
    ["embeddings", 200, { path: "/v1/embeddings", body: { model: "svc", input: ["a", "b"] } }],
    ["embeddings as base64", 200, { path: "/v1/embeddings", body: { model: "svc", input: "a", encoding_format: "base64" } }],
    ["embeddings without a provider", 400, { path: "/v1/embeddings", body: { model: "svc/blind", input: "a" } }],
    ["a tool", 200, { path: "/tools/invoke", body: { name: "hello" } }],
    ["a dry run", 200, { path: "/tools/invoke", body: { tool: "hello", dryRun: true } }],
    ["a tool that is not there", 404, { path: "/tools/invoke", body: { name: "nothing" } }],
    ["a tool that a hook blocks", 403, { path: "/tools/invoke", body: { name: "held" } }],
    ["a tool that fails", 500, { path: "/tools/invoke", body: { name: "broken" } }],
    ["no tool", 400, { path: "/tools/invoke", body: {} }],
    ["no JSON for a tool", 400, { path: "/tools/invoke", body: "{" }],
  ])("%s", async (_name, status, asked) => {
    expect(await ask(asked)).toEqual([status, [], 0]);
  });

  test.each<[name: string, asked: Asked]>([
    ["a chat", { path: chat, body: { messages, stream: true, stream_options: { include_usage: true } } }],
    ["a chat with a call", { path: chat, body: { ...chatTools, stream: true }, ...on("tool") }],
    ["a chat with reasoning", { path: chat, body: { messages, stream: true }, ...on("reasoning") }],
    ["a chat that breaks off", { path: chat, body: { messages, stream: true }, ...on("cut-mid-event") }],
    ["a response", { path: "/v1/responses", body: { model: "svc", input: "hi", stream: true } }],
    ["a response with text and a cut call", { path: "/v1/responses", body: { ...flat, stream: true }, ...on("tool-cut") }],
    ["a response that breaks off", { path: "/v1/responses", body: { model: "svc", input: "hi", stream: true }, ...on("cut-mid-event") }],
  ])("each event of %s", async (_name, asked) => {
    const [status, problems, events] = await ask(asked);

    expect([status, problems, events > 2]).toEqual([200, [], true]);
  });
});

describe("a request is taken by the document exactly when the gateway takes it:", () => {
  const image = { type: "image_url", image_url: { url: "data:image/gif;base64,R0lGODlhAQABAAAAACw=" } };
  const file = { type: "file", file: { filename: "a.csv", file_data: "data:text/csv;base64,MSwy" } };
  const call = { id: "c1", type: "function", function: { name: "weather", arguments: "{}" } };
  test.each<[path: string, isFine: boolean, body: Json]>([
    [chat, true, { model: "svc", messages, temperature: 2, stop: ["a"], n: 1, unknown: 1, user: null, max_tokens: 5 }],
    [
      chat,
      true,
      {
        messages: [
          { role: "system", content: "x" },
          { role: "user", content: [{ type: "text", text: "x" }, image, file] },
        ],
      },
    ],
    [chat, false, { messages: [{ role: "user", content: [{ type: "file", file: { file_id: "file-1" } }] }] }],
    [chat, false, { messages: [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "AAAA", format: "ogg" } }] }] }],
    [
      chat,
      true,
      {
        messages: [
          ...messages,
          { role: "assistant", content: null, tool_calls: [call] },
          { role: "tool", tool_call_id: "c1", content: "" },
        ],
      },
    ],
    [chat, true, { ...chatTools, tool_choice: "auto", response_format: { type: "text" } }],
    [chat, false, { model: "svc" }],
    [chat, false, { messages, temperature: 2.1 }],
    [chat, false, { messages, stop: ["a", "b", "c", "d", "e"] }],
    [chat, false, { messages, n: 2 }],
    [chat, false, { messages, max_tokens: 0 }],
    [chat, false, { messages, reasoning_effort: "huge" }],
    [chat, false, { messages, response_format: { type: "xml" } }],
    [chat, false, { messages, tools: [{ type: "web_search" }] }],
    [chat, false, { messages, tools: [{ type: "function", function: { name: "a b" } }] }],
    ["/v1/responses", true, { ...flat, tool_choice: { type: "allowed_tools", tools: [{ type: "function", name: "weather" }] } }],
    ["/v1/responses", true, { model: "svc", input: [{ role: "user", content: "x" }], top_p: 0.5, store: true, text: { format } }],
    ["/v1/responses", false, { input: "x" }],
    ["/v1/responses", false, { model: "svc", input: 1 }],
    ["/v1/responses", false, { model: "svc", input: "x", max_output_tokens: 0 }],
    ["/v1/responses", false, { model: "svc", input: "x", background: true }],
    ["/v1/responses", false, { model: "svc", input: "x", metadata: { a: 1 } }],
    ["/v1/responses", false, { model: "svc", input: "x", reasoning: { effort: "huge" } }],
    ["/v1/responses", false, { model: "svc", input: "x", tools: [{ type: "file_search" }] }],
    ["/v1/embeddings", true, { model: "svc", input: "x", dimensions: 4 }],
    ["/v1/embeddings", false, { model: "svc", input: [] }],
    ["/v1/embeddings", false, { model: "svc", input: [1, 2] }],
    ["/v1/embeddings", false, { model: "svc", input: "x", encoding_format: "hex" }],
    ["/v1/embeddings", false, { model: "svc", input: "x", dimensions: 0 }],
    ["/tools/invoke", true, { name: "hello", args: 1, sessionKey: "main" }],
    ["/tools/invoke", true, { tool: "hello" }],
    ["/tools/invoke", false, { name: 1 }],
    ["/tools/invoke", false, { name: "hello", dryRun: "yes" }],
    ["/tools/invoke", false, { name: "hello", idempotencyKey: "k".repeat(257) }],
  ])("%s, %s", async (path, isFine, body) => {
    const schema = document.paths[path]?.post?.requestBody?.content["application/json"]?.schema ?? {};
    const problems = checkOf(schema, { isClosed: false })(body);
    const { status } = await gateway.fetch(path, { method: "POST", body: JSON.stringify(body) });

    expect([status, problems === ""], problems).toEqual([isFine ? 200 : 400, isFine]);
  });
});
