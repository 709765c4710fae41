import type { DoctorFinding, SvcConfigInput } from "svc/sdk";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { type FakeOpenAi, startFakeOpenAi } from "../../test/fakes/openai-server.ts";

const plugins = ["store", "agents", "model-openai-compatible", "model-recall"];
let vendor: FakeOpenAi;
/** Address of a server that is gone. */
let dead: string;

beforeEach(async () => {
  const gone = await startFakeOpenAi();
  dead = gone.url;
  await gone.close();
  vendor = await startFakeOpenAi({ models: ["text-embedding-3-small", "tool", "ok"] });
});

afterEach(() => vendor.close());

async function boot(config: SvcConfigInput, env: Record<string, string> = {}): Promise<TestGateway> {
  const gateway = await createTestGateway({
    plugins,
    env,
    config: { ...config, agents: { ...config.agents, defaults: { skipBootstrap: true, ...config.agents?.defaults } } },
  });
  onTestFinished(() => gateway.close());
  return gateway;
}

async function ask(gateway: TestGateway, more: Record<string, unknown> = {}) {
  const client = await gateway.client();
  const params = { message: "hi", idempotencyKey: crypto.randomUUID(), ...more };
  return client.request("agent", params, { onAccepted: () => undefined }) as Promise<{
    result: { payloads: Array<{ text: string }>; meta: { notes?: string[]; agentMeta: { provider: string; model: string } } };
  }>;
}

const findings = async (gateway: TestGateway) =>
  (await gateway.rpc<{ findings: DoctorFinding[] }>("gateway.doctor")).findings.filter(({ id }) => id.startsWith("models/"));
type Row = { agentId: string; provider: string; model: string; state: string; reason?: string; until?: number };
const row = async (gateway: TestGateway) => (await gateway.rpc<{ models: Row[] }>("health", { probe: true })).models[0] as Row;

test("a provider with only an address is used with a model that its server lists, not with quotes of notes", async () => {
  const gateway = await boot({ models: { providers: { lab: { baseUrl: vendor.url, apiKey: vendor.apiKey } } } });

  expect((await ask(gateway)).result.meta.agentMeta).toMatchObject({ provider: "lab", model: "ok" });
  expect(await row(gateway)).toMatchObject({ agentId: "main", provider: "lab", model: "ok", state: "ready" });
  expect(await findings(gateway)).toEqual([]);
});

test("the doctor finds a model that nobody has, whatever the reason", async () => {
  const providers = {
    lab: { baseUrl: vendor.url, apiKey: vendor.apiKey, models: [{ id: "ok" }] },
    claude: { api: "anthropic-messages" as const },
    acme: { apiKey: "k" },
  };
  const list = [
    { id: "main", model: "nope/foo" },
    { id: "typo", model: "lab/okk" },
    { id: "other", model: "claude/sonnet" },
  ];
  const gateway = await boot({ models: { providers }, agents: { list } });

  expect(await findings(gateway)).toEqual([
    expect.objectContaining({ id: "models/provider-skipped", path: "models.providers.acme" }),
    expect.objectContaining({
      id: "models/unknown",
      severity: "error",
      path: "agents.list[id=main].model",
      message: 'model "nope/foo" of agent "main" cannot be used: there is no model provider "nope"; the closest model is "lab/ok"',
      fix: expect.stringContaining("svc models list"),
    }),
    expect.objectContaining({ message: 'model "lab/okk" of agent "typo" cannot be used: "lab" lists no such model; the closest is "ok"' }),
    expect.objectContaining({
      message: 'model "claude/sonnet" of agent "other" cannot be used: no active plugin speaks its api, "anthropic-messages"',
    }),
  ]);
  const health = await gateway.rpc<{ ok: boolean; problems: Record<string, string> }>("health", { probe: true });
  expect(health.problems.models).toContain('agent "main" with nope/foo: there is no model provider "nope"');
  expect(await gateway.rpc("models.list")).toMatchObject({
    skipped: [
      { provider: "claude", reason: expect.stringContaining("anthropic-messages") },
      { provider: "acme", reason: expect.stringContaining("set its baseUrl") },
    ],
  });
});

test("the doctor finds a dead server, a rejected key and a missing one; health and status know then, without asking", async () => {
  const providers = {
    dead: { baseUrl: dead, models: [{ id: "m" }] },
    locked: { baseUrl: vendor.url, apiKey: "sk-wrong-9876543210", models: [{ id: "ok" }] },
    groq: {},
  };
  const gateway = await boot({ models: { providers } });
  expect(await row(gateway)).toMatchObject({ provider: "dead", state: "ready" });

  const found = await findings(gateway);
  expect(found.map(({ id, severity, path }) => [id, severity, path])).toEqual([
    ["models/key-missing", "error", "models.providers.groq"],
    ["models/key-rejected", "error", "models.providers.locked"],
    ["models/unreachable", "error", "models.providers.dead"],
  ]);
  expect(found.map(({ message }) => message)).toEqual([
    expect.stringContaining("GROQ_API_KEY"),
    `provider "locked": ${vendor.url} rejected the key (401)`,
    `provider "dead": ${dead} does not answer (ECONNREFUSED)`,
  ]);
  expect(JSON.stringify(found)).not.toContain("sk-wrong");
  expect(await row(gateway)).toMatchObject({ provider: "dead", state: "unreachable" });
  expect(await gateway.rpc("status")).toMatchObject({ models: [{ provider: "dead", model: "m", state: "unreachable" }] });
});

