import { definePlugin, type ModelRequest, type RunRequest, z } from "svc/sdk";
import { createTestGateway, eventually, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const canary = "sk-canary-0123456789abcdef";
const echo = definePlugin({
  id: "echo",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    for (const name of ["echo", "denied", "nodes"])
      ctx.registerTool({ name, description: "Says it again", input: z.object({ text: z.string() }), run: ({ text }) => text });
    ctx.on("tool.before", ({ sessionKey }) => (sessionKey.endsWith(":stopped") ? { block: true, reason: canary } : undefined));
  },
});

/** Calls every tool that it is told to, whether it has it or not. */
const eager = fakeModel(
  Array.from({ length: 20 }, () => ({ messages }: ModelRequest) => {
    const last = messages.at(-1);
    const text = last?.role === "user" ? last.content.map((part) => (part.type === "text" ? part.text : "")).join(" ") : "";
    const names = /call (.*)$/.exec(text)?.[1]?.split(",") ?? [];
    return names.length === 0 ? "done" : { toolCalls: names.map((name) => ({ name, args: { text: canary } })) };
  }),
  { id: "eager" },
);

const config = { agents: { defaults: { model: "fake/script", heartbeat: { every: "0m" } } }, tools: { deny: ["denied"] } };
let own: TestGateway;
beforeAll(async () => {
  const models = [fakeModel([{ toolCalls: [{ name: "echo", args: { text: canary } }] }, canary]), eager];
  own = await createTestGateway({ plugins: ["store", "agents", "approvals", "audit", "openai-http", echo], models, config });
});
afterAll(() => own?.close());

interface Listed {
  entries: Array<{
    seq: number;
    action: string;
    actor: { kind: string; id: string; remote?: string };
    target?: string;
    outcome: string;
    details?: object;
  }>;
}
const list = async (question: object = {}) => (await own.rpc<Listed & Record<string, unknown>>("audit.list", { ...question })).entries;

test("what operators, agents and the gateway do is listed, without a word of what was said", async () => {
  const run = await own.service("agents@1").run({ message: canary, trigger: "user", actor: { kind: "plugin" }, agentId: "main" } as never);
  await run.done;
  await own.rpc("sessions.patch", { key: "main", label: "kitchen" });
  await expect(own.rpc("sessions.patch", { key: "main", expectedSessionId: "another", label: "kitchen" })).rejects.toThrow();
  await own.reload({ ...config, logging: { redactPatterns: ["x+"] } });

  const expected = [
    { action: "gateway.started", actor: { kind: "gateway", id: "gateway" } },
    { action: "operator.connected", details: expect.objectContaining({ way: "shared-secret" }) },
    { action: "tool.called", actor: { kind: "agent", id: "main" }, target: "echo", outcome: "ok" },
    { action: "sessions.patch", outcome: "ok", details: { key: "main" } },
    { action: "sessions.patch", outcome: "error", actor: expect.objectContaining({ kind: "operator", remote: "127.0.0.1" }) },
    { action: "config.changed", details: { paths: "logging.redactPatterns", count: 1 } },
  ];
  const entries = await eventually(async () => {
    const found = await list();
    expect(found).toEqual(expect.arrayContaining(expected.map((one) => expect.objectContaining(one))));
    return found;
  });
  expect(JSON.stringify(entries)).not.toContain(canary);
  expect(JSON.stringify(entries)).not.toContain("kitchen");
  expect(JSON.stringify(entries)).not.toContain(own.token);
});

