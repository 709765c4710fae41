import { definePlugin, type RunRequest, z } from "svc/sdk";
import { createTestGateway, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

const ran: string[] = [];
const tools = definePlugin({
  id: "some-tools",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    for (const name of ["cron", "look_up", "write"]) {
      ctx.registerTool({ name, description: name, input: z.object({}), run: () => `${ran.push(name)} done` });
    }
  },
});
const calls = { toolCalls: [{ name: "cron", args: {} }] };
const model = fakeModel(Array.from({ length: 4 }, () => [calls, "Said."]).flat());

let gw: TestGateway;
beforeAll(async () => {
  gw = await createTestGateway({
    plugins: ["store", "agents", tools],
    models: [model],
    config: { agents: { defaults: { skipBootstrap: true } } },
  });
}, 120_000);
afterAll(() => gw.close());

test("a webhook's run neither sees nor runs a tool of the operator, in the very session in which a person's run does", async () => {
  const base = { message: "hi", sessionKey: "agent:main:main" };
  const hook: RunRequest = { ...base, trigger: "hook", lane: "hooks", actor: { kind: "hook", scopes: [] } };
  await (await gw.service("agents@1").run(hook)).done;
  expect(ran).toEqual([]);
  await (await gw.service("agents@1").run({ ...base, trigger: "user", actor: { kind: "rpc", scopes: [] } })).done;

  expect(ran).toEqual(["cron"]);
  expect(model.requests.map((request) => request.tools.map(({ name }) => name))).toEqual([
    ["look_up"],
    ["look_up"],
    ["cron", "look_up", "write"],
    ["cron", "look_up", "write"],
  ]);
  const answered = model.requests[1]?.messages.at(-1);
  expect(answered).toMatchObject({ role: "tool", isError: true, text: "Tool not available: cron" });
});

test("an owner who writes on a channel plans work, and others who do have no such tool", async () => {
  ran.length = 0;
  const asked: RunRequest = {
    message: "hi",
    sessionKey: "agent:main:talk:direct:ada",
    trigger: "user",
    actor: { kind: "channel", scopes: [] },
  };
  await (await gw.service("agents@1").run({ ...asked, isOwner: true })).done;
  expect(ran).toEqual(["cron"]);
  await (await gw.service("agents@1").run(asked)).done;
  expect(ran).toEqual(["cron"]);
  expect(model.requests.slice(4).map((request) => request.tools.map(({ name }) => name))).toEqual([
    ["cron", "look_up", "write"],
    ["cron", "look_up", "write"],
    ["look_up", "write"],
    ["look_up", "write"],
  ]);
});

test("/tools names the tools that a run of its author would have there", async () => {
  const tools = async (place: string, isOwner = false) => {
    const request = { key: crypto.randomUUID(), agentId: "main", sessionKey: `agent:main:talk:${place}`, message: "/tools" };
    return (await gw.service("agents@1").command({ ...request, ...(isOwner ? { isOwner } : {}) }))?.text;
  };
  expect(await tools("direct:ada", true)).toBe("Tools in this conversation: cron, look_up, write");
  expect(await tools("direct:bob")).toBe("Tools in this conversation: look_up, write");
  expect(await tools("group:all", true)).toBe("Tools in this conversation: look_up");
});
