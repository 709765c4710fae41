import { EmbeddingError } from "svc/sdk";
import { type FakeClock, fakeClock } from "svc/sdk/testing";
import { expect, test } from "vitest";
import { secretErrors } from "../../../test/tools/secret-errors.ts";
import { createTestAdapter, type TestAdapter } from "../test-adapter.ts";
import { selectProvider } from "./select-provider.ts";
import { createTestHost, providerSettings, type TestHost } from "./test-host.ts";

const withoutModel = { provider: "local", reason: "memorySearch.local.modelPath names no model file" };
const noKey = (id: string) => new EmbeddingError("no-credentials", `${id}: no key`);

function offer(
  host: TestHost<FakeClock>,
  id: string,
  options: { fault?: unknown; priority?: number; isOutside?: boolean; isLazy?: boolean } = {},
): TestAdapter {
  const made = createTestAdapter(id, options.priority === undefined ? {} : { autoSelectPriority: options.priority });
  made.createFault = options.fault;
  host.offer(made.adapter, options);
  return made;
}

const select = (host: TestHost<FakeClock>, own: Parameters<typeof providerSettings>[0] = {}) =>
  selectProvider(host, { agentId: "main", settings: providerSettings(own) });
const chosen = (selection: Awaited<ReturnType<typeof select>>) => ("opened" in selection ? selection.opened.facts.id : selection.kind);

test("adapters of svc are tried in their order, one after the other, and nothing behind the first that can be used is loaded", async () => {
  const host = createTestHost(fakeClock());
  for (const id of ["bedrock", "mistral", "voyage", "ollama"]) offer(host, id, { isLazy: true });
  offer(host, "openai", { isLazy: true, fault: noKey("openai") });
  offer(host, "gemini", { isLazy: true, fault: noKey("gemini") });

  expect(chosen(await select(host))).toBe("voyage");

  expect(host.asked).toEqual(["openai", "gemini", "voyage"]);
});

test.each(["openai", "gemini", "voyage", "mistral", "bedrock"])("%s is found when those before it have no key", async (wanted) => {
  const host = createTestHost(fakeClock());
  const order = ["openai", "gemini", "voyage", "mistral", "bedrock"];
  for (const id of order) offer(host, id, order.indexOf(id) < order.indexOf(wanted) ? { fault: noKey(id) } : {});
  const selection = await select(host);
  expect(chosen(selection)).toBe(wanted);
  expect("opened" in selection && selection.opened.facts).toMatchObject({ id: wanted, pace: "remote" });
});

test("local comes first where a model file is named, and is not even asked otherwise", async () => {
  const host = createTestHost(fakeClock());
  const local = offer(host, "local");
  offer(host, "openai");
  for (const modelPath of [undefined, "hf:some/model.gguf", "https://example.org/model.gguf", "http://example.org/model.gguf"]) {
    expect(chosen(await select(host, { local: { modelPath, modelCacheDir: undefined, sha256: undefined } }))).toBe("openai");
  }
  expect(local.created).toEqual([]);
  expect(chosen(await select(host, { local: { modelPath: "/models/a.gguf", modelCacheDir: undefined, sha256: undefined } }))).toBe("local");
  expect(local.created[0]).toMatchObject({ auto: true, local: { modelPath: "/models/a.gguf" } });
});

test("a local model that is not there lets the next adapter be tried", async () => {
  const host = createTestHost(fakeClock());
  offer(host, "local", { fault: noKey("local") });
  offer(host, "openai");
  expect(chosen(await select(host, { local: { modelPath: "/none.gguf", modelCacheDir: undefined, sha256: undefined } }))).toBe("openai");
});

test("ollama is never come to by itself, but taken when it is named", async () => {
  const host = createTestHost(fakeClock());
  offer(host, "ollama");
  expect(await select(host)).toEqual({ kind: "none", isChoice: false, skipped: [withoutModel] });
  expect(chosen(await select(host, { requested: "ollama" }))).toBe("ollama");
});

