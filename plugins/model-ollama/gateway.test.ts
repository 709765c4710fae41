import { definePlugin, z } from "svc/sdk";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type FakeOllama, okText, startFakeOllama } from "../../test/fakes/ollama-chat.ts";

let server: FakeOllama;
/** Knows no details, so a model's refusals are all that tells. */
let old: FakeOllama;
let gateway: TestGateway;

const finder = definePlugin({
  id: "finder",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerTool({
      name: "find",
      description: "Finds.",
      input: z.object({ query: z.string() }),
      run: ({ query }) => `found: ${query}`,
    });
  },
});

beforeAll(async () => {
  server = await startFakeOllama({ models: ["embed-text", "tk-tool", "x-text"] });
  old = await startFakeOllama({ models: ["x-text", "nobody"], old: "details" });
  gateway = await createTestGateway({
    plugins: ["store", "agents", "model-ollama", "model-openai-compatible", finder],
    config: {
      models: {
        providers: { ollama: { baseUrl: server.origin }, attic: { api: "ollama", baseUrl: old.origin } },
      },
      agents: {
        defaults: { skipBootstrap: true },
        list: [
          { id: "main" },
          { id: "plain", model: "attic/x-text" },
          { id: "short", contextTokens: 5_000, model: "ollama/tk-tool" },
          { id: "gone", model: { primary: "attic/nobody", fallbacks: ["ollama/x-text"] } },
        ],
      },
    },
  });
});
beforeEach(() => {
  server.requests.length = 0;
  old.requests.length = 0;
});
afterAll(async () => {
  await gateway?.close();
  await server.close();
  await old.close();
});

async function ask(agentId: string) {
  const client = await gateway.client();
  const params = { message: "Where is the router?", agentId, idempotencyKey: crypto.randomUUID() };
  const answer = await client.request("agent", params, { onAccepted: () => undefined });
  const { result } = answer as { result: { payloads: Array<{ text: string }>; meta: { agentMeta: { provider: string; model: string } } } };
  return { text: result.payloads.at(-1)?.text, ...result.meta.agentMeta };
}

const chats = (of: FakeOllama) =>
  of.requests
    .filter(({ path }) => path === "/api/chat")
    .map(({ body }) => body as { tools?: unknown[]; options: object; messages: object[] });

test("an address is enough: a model that the server lists calls a tool and answers", async () => {
  expect(await ask("main")).toMatchObject({ provider: "ollama", model: "tk-tool", text: okText });
  expect(chats(server).map(({ options }) => options)).toEqual([{ num_ctx: 8_192 }, { num_ctx: 8_192 }]);
  expect(chats(server)[1]?.messages.at(-1)).toMatchObject({ role: "tool", tool_name: "find", content: expect.stringContaining("found: ") });
});

test("agents with different prompts load a model once", async () => {
  await ask("short");
  await ask("main");
  expect(server.loaded.get("tk-tool")).toBe(8_192);
  expect(server.loads()).toBe(1);
});

test("a model that refuses tools is asked without them, and never again with them", async () => {
  for (let i = 0; i < 2; i++) expect(await ask("plain")).toMatchObject({ provider: "attic", text: okText });
  expect(chats(old).map(({ tools }) => tools?.length)).toEqual([1, undefined, undefined]);
});

test("a model that the server does not have is left for the next", async () => {
  expect(await ask("gone")).toMatchObject({ provider: "ollama", model: "x-text", text: okText });
});

test("a conversation above the window of the model becomes a summary; the server is let cut nothing", async () => {
  const content = (text: string) => [{ type: "text" as const, text }];
  const history = Array.from({ length: 40 }, (_, i) => ({
    role: i % 2 === 0 ? ("user" as const) : ("assistant" as const),
    content: content(`${i} ${"word ".repeat(400)}`),
  }));
  const request = { message: "Go on.", sessionKey: "agent:main:long", model: "ollama/x-text", trigger: "user" as const };
  const run = await gateway.service("agents@1").run({ ...request, history, actor: { kind: "internal", scopes: [] } });
  expect(await run.done).toMatchObject({ status: "ok", text: okText });

  const sent = chats(server) as Array<{ truncate?: boolean; shift?: boolean }>;
  expect(sent.length).toBeGreaterThan(1);
  expect(sent.every(({ truncate, shift }) => truncate === false && shift === false)).toBe(true);
  const store = gateway.service("store@2");
  const { sessionId = "" } = (await store.sessions.get("agent:main:long")) ?? {};
  const kinds = (await store.messages.page(sessionId, { limit: 100 })).map(({ kind }) => kind);
  expect(kinds).toContain("compaction");
});
