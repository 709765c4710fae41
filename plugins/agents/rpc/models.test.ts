import { definePlugin, type JsonObject, ModelError, type ModelProvider, type ModelRequest } from "svc/sdk";
import { createTestGateway, eventually, fakeClock, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const clock = fakeClock();
let fault: ModelError | undefined;
let hangs = false;
let probes = 0;
const asked: ModelRequest[] = [];
let gw: TestGateway;

/** One provider that lists what it has and answers as the test wants, and one without a key. */
const vendor: ModelProvider = {
  ...fakeModel(["hello"]),
  id: "vendor",
  defaultModel: "large",
  keySource: "VENDOR_API_KEY",
  models: () => [
    { id: "large", name: "Large", contextWindow: 200_000, maxTokens: 8_000, reasoning: true, input: ["text", "image"] },
    { id: "small" },
  ],
  probe: async () => {
    probes += 1;
    return fault ? { ok: false, fault: fault.fault, reason: fault.message } : { ok: true };
  },
  async *stream(req, { signal }) {
    asked.push(req);
    if (fault) throw fault;
    if (hangs) await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    yield { type: "text", delta: "hello" };
    yield { type: "usage", usage: { input: 9, output: 1, cacheRead: 0, cacheWrite: 0, total: 10 } };
    yield { type: "finish", reason: "stop" };
  },
};
const { keySource: _, ...unkeyed } = vendor;
const keyless: ModelProvider = { ...unkeyed, id: "keyless", available: () => ({ ok: false, reason: "no key" }) };

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
});
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

describe("models.status", () => {
  const status = () => gw.rpc<{ agents: JsonObject[]; providers: JsonObject[]; skipped: JsonObject[] }>("models.status");
  const vendorRow = async () => (await status()).providers.find(({ id }) => id === "vendor");

  test("names providers with the source of their key, and the models of each agent in order", async () => {
    await gw.rpc("models.test", { model: "vendor/large" });
    expect(await status()).toEqual({
      agents: [
        {
          ...{ agentId: "main", isDefault: true, setBy: "agents.defaults.model" },
          models: [
            { provider: "vendor", model: "large", state: "ready" },
            { provider: "vendor", model: "small", state: "ready" },
          ],
        },
      ],
      providers: [
        {
          ...{ id: "vendor", name: "Scripted model", state: "ready", keySource: "VENDOR_API_KEY" },
          ...{ defaultModel: "large", isConfigured: false },
        },
        { id: "keyless", name: "Scripted model", state: "unavailable", reason: "no key", defaultModel: "large", isConfigured: false },
      ],
      skipped: [{ provider: "keyless", reason: "no key" }],
    });
  });

  test("asks a server once a minute, and one that failed soon again, however many ask", async () => {
    const probe = () => gw.rpc("models.status", { probe: true });
    await clock.advance(60_000);
    const before = probes;
    await Promise.all([probe(), probe()]);
    await probe();
    expect(probes - before).toBe(1);

    fault = new ModelError("network", "nobody there");
    await clock.advance(60_000);
    await probe();
    expect(await vendorRow()).toMatchObject({ state: "unreachable", reason: "nobody there" });
    fault = undefined;
    await probe();
    expect(probes - before).toBe(2);
    await clock.advance(10_000);
    await probe();
    expect([probes - before, (await vendorRow())?.state]).toEqual([3, "ready"]);
  });

  test("shows a rest with its reason and end, which an answer to a test ends", async () => {
    fault = new ModelError("auth", "the key was refused", { status: 401 });
    await ask("rest");
    expect(await vendorRow()).toMatchObject({ state: "key-rejected", reason: "the key was refused", until: expect.any(Number) });
    fault = undefined;
    expect(await gw.rpc("models.test")).toMatchObject({ ok: true });
    expect(await vendorRow()).toMatchObject({ state: "ready" });
  });

  test("an event tells of a rest and of its early end, once for models that fail together", async () => {
    const socket = await gw.ws();
    const told = () => socket.events.filter(({ event }) => event === "models.changed").length;
    fault = new ModelError("auth", "the key was refused", { status: 401 });
    await ask("told");
    await clock.advance(100);
    await eventually(() => told() === 1);
    fault = undefined;
    await gw.rpc("models.test");
    await clock.advance(100);
    await eventually(() => told() === 2);
    await socket.close();
  });
});

