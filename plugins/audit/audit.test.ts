import { definePlugin, z } from "svc/sdk";
import { createTestGateway, eventually, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

const canary = "sk-canary-0123456789abcdef";
const echo = definePlugin({
  id: "echo",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerTool({ name: "echo", description: "Says it again", input: z.object({ text: z.string() }), run: ({ text }) => text });
  },
});

let own: TestGateway;
beforeAll(async () => {
  const models = [fakeModel([{ toolCalls: [{ name: "echo", args: { text: canary } }] }, canary])];
  own = await createTestGateway({ plugins: ["store", "agents", "approvals", "audit", echo], models });
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
  await own.reload({ logging: { redactPatterns: ["x+"] } });

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
