import { definePlugin, type SvcConfigInput, z } from "svc/sdk";
import { createTestGateway, eventually, fakeClock, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { GenerateRequest } from "../../test/fakes/google-checks.ts";
import { answerText, signature, thought } from "../../test/fakes/google-scripts.ts";
import { type FakeGoogle, startFakeGoogle } from "../../test/fakes/google-server.ts";

let vendor: FakeGoogle;
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
  const api = "google-generative-ai" as const;
  const backup = { api, baseUrl, apiKey, models: [{ id: "gemini-3.5-flash" }] };
  const limited = { ...backup, models: [{ id: "gemini-3.5-flash~http~90s" }] };
  return {
    models: { providers: { google: { baseUrl, ...(models.length > 0 ? { models } : {}) }, backup, limited, "without-address": { api } } },
    agents: { defaults: { skipBootstrap: true, ...(model ? { model } : {}) } },
  };
}

beforeAll(async () => {
  vendor = await startFakeGoogle();
  gateway = await createTestGateway({
    plugins: ["store", "agents", "model-google", lookup],
    env: { GOOGLE_API_KEY: vendor.apiKey },
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

test("a key in the environment is enough for an answer, with tools; calls go back with their signature", async () => {
  const { payloads, meta } = await ask("Please look it up.");
  expect(meta.agentMeta).toMatchObject({ provider: "google", model: "gemini-flash-latest" });
  expect(payloads.at(-1)?.text).toBe(answerText);
  expect(ran).toEqual(["wo ist der 🦉 0", "wo ist der 🦉 1"]);
  const turns = vendor.requests.filter(({ path }) => path.endsWith(":streamGenerateContent?alt=sse"));
  expect(turns).toHaveLength(2);
  const [answer, results] = ((turns[1]?.body as GenerateRequest | undefined)?.contents ?? []).slice(-2);
  const call = (i: number) => ({ functionCall: { id: expect.any(String), name: "lookup", args: { query: `wo ist der 🦉 ${i}` } } });
  expect(answer?.parts).toEqual([thought, { ...call(0), thoughtSignature: signature }, call(1)]);
  expect(results?.parts).toHaveLength(2);
});

test("the status of models names where each key comes from", async () => {
  const { providers } = await gateway.rpc<{ providers: object[] }>("models.status");
  expect(providers).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: "google", keySource: "GOOGLE_API_KEY" }),
      expect.objectContaining({ id: "backup", keySource: "models.providers.backup.apiKey" }),
    ]),
  );
});

test("an entry without an address is a finding of the doctor", async () => {
  const { findings } = await gateway.rpc<{ findings: Array<{ id: string; path?: string }> }>("gateway.doctor");
  expect(findings).toContainEqual(expect.objectContaining({ id: "models/google-skipped", path: "models.providers.without-address" }));
});

test("a rejected key, which is 400 here, and a wait of more than a minute move on to the next model", async () => {
  const refused = "gemini-3.5-flash~http~API_KEY_INVALID";
  const limited = "gemini-3.5-flash~http~90s";
  const fallbacks = [`limited/${limited}`, "backup/gemini-3.5-flash"];
  await gateway.reload(configOf([{ id: refused }], { primary: `google/${refused}`, fallbacks }));
  const { payloads, meta } = await ask("hi", { sessionKey: "agent:main:other" });
  expect(payloads.at(-1)?.text).toBe(answerText);
  expect(meta.agentMeta).toMatchObject({ provider: "backup", model: "gemini-3.5-flash" });
  expect(asked()).toEqual([refused, limited]);
  expect(await gateway.rpc("health", { probe: true })).toMatchObject({ models: [{ provider: "google", state: "key-rejected" }] });
});

test("a vendor that asks for 34 s within its error is asked again after 34 s, once", async () => {
  const id = "gemini-3.5-flash~once~34s";
  await gateway.reload(configOf([{ id }], { primary: `google/${id}`, fallbacks: ["backup/gemini-3.5-flash"] }));
  const answered = ask("hi", { sessionKey: "agent:main:limited" });
  await eventually(() => clock.waiting.includes(34_000));
  await clock.advance(33_999);
  expect([clock.waiting[0], asked()]).toEqual([1, [id]]);

  await clock.advance(1);
  const { payloads, meta } = await answered;
  expect(payloads.at(-1)?.text).toBe(answerText);
  expect(meta.agentMeta).toMatchObject({ provider: "google", model: id });
  expect(asked()).toEqual([id, id]);
});

/** Models that were asked for a scripted answer, in order. */
const asked = () => vendor.requests.flatMap(({ path }) => /^\/v1beta\/models\/([^/:]+~[^/:]+):streamGenerateContent/.exec(path)?.[1] ?? []);