test("adapters from outside follow those of svc, by priority, whatever they claim", async () => {
  const host = createTestHost(fakeClock());
  offer(host, "openai", { fault: noKey("openai") });
  offer(host, "late", { isOutside: true, priority: 300 });
  offer(host, "early", { isOutside: true, priority: 150, fault: noKey("early") });
  offer(host, "pushy", { isOutside: true, priority: 1, fault: noKey("pushy") });
  offer(host, "shy", { isOutside: true });
  const selection = await select(host);
  expect(chosen(selection)).toBe("late");
  const none = createTestHost(fakeClock());
  for (const id of ["pushy", "early"]) offer(none, id, { isOutside: true, priority: id === "pushy" ? 1 : 150, fault: noKey(id) });
  expect(await select(none)).toEqual({
    kind: "none",
    isChoice: false,
    skipped: [withoutModel, { provider: "pushy", reason: "pushy: no key" }, { provider: "early", reason: "early: no key" }],
  });
});

test("an adapter from outside under a name of svc has no place in the order of svc", async () => {
  const host = createTestHost(fakeClock());
  offer(host, "openai", { isOutside: true, priority: 20 });
  offer(host, "bedrock");
  expect(chosen(await select(host))).toBe("bedrock");
});

test("without a key for any of them there is none, and every reason is kept", async () => {
  const host = createTestHost(fakeClock());
  for (const id of ["openai", "gemini"]) offer(host, id, { fault: noKey(id) });
  expect(await select(host)).toEqual({
    kind: "none",
    isChoice: false,
    skipped: [withoutModel, { provider: "openai", reason: "openai: no key" }, { provider: "gemini", reason: "gemini: no key" }],
  });
});

test("any other fault than a missing key stops the detection with its message", async () => {
  const host = createTestHost(fakeClock());
  offer(host, "openai", { fault: new EmbeddingError("invalid-request", "openai: 512 dimensions are not offered") });
  const gemini = offer(host, "gemini");
  expect(await select(host)).toEqual({ kind: "unavailable", error: "openai: 512 dimensions are not offered" });
  expect(gemini.created).toEqual([]);
});

test("none is a choice and asks nobody", async () => {
  const host = createTestHost(fakeClock());
  offer(host, "openai");
  expect(await select(host, { requested: "none" })).toEqual({ kind: "none", isChoice: true, skipped: [] });
  expect(host.asked).toEqual([]);
});

test("an explicit provider that cannot be had is unavailable: no other vendor takes its place", async () => {
  const host = createTestHost(fakeClock());
  offer(host, "openai", { fault: noKey("openai") });
  const gemini = offer(host, "gemini");
  expect(await select(host, { requested: "openai" })).toEqual({ kind: "unavailable", error: "openai: no key" });
  expect(await select(host, { requested: "acme" })).toEqual({
    kind: "unavailable",
    error: expect.stringMatching(/^acme: no plugin offers/),
  });
  expect(gemini.created).toEqual([]);
});

test("the fallback takes the place of an explicit provider, with its own model and nothing of the primary's", async () => {
  const host = createTestHost(fakeClock());
  host.secrets["agents.defaults.memorySearch.remote.apiKey"] = "key-of-openai";
  offer(host, "openai", { fault: new EmbeddingError("auth", "openai: the key was rejected") });
  const voyage = offer(host, "voyage");
  const selection = await select(host, {
    requested: "openai",
    fallback: "voyage",
    model: "text-embedding-3-large",
    outputDimensionality: 256,
    inputTypes: { query: "query" },
    remote: { baseUrl: "https://proxy.example/v1", apiKeyPaths: ["agents.defaults.memorySearch.remote.apiKey"], headerPaths: {} },
  });
  expect(selection).toMatchObject({ kind: "stand-in", from: "openai", reason: "openai: the key was rejected" });
  expect("opened" in selection && selection.opened.facts).toMatchObject({
    id: "voyage",
    model: "voyage-small",
    fallbackFor: "openai",
    batch: false,
  });
  expect(voyage.created).toHaveLength(1);
  expect(voyage.created[0]).not.toHaveProperty("remote");
  expect(voyage.created[0]).not.toHaveProperty("model");
  expect(voyage.created[0]).not.toHaveProperty("outputDimensionality");
  expect(voyage.created[0]).not.toHaveProperty("inputTypes");
});

