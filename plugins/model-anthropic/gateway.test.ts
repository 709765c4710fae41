import { definePlugin, type SvcConfigInput, z } from "svc/sdk";
import { createTestGateway, eventually, fakeClock, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { MessagesRequest } from "../../test/fakes/anthropic-checks.ts";
import { answerText, redacted, thinking } from "../../test/fakes/anthropic-scripts.ts";
import { type FakeAnthropic, startFakeAnthropic } from "../../test/fakes/anthropic-server.ts";

let vendor: FakeAnthropic;
let gateway: TestGateway;
const clock = fakeClock();
const ran: string[] = [];

const lookup = definePlugin({
  id: "lookup",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const input = z.object({ query: z.string() });
    ctx.registerTool({ name: "lookup", description: "Looks things up.", input, run: ({ query }) => `${ran.push(query)} found` });
  },
});

function configOf(models: Array<{ id: string }> = [], model?: { primary: string; fallbacks: string[] }): SvcConfigInput {
  const { baseUrl, apiKey } = vendor;
  const api = "anthropic-messages" as const;
  const backup = { api, baseUrl, apiKey, models: [{ id: "claude-opus-4-6" }] };
  return {
    models: { providers: { anthropic: { baseUrl, ...(models.length > 0 ? { models } : {}) }, backup, "without-address": { api } } },
    agents: { defaults: { skipBootstrap: true, ...(model ? { model } : {}) } },
  };
}

beforeAll(async () => {
  vendor = await startFakeAnthropic();
  gateway = await createTestGateway({
    plugins: ["store", "agents", "model-anthropic", lookup],
    env: { ANTHROPIC_API_KEY: vendor.apiKey },
    config: configOf(),
    clock,
  });
});

beforeEach(() => {
  vendor.requests.length = 0;
});

afterAll(async () => {
  await gateway.close();
  await vendor.close();
});

type Answer = { result: { payloads: Array<{ text: string }>; meta: { agentMeta: { provider: string; model: string } } } };

async function ask(message: string, more: object = {}): Promise<Answer["result"]> {
  const client = await gateway.client();
  const params = { message, idempotencyKey: crypto.randomUUID(), ...more };
  return ((await client.request("agent", params, { onAccepted: () => undefined })) as Answer).result;
}

test("a key in the environment is enough for an answer, with tools; thinking goes back byte by byte", async () => {
  const { payloads, meta } = await ask("Please look it up.");
  expect(meta.agentMeta).toMatchObject({ provider: "anthropic", model: "claude-sonnet-5-5" });
  expect(payloads.at(-1)?.text).toBe(answerText);
  expect(ran).toEqual(["wo ist der 🦉 0"]);
  const bodies = vendor.requests.filter(({ path }) => path === "/v1/messages").map(({ body }) => body as MessagesRequest);
  expect(bodies).toHaveLength(2);
  expect(bodies[1]?.messages.at(-2)?.content).toMatchObject([thinking, redacted, { type: "tool_use", name: "lookup" }]);
});

test("the status of models names where each key comes from", async () => {
  const { providers } = await gateway.rpc<{ providers: object[] }>("models.status");
  expect(providers).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: "anthropic", keySource: "ANTHROPIC_API_KEY" }),
      expect.objectContaining({ id: "backup", keySource: "models.providers.backup.apiKey" }),
    ]),
  );
});

test("a token in the environment is enough as well, and a key wins over it", async () => {
  const sourceOf = async (env: Record<string, string>) => {
    const other = await createTestGateway({ plugins: ["store", "agents", "model-anthropic"], env, config: configOf() });
    try {
      const { providers } = await other.rpc<{ providers: Array<{ id: string; keySource?: string }> }>("models.status");
      return providers.find(({ id }) => id === "anthropic")?.keySource;
    } finally {
      await other.close();
    }
  };
  expect(await sourceOf({ ANTHROPIC_AUTH_TOKEN: vendor.apiKey })).toBe("ANTHROPIC_AUTH_TOKEN");
  expect(await sourceOf({ ANTHROPIC_AUTH_TOKEN: "other", ANTHROPIC_API_KEY: vendor.apiKey })).toBe("ANTHROPIC_API_KEY");
});

test("an entry without an address is a finding of the doctor", async () => {
  const { findings } = await gateway.rpc<{ findings: Array<{ id: string; path?: string }> }>("gateway.doctor");
  expect(findings).toContainEqual(expect.objectContaining({ id: "models/anthropic-skipped", path: "models.providers.without-address" }));
});

test("a fault of the vendor moves on to the next model", async () => {
  const id = "claude-opus-4-6:first-error:authentication_error";
  await gateway.reload(configOf([{ id }], { primary: `anthropic/${id}`, fallbacks: ["backup/claude-opus-4-6"] }));
  const { payloads, meta } = await ask("hi", { sessionKey: "agent:main:other" });
  expect(payloads.at(-1)?.text).toBe(answerText);
  expect(meta.agentMeta).toMatchObject({ provider: "backup", model: "claude-opus-4-6" });
});

test("a vendor that is overloaded and asks for 7 s is asked again after 7 s, once", async () => {
  const id = "claude-opus-4-6:once";
  await gateway.reload(configOf([{ id }], { primary: `anthropic/${id}`, fallbacks: ["backup/claude-opus-4-6"] }));
  const answered = ask("hi", { sessionKey: "agent:main:overloaded" });
  await eventually(() => clock.waiting.includes(7_000));
  await clock.advance(6_999);
  expect([clock.waiting[0], asked()]).toEqual([1, [id]]);

  await clock.advance(1);
  const { payloads, meta } = await answered;
  expect(payloads.at(-1)?.text).toBe(answerText);
  expect(meta.agentMeta).toMatchObject({ provider: "anthropic", model: id });
  expect(asked()).toEqual([id, id]);
});

const asked = () => vendor.requests.filter(({ path }) => path === "/v1/messages").map(({ body }) => (body as MessagesRequest).model);
