import { definePlugin, type JsonObject, ModelError, type ModelProvider } from "svc/sdk";
import { createTestGateway, fakeClock, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

const clock = fakeClock();
let fault: ModelError | undefined;
let gw: TestGateway;

/** One provider that lists what it has and answers as the test wants, and one without a key. */
const vendor: ModelProvider = {
  ...fakeModel(["hello"]),
  id: "vendor",
  defaultModel: "large",
  models: () => [
    { id: "large", name: "Large", contextWindow: 200_000, maxTokens: 8_000, reasoning: true, input: ["text", "image"] },
    { id: "small" },
  ],
  async *stream() {
    if (fault) throw fault;
    yield { type: "text", delta: "hello" };
    yield { type: "finish", reason: "stop" };
  },
};
const keyless: ModelProvider = { ...vendor, id: "keyless", available: () => ({ ok: false, reason: "no key" }) };

beforeAll(async () => {
  const models = definePlugin<unknown>({
    id: "vendors",
    version: "1.0.0",
    svc: { api: "*" },
    setup(ctx) {
      ctx.registerModelProvider(vendor);
      ctx.registerModelProvider(keyless);
    },
  });
  const defaults = {
    skipBootstrap: true,
    model: { primary: "vendor/large", fallbacks: ["vendor/small"] },
    models: { "vendor/large": { alias: "big" } },
  };
  gw = await createTestGateway({ plugins: ["store", "agents", models], clock, config: { agents: { defaults } } });
}, 60_000);
afterAll(() => gw.close());

const list = async (params: JsonObject = {}) => (await gw.rpc<{ models: JsonObject[] }>("models.list", { view: "all", ...params })).models;
const large = async () => (await list({ provider: "vendor" })).find(({ id }) => id === "large");
const ask = (key: string) => gw.rpc("agent", { message: "hi", idempotencyKey: key }).then(() => gw.rpc("agent.wait", { runId: key }));

test("a model is described by what its provider knows and what the config makes of it", async () => {
  expect(await large()).toEqual({
    ...{ id: "large", name: "Large", provider: "vendor", alias: "big", tags: ["default"], available: true },
    ...{ contextWindow: 200_000, reasoning: true, input: ["text", "image"] },
  });
  expect((await list()).find(({ id, provider }) => id === "small" && provider === "vendor")).toEqual({
    ...{ id: "small", name: "small", provider: "vendor", tags: ["fallback"], available: true },
  });
  expect((await list({ provider: "keyless" }))[0]).toMatchObject({ available: false, unavailableReason: "missing-auth" });
});

test("a refused key is told until a turn succeeds, any other failure until the rest is over", async () => {
  fault = new ModelError("auth", "the key was refused", { status: 401 });
  await ask("a");
  expect(await large()).toMatchObject({ available: false, unavailableReason: "auth-failed" });
  await clock.advance(3_600_000);
  expect(await large()).toMatchObject({ unavailableReason: "auth-failed" });

  fault = undefined;
  await ask("b");
  expect(await large()).toMatchObject({ available: true });

  fault = new ModelError("invalid_request", "no such model", { status: 404 });
  await ask("c");
  expect(await large()).toMatchObject({ available: true });
});

test("of an unknown agent, or in an unknown view, is refused", async () => {
  await expect(list({ agentId: "zzz" })).rejects.toMatchObject({ details: { code: "UNKNOWN_AGENT_ID" } });
  await expect(list({ view: "some" })).rejects.toMatchObject({ message: expect.stringContaining("invalid models.list params") });
});