describe("models.test", () => {
  test("asks the agent's model for one word, with few tokens and no tools", async () => {
    expect(await gw.rpc("models.test")).toEqual({
      ...{ ok: true, provider: "vendor", model: "large", latencyMs: 0, text: "hello" },
      usage: { input: 9, output: 1, cacheRead: 0, cacheWrite: 0, total: 10 },
    });
    expect(asked.at(-1)).toMatchObject({ model: "large", tools: [], sampling: { maxTokens: 64 } });
    expect(await gw.rpc("models.test", { model: "big" })).toMatchObject({ ok: true, model: "large" });
  });

  test("tells a fault with its class and sentence, and lets nothing rest for it", async () => {
    fault = new ModelError("rate_limit", "slow down", { status: 429, retryAfterMs: 5_000 });
    expect(await gw.rpc("models.test")).toEqual({
      ...{ ok: false, provider: "vendor", model: "large", latencyMs: 0 },
      ...{ fault: "rate_limit", error: "slow down", httpStatus: 429, retryAfterMs: 5_000 },
    });
    fault = undefined;
    expect(await large()).toMatchObject({ available: true });
  });

  test("ends a model that says nothing, and takes four at a time", async () => {
    hangs = true;
    const before = asked.length;
    const late = gw.rpc("models.test", { timeoutMs: 100 });
    const others = [1, 2, 3].map(() => gw.rpc("models.test", { timeoutMs: 100 }));
    await eventually(() => asked.length === before + 4);
    await expect(gw.rpc("models.test")).rejects.toMatchObject({ details: { code: "BUSY" } });
    expect(await late).toMatchObject({ ok: false, fault: "timeout" });
    await Promise.all(others);
    hangs = false;
  });

  test("refuses what nobody knows and what is not allowed", async () => {
    await expect(gw.rpc("models.test", { model: "vendor/lrge" })).rejects.toMatchObject({ details: { closest: "vendor/large" } });
    await expect(gw.rpc("models.test", { model: "keyless/large" })).rejects.toMatchObject({ details: { code: "MODEL_NOT_ALLOWED" } });
  });
});

describe("models.set", () => {
  const modelOf = async () => (await gw.rpc<{ agents: Array<{ id: string; model: JsonObject }> }>("agents.list")).agents;

  test("sets the default and keeps its fallbacks, replaces them, and removes them", async () => {
    const set = (params: JsonObject) => gw.rpc("models.set", params);
    expect(await set({ model: "small" })).toEqual({
      ...{ ok: true, path: "agents.defaults.model", model: { primary: "vendor/small", fallbacks: [] } },
      ...{ agents: ["main"], ownModels: [] },
    });
    expect(await set({ model: "big", fallbacks: ["vendor/small"] })).toMatchObject({
      model: { primary: "vendor/large", fallbacks: ["vendor/small"] },
    });
    expect(await set({ model: "vendor/large" })).toMatchObject({ model: { primary: "vendor/large", fallbacks: ["vendor/small"] } });
    expect(await modelOf()).toMatchObject([{ id: "main", model: { primary: "vendor/large", fallbacks: ["vendor/small"] } }]);
    expect(await set({ model: "vendor/large", fallbacks: [] })).toMatchObject({ model: { fallbacks: [] } });
    expect((await modelOf())[0]?.model).toEqual({ primary: "vendor/large" });
  });

  test("refuses what nobody knows and what is not allowed, with the closest that is", async () => {
    const refused = async (params: JsonObject) => gw.rpc("models.set", params).catch(({ message }: Error) => message);
    expect(await refused({ model: "vendor/lrge" })).toContain('unknown model "vendor/lrge"; the closest is "vendor/large"');
    expect(await refused({ model: "vendor/small" })).toBe(
      `Model 'vendor/small' is not allowed for agent 'main'. agents.defaults.models lists what is; the closest is "vendor/large".`,
    );
    expect(await refused({ model: "vendor/large", agentId: "zzz" })).toBe('agent "zzz" not found');
  });

  test("sets the model of one agent", async () => {
    expect(await gw.rpc("models.set", { model: "vendor/large", agentId: "main" })).toMatchObject({
      ...{ path: "agents.list[id=main].model", agents: ["main"], ownModels: [] },
    });
    expect(await gw.rpc("models.set", { model: "vendor/large" })).toMatchObject({ agents: [], ownModels: ["main"] });
  });
});
