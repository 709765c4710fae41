import { definePlugin, type SvcConfigInput, z } from "svc/sdk";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { type FakeConverse, startFakeConverse } from "../../test/fakes/bedrock-converse.ts";
import { answerText, signature } from "../../test/fakes/bedrock-converse-scripts.ts";
import { knownModels } from "./vendor.ts";

const bearer = "bedrock-api-key-fake-0123456789";
let vendor: FakeConverse;
let gateway: TestGateway;
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

function configOf(model?: { primary: string; fallbacks: string[] }): SvcConfigInput {
  const baseUrl = vendor.url;
  const api = "bedrock-converse" as const;
  const models = [{ id: "amazon.nova-pro-v1:0" }];
  const named = /^amazon-bedrock\/(.*)/.exec(model?.primary ?? "")?.[1];
  return {
    models: {
      providers: {
        "amazon-bedrock": { baseUrl, ...(named === undefined ? {} : { models: [{ id: named }] }) },
        backup: { api, baseUrl, apiKey: bearer, models },
        keyless: { api, baseUrl, headers: { "x-who": "keyless" }, models },
        "without-address": { api },
      },
    },
    agents: { defaults: { skipBootstrap: true, ...(model ? { model } : {}) } },
  };
}

beforeAll(async () => {
  vendor = await startFakeConverse({ bearer });
  gateway = await createTestGateway({
    plugins: ["store", "agents", "embed-bedrock", "model-bedrock", lookup],
    env: { HOME: "/nonexistent", AWS_BEARER_TOKEN_BEDROCK: bearer, AWS_ACCESS_KEY_ID: "AKIAFAKE", AWS_SECRET_ACCESS_KEY: "fake" },
    config: configOf(),
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

test("a key in the environment is enough for an answer, with tools; reasoning goes back with its signature", async () => {
  const { payloads, meta } = await ask("Please look it up.");
  expect(meta.agentMeta).toMatchObject({ provider: "amazon-bedrock", model: knownModels[0]?.id });
  expect(payloads.at(-1)?.text).toBe(answerText);
  expect(ran).toEqual(["wo ist der 🦉 0"]);
  expect(vendor.requests.map(({ refused }) => refused)).toEqual([undefined, undefined]);
  expect(vendor.requests[1]?.body.messages[1]?.content).toMatchObject([
    { reasoningContent: { reasoningText: { text: "I should look. 🤔", signature } } },
    { toolUse: { name: "lookup", input: { query: "wo ist der 🦉 0" } } },
  ]);
});

test("an entry without an address is a finding of the doctor", async () => {
  const { findings } = await gateway.rpc<{ findings: Array<{ id: string; path?: string }> }>("gateway.doctor");
  expect(findings).toContainEqual(expect.objectContaining({ id: "models/bedrock-skipped", path: "models.providers.without-address" }));
});

test("a throttled turn is tried again", async () => {
  await gateway.reload(configOf({ primary: "amazon-bedrock/anthropic.claude-opus-4-6:once", fallbacks: [] }));
  const { payloads } = await ask("hi", { sessionKey: "agent:main:throttled" });
  expect(payloads.at(-1)?.text).toBe(answerText);
  expect(vendor.requests.map(({ model }) => model)).toEqual(Array(2).fill("anthropic.claude-opus-4-6:once"));
});

test("a fault of the vendor moves on to the next model, which takes the conversation over", async () => {
  await gateway.reload(
    configOf({ primary: "amazon-bedrock/anthropic.claude-opus-4-6:http:denied", fallbacks: ["backup/amazon.nova-pro-v1:0"] }),
  );
  const { payloads, meta } = await ask("hi");
  expect(payloads.at(-1)?.text).toBe(answerText);
  expect(meta.agentMeta).toMatchObject({ provider: "backup", model: "amazon.nova-pro-v1:0" });
  expect(JSON.stringify(vendor.requests.at(-1)?.body.messages)).not.toContain("reasoningContent");
  expect(vendor.requests.at(-1)?.refused).toBeUndefined();
});

test("the environment's key goes to no address of another entry", async () => {
  await gateway.reload(configOf({ primary: "keyless/amazon.nova-pro-v1:0", fallbacks: ["backup/amazon.nova-pro-v1:0"] }));
  await ask("hi", { sessionKey: "agent:main:keyless" });
  const [first] = vendor.requests;
  expect(first?.headers).toMatchObject({
    "x-who": "keyless",
    authorization: expect.stringMatching(/^AWS4-HMAC-SHA256 Credential=AKIAFAKE\//),
  });
});

test("a signed turn that is throttled in mid-stream is signed and sent again, and the run has its answer", async () => {
  const signing = await startFakeConverse();
  onTestFinished(() => signing.close());
  const id = "anthropic.claude-opus-4-6:once";
  const { accessKeyId, secretAccessKey } = signing.identity;
  const own = await createTestGateway({
    plugins: ["store", "agents", "embed-bedrock", "model-bedrock"],
    env: { HOME: "/nonexistent", AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
    config: {
      models: { providers: { "amazon-bedrock": { baseUrl: signing.url, models: [{ id }] } } },
      agents: { defaults: { skipBootstrap: true, model: `amazon-bedrock/${id}` } },
    },
  });
  onTestFinished(() => own.close());

  const actor = { kind: "rpc" as const, scopes: [] };
  const request = { message: "Wo ist der 🦉?", sessionKey: "agent:main:signed", trigger: "user" as const, actor };
  expect(await (await own.service("agents@1").run(request)).done).toMatchObject({ status: "ok", text: answerText, model: id });
  // The fake makes each signature again from the body that it received, and refuses the request where it differs.
  const [first, second] = signing.requests.map(({ headers, text }) => ({ authorization: headers.authorization, text }));
  expect(signing.requests).toHaveLength(2);
  for (const one of [first, second]) {
    expect(one?.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIAFAKEBEDROCK00001\/\d{8}\/us-east-1\/bedrock\/aws4_request, /);
    expect(one?.text).toContain("Wo ist der 🦉?");
  }
});