describe("a call of a tool that the run may not make", () => {
  const ask = async (names: string, more: Partial<RunRequest> = {}) => {
    const request = {
      message: `call ${names}`,
      model: "eager/script",
      trigger: "user" as const,
      actor: { kind: "internal" as const, scopes: [] },
    };
    const { done, runId } = await own.service("agents@1").run({ sessionKey: "refused", ...request, ...more });
    expect(await done).toMatchObject({ status: "ok", text: "done" });
    return runId;
  };
  const refusals = async (runId: string, count: number) => {
    const found = await eventually(async () => {
      const entries = (await list({ limit: 200 })).filter(({ details = {} }) => "runId" in details && details.runId === runId);
      expect(entries.filter(({ action }) => action === "tool.refused")).toHaveLength(count);
      return entries;
    });
    expect(JSON.stringify(found)).not.toContain(canary);
    return found.toReversed();
  };

  test.each<[string, string, Partial<RunRequest>, string]>([
    ["made_up", "unknown", {}, "operator"],
    ["denied", "policy", {}, "operator"],
    ["nodes", "origin", { origin: "person" }, "person"],
    ["echo", "narrowed", { tools: { deny: ["echo"] } }, "operator"],
    ["echo", "blocked", { sessionKey: "stopped" }, "operator"],
  ])("%s: is an entry with the reason %s", async (tool, reason, more, origin) => {
    const runId = await ask(tool, more);
    expect(await refusals(runId, 1)).toEqual([
      expect.objectContaining({
        action: "tool.refused",
        actor: { kind: "agent", id: "main" },
        target: tool,
        outcome: "error",
        details: { runId, sessionKey: `agent:main:${more.sessionKey ?? "refused"}`, origin, reason },
      }),
    ]);
  });

  test("is one of twenty entries of a run at most, and its name is cut", async () => {
    const runId = await ask(Array.from({ length: 30 }, (_, i) => `made_up_${i}_${"x".repeat(200)}`).join(","));
    const found = await refusals(runId, 20);
    expect(found.map(({ details = {} }) => "isLast" in details)).toEqual([...Array.from({ length: 19 }, () => false), true]);
    for (const { target = "" } of found) expect(target.length).toBeLessThanOrEqual(65);
  });

  test("is an entry as well where a client calls it, by RPC or HTTP", async () => {
    const before = (await list({ limit: 1 }))[0]?.seq ?? 0;
    const args = { text: canary };
    for (const name of ["made_up", "denied", "exec"])
      expect(await own.rpc("tools.invoke", { name, args, sessionKey: "main" })).toMatchObject({ ok: false, error: { code: "not_found" } });
    expect((await own.fetch("/tools/invoke", { method: "POST", body: JSON.stringify({ tool: "denied", args }) })).status).toBe(404);
    const found = await eventually(async () => {
      const entries = (await list({ limit: 200 })).filter(({ seq, action }) => seq > before && action === "tool.refused");
      expect(entries).toHaveLength(4);
      return entries.toReversed();
    });
    const reasons = ["unknown", "policy", "policy", "policy"];
    expect(found.map(({ target, details }) => [target, details])).toEqual(
      ["made_up", "denied", "exec", "denied"].map((target, i) => [
        target,
        {
          runId: expect.stringMatching(i === 3 ? /^http-/ : /^rpc-/),
          sessionKey: "agent:main:main",
          origin: "operator",
          reason: reasons[i],
        },
      ]),
    );
    expect(JSON.stringify(found)).not.toContain(canary);
  });
});

test("the chain is verified, and an entry that somebody changed in the database is found", async () => {
  expect(await own.rpc("audit.verify")).toMatchObject({ ok: true, from: 0 });
  const [row] = await own.service("store@2").kv.list("gateway/audit", "entry/000000000/000000000002");
  const value = { ...(row?.value as object), outcome: "error", action: "nothing.happened" };
  await own.service("store@2").commit([{ op: "kv.put", scope: "gateway/audit", key: row?.key ?? "", value }]);
  expect(await own.rpc("audit.verify")).toMatchObject({
    ok: false,
    problem: { seq: 2, reason: "the entry, or the one before it, was changed" },
  });
});

test("only administrators read it", async () => {
  const reader = await own.client({ scopes: ["operator.read", "operator.write"] });
  await expect(reader.request("audit.list", {})).rejects.toThrow(/operator.admin/);
});