test("a provider that rests is named with the reason and the time of the next try, until it answers", async () => {
  const gateway = await boot({ models: { providers: { dead: { baseUrl: dead, models: [{ id: "m" }] } } } });

  await expect(ask(gateway)).rejects.toMatchObject({ code: "UNAVAILABLE" });

  expect(await row(gateway)).toMatchObject({
    state: "cooldown",
    reason: expect.stringContaining("ECONNREFUSED"),
    until: expect.any(Number),
  });
  const [rest] = await findings(gateway);
  expect(rest).toMatchObject({
    id: "models/cooldown",
    severity: "warning",
    message: expect.stringMatching(/ECONNREFUSED; it is tried again at \d{4}-/),
  });
});

test("a changed key ends the rest of its provider", async () => {
  const lab = { baseUrl: vendor.url, apiKey: "sk-wrong-9876543210", models: [{ id: "ok" }] };
  const gateway = await boot({ models: { providers: { lab } } });
  await expect(ask(gateway)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(await row(gateway)).toMatchObject({ provider: "lab", state: "key-rejected" });

  await gateway.reload({ models: { providers: { lab: { ...lab, apiKey: vendor.apiKey } } } });
  expect(await row(gateway)).toMatchObject({ provider: "lab", state: "ready" });
});

test("the first run after a changed key asks its provider, which rested before", async () => {
  const models = [{ id: "ok" }];
  const providers = {
    lab: { baseUrl: vendor.url, apiKey: "sk-wrong-9876543210", models },
    spare: { baseUrl: vendor.url, apiKey: vendor.apiKey, models },
  };
  const gateway = await boot({ models: { providers }, agents: { defaults: { model: { primary: "lab/ok", fallbacks: ["spare/ok"] } } } });
  const answering = async () => (await ask(gateway)).result.meta.agentMeta.provider;
  expect([await answering(), await answering()]).toEqual(["spare", "spare"]);
  // The second run left out the one that rests.
  expect(vendor.requests.filter(({ path }) => path.endsWith("/chat/completions"))).toHaveLength(3);

  const { hash } = await gateway.rpc<{ hash: string }>("config.get");
  const raw = JSON.stringify({ models: { providers: { lab: { apiKey: vendor.apiKey } } } });
  await gateway.rpc("config.patch", { raw, baseHash: hash });
  expect(await answering()).toBe("lab");
});

test("the built-in model says which provider was skipped and why, instead of that none is configured", async () => {
  const gateway = await boot({ models: { providers: { claude: { api: "anthropic-messages" }, dead: { baseUrl: dead } } } });

  const { result } = await ask(gateway);
  expect(result.meta.agentMeta.provider).toBe("recall");
  expect(result.payloads[0]?.text).toContain('provider "claude": no active plugin speaks its api, "anthropic-messages"');
  expect(result.payloads[0]?.text).toContain('provider "dead"');
  expect(result.payloads[0]?.text).not.toContain("No language model is configured");
});

test("a thinking level that has no effect is said with the answer, and by the doctor where an agent has it", async () => {
  const models = [{ id: "ok" }, { id: "tool", reasoning: true }];
  const providers = { lab: { baseUrl: vendor.url, apiKey: vendor.apiKey, models } };
  const gateway = await boot({ models: { providers }, agents: { defaults: { thinkingDefault: "high" } } });

  expect((await ask(gateway)).result.meta.notes).toBeUndefined();
  expect((await ask(gateway, { thinking: "high" })).result.meta.notes).toEqual([expect.stringContaining("lab/ok is not known to reason")]);
  expect((await ask(gateway, { thinking: "off" })).result.meta.notes).toBeUndefined();
  expect((await findings(gateway)).map(({ id, message }) => [id, message])).toEqual([
    ["models/thinking", 'the thinking level "high" is not sent: lab/ok is not known to reason'],
  ]);
});

test("a model that its server does not know is left for the next one, and where that is not known either the error names both", async () => {
  const lab = { baseUrl: vendor.url, apiKey: vendor.apiKey, models: ["gone", "moved", "lost", "ok"].map((id) => ({ id })) };
  const list = [
    { id: "main", model: { primary: "lab/gone", fallbacks: ["spare/ok"] } },
    { id: "stray", model: { primary: "lab/moved", fallbacks: ["spare/lost"] } },
  ];
  const gateway = await boot({ models: { providers: { lab, spare: lab } }, agents: { list } });
  const outcome = async (agentId: string) => {
    const request = { message: "hi", sessionKey: `agent:${agentId}:main`, agentId, trigger: "user" as const };
    return (await gateway.service("agents@1").run({ ...request, actor: { kind: "rpc", scopes: [] } })).done;
  };

  expect(await outcome("main")).toMatchObject({ status: "ok", provider: "spare", model: "ok" });
  expect(await outcome("stray")).toMatchObject({
    ...{ status: "error", code: "MODEL_NOT_FOUND" },
    error: expect.stringMatching(/^lab\/moved: model_not_found; then spare\/lost: .*\(404\).*'lost' does not exist/),
  });
  const asked = vendor.requests.filter(({ method }) => method === "POST").map(({ body }) => (body as { model: string }).model);
  expect(asked).toEqual(["gone", "ok", "moved", "lost"]);
});