test("when the fallback cannot be had either, both messages are kept", async () => {
  const host = createTestHost(fakeClock());
  offer(host, "openai", { fault: noKey("openai") });
  offer(host, "voyage", { fault: noKey("voyage") });
  expect(await select(host, { requested: "openai", fallback: "voyage" })).toEqual({
    kind: "unavailable",
    error: "openai: no key; fallback: voyage: no key",
  });
});

test("the primary gets the agent's address, key and headers, and its model and length", async () => {
  const host = createTestHost(fakeClock());
  Object.assign(host.secrets, { "a.apiKey": "k-1", 'a.headers["X-Team"]': "blue" });
  const openai = offer(host, "openai");
  await select(host, {
    requested: "openai",
    model: "openai/big",
    outputDimensionality: 32,
    inputTypes: { document: "passage" },
    remote: { baseUrl: "https://e.example", apiKeyPaths: ["a.apiKey"], headerPaths: { "X-Team": 'a.headers["X-Team"]' } },
  });
  expect(openai.created[0]).toMatchObject({
    agentId: "main",
    auto: false,
    model: "openai/big",
    outputDimensionality: 32,
    inputTypes: { document: "passage" },
    remote: { baseUrl: "https://e.example", apiKey: "k-1", headers: { "X-Team": "blue" } },
  });
});

test("the key of an index depends on the identity only, in whatever order it is written, and never on a credential", async () => {
  const keyOf = async (identity: Record<string, unknown>, apiKey = "k-1") => {
    const host = createTestHost(fakeClock());
    host.secrets.path = apiKey;
    const made = createTestAdapter("openai", { identity });
    host.offer(made.adapter);
    const selection = await select(host, { requested: "openai", remote: { baseUrl: undefined, apiKeyPaths: ["path"], headerPaths: {} } });
    return "opened" in selection ? selection.opened.facts.providerKey : "";
  };
  const key = await keyOf({ x: { a: 1, b: [2] }, y: 1 });
  expect(key).toMatch(/^[0-9a-f]{64}$/);
  expect(await keyOf({ y: 1, x: { b: [2], a: 1 } })).toBe(key);
  expect(await keyOf({ x: { a: 1, b: [2] }, y: 1 }, "k-2")).toBe(key);
  expect(await keyOf({ x: { a: 1, b: [3] }, y: 1 })).not.toBe(key);
});

test("an adapter that never answers is given up after half a minute", async () => {
  const host = createTestHost(fakeClock());
  host.offer({ id: "openai", transport: "remote", defaultModel: "m", create: () => new Promise(() => undefined) });
  const selecting = select(host, { requested: "openai" });
  await host.clock.advance(30_000);
  expect(await selecting).toEqual({ kind: "unavailable", error: 'embedding adapter "openai": no answer within 30 s' });
});

test("a key that is configured and cannot be had is no reason to take another one", async () => {
  const host = createTestHost(fakeClock());
  const openai = offer(host, "openai");
  const gemini = offer(host, "gemini");
  host.secret = (path) => {
    throw secretErrors.secretUnavailable({ path, reason: "the vault is shut" });
  };
  const remote = {
    baseUrl: undefined,
    apiKeyPaths: ["agents.list.0.memorySearch.remote.apiKey", "agents.defaults.memorySearch.remote.apiKey"],
    headerPaths: {},
  };
  expect(await select(host, { requested: "openai", remote })).toMatchObject({ kind: "unavailable" });
  expect(await select(host, { remote })).toMatchObject({ kind: "unavailable" });
  expect([openai.created, gemini.created]).toEqual([[], []]);
});

test("the agent's own key goes before that of the defaults", async () => {
  const host = createTestHost(fakeClock());
  Object.assign(host.secrets, { own: "k-own", defaults: "k-defaults" });
  const openai = offer(host, "openai");
  const remote = { baseUrl: undefined, headerPaths: {} };
  await select(host, { requested: "openai", remote: { ...remote, apiKeyPaths: ["own", "defaults"] } });
  await select(host, { requested: "openai", remote: { ...remote, apiKeyPaths: ["unset", "defaults"] } });
  expect(openai.created.map((context) => context.remote?.apiKey)).toEqual(["k-own", "k-defaults"]);
});
