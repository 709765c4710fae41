import { definePlugin, z } from "svc/sdk";
import { createTestGateway, createTestRequests, type TestGateway, type TestRequests } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type FakeResponses, okText, sealedAs, startFakeResponses } from "../../test/fakes/openai-responses.ts";

let vendor: FakeResponses;
let requests: TestRequests;
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
  vendor = await startFakeResponses({
    models: ["gpt-5.4-mini", "gpt-5.4-tool", "gpt-5.4-text", "gpt-5.4-status-429-insufficient_quota"],
  });
  requests = createTestRequests();
  // The vendor's own address leads to this machine; everything else goes where it says.
  const request: TestRequests["request"] = (url, options) =>
    requests.request(String(url).replace("https://api.openai.com", vendor.origin), options);
  const proxy = { baseUrl: vendor.url, api: "openai-responses" as const, apiKey: vendor.apiKey };
  gateway = await createTestGateway({
    plugins: ["store", "agents", "model-openai", "model-openai-compatible", finder],
    env: { OPENAI_API_KEY: vendor.apiKey },
    http: { request, fetch, requests: [] },
    config: {
      models: { providers: { proxy } },
      agents: {
        defaults: { skipBootstrap: true },
        list: [
          { id: "main", model: "openai/gpt-5.4-mini" },
          { id: "tools", model: "openai/gpt-5.4-tool" },
          { id: "spent", model: { primary: "openai/gpt-5.4-status-429-insufficient_quota", fallbacks: ["proxy/gpt-5.4-text"] } },
        ],
      },
    },
  });
});
beforeEach(() => {
  vendor.requests.length = 0;
});
afterAll(async () => {
  await gateway?.close();
  await requests.close();
  await vendor.close();
});

interface Outcome {
  result: { payloads: Array<{ text: string }>; meta: { agentMeta: { provider: string; model: string; usage?: Record<string, number> } } };
}

async function ask(agentId: string): Promise<Outcome["result"]> {
  const client = await gateway.client();
  const params = { message: "Where is the router?", agentId, idempotencyKey: crypto.randomUUID() };
  return ((await client.request("agent", params, { onAccepted: () => undefined })) as Outcome).result;
}

const turns = () =>
  vendor.requests.filter(({ method }) => method === "POST").map(({ body }) => body as { model: string; input: object[]; store: boolean });

test("a key in the environment is enough for the first answer, over the Responses API", async () => {
  const { payloads, meta } = await ask("main");
  expect(payloads.map(({ text }) => text)).toEqual([okText]);
  expect(meta.agentMeta).toMatchObject({ provider: "openai", model: "gpt-5.4-mini" });
  expect(turns()).toMatchObject([{ model: "gpt-5.4-mini", store: false }]);
});

test("a tool is called, and its result leads to the answer, behind the sealed reasoning that led to the call", async () => {
  expect((await ask("tools")).payloads.at(-1)?.text).toBe(okText);
  expect(turns()).toHaveLength(2);
  const [reasoning, call, output] = (turns()[1]?.input.slice(-3) ?? []) as Array<Record<string, string>>;
  expect(reasoning).toMatchObject({
    type: "reasoning",
    encrypted_content: sealedAs(reasoning?.id ?? ""),
    summary: [{ text: "**Look** at the notes." }, { text: "Then answer." }],
  });
  expect(call).toMatchObject({ type: "function_call", name: "find", call_id: expect.stringMatching(/^call_/) });
  expect(output).toEqual({ type: "function_call_output", call_id: call?.call_id, output: expect.stringContaining("found: ") });
});

test("the status of models names where each key comes from", async () => {
  const { providers } = await gateway.rpc<{ providers: object[] }>("models.status");
  expect(providers).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: "openai", keySource: "OPENAI_API_KEY" }),
      expect.objectContaining({ id: "proxy", keySource: "models.providers.proxy.apiKey" }),
    ]),
  );
});

test("a spent account is not asked again; the next model answers", async () => {
  const { payloads, meta } = await ask("spent");
  expect(payloads.map(({ text }) => text)).toEqual([okText]);
  expect(meta.agentMeta).toMatchObject({ provider: "proxy", model: "gpt-5.4-text" });
  expect(turns().map(({ model }) => model)).toEqual(["gpt-5.4-status-429-insufficient_quota", "gpt-5.4-text"]);
});
