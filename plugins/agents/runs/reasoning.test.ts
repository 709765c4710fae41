import { definePlugin, type ModelProvider, type RunOutcome, z } from "svc/sdk";
import { createTestGateway, eventually, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTalkPlatform } from "../../../test/fixtures/talk-platform.ts";

const meta = { fake: { signature: "c2lnbmVk" } };
const turns = [
  { reasoning: "I should look.", reasoningMeta: meta, text: "Let me look.", toolCalls: [{ name: "look", args: { at: "sky" }, id: "c1" }] },
  { reasoning: "Blue.", text: "It is blue.", usage: { input: 1_000_000, output: 500_000, total: 1_500_000 } },
  "Still blue.",
  "A summary.",
  { reasoning: "Shall I tell Ada?", text: "Blue as ever." },
];
const platform = createTalkPlatform();
const deep: ModelProvider & { requests: ReturnType<typeof fakeModel>["requests"] } = Object.assign(fakeModel(turns, { id: "deep" }), {
  models: () => [{ id: "script", cost: { input: 2, output: 10 } }],
});
const other = fakeModel(["Green, I think.", "Hello.", "As before.", { reasoning: "Hm, hm.", text: "Yes." }], { id: "other" });
const tools = definePlugin({
  id: "look-tool",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerTool({ name: "look", description: "Looks.", input: z.object({ at: z.string() }), run: () => "blue" });
  },
});

let gw: TestGateway;
beforeAll(async () => {
  gw = await createTestGateway({
    plugins: ["store", "agents", "messaging", platform.plugin, tools],
    models: [deep, other],
    config: {
      agents: { defaults: { model: "deep/script", skipBootstrap: true } },
      channels: { talk: { token: "good", allowFrom: ["@ada"] } },
    },
  });
});
afterAll(() => gw.close());

async function ask(message: string, more: { model?: string } = {}, sessionKey = "agent:main:blue"): Promise<RunOutcome> {
  const actor = { kind: "rpc" as const, scopes: ["operator.admin" as const] };
  return (await gw.service("agents@1").run({ message, sessionKey, trigger: "user", actor, ...more })).done;
}
const answersSent = (requests: typeof deep.requests) =>
  requests.at(-1)?.messages.flatMap((m) => (m.role === "assistant" ? [m.content] : [])) ?? [];

test("reasoning goes back before the calls that followed it, with the vendor's data, and stays with the answer", async () => {
  const { usage } = await ask("What colour is the sky?");

  const parts = [
    { type: "reasoning", text: "I should look.", meta },
    { type: "text", text: "Let me look." },
    { type: "toolCall", id: "c1", name: "look", args: { at: "sky" } },
  ];
  expect(answersSent(deep.requests)).toEqual([parts]);
  expect(usage.cost).toBe(7);

  await ask("And now?");
  expect(answersSent(deep.requests)).toEqual([
    parts,
    [
      { type: "reasoning", text: "Blue." },
      { type: "text", text: "It is blue." },
    ],
  ]);
});

test("another model gets the words and calls alone", async () => {
  await ask("And you?", { model: "other/script" });
  expect(
    answersSent(other.requests)
      .flat()
      .map(({ type }) => type),
  ).toEqual(["text", "toolCall", "text", "text"]);
  expect(JSON.stringify(other.requests)).not.toContain("c2lnbmVk");
});

test("people see the reasoning in the history, and never the vendor's data", async () => {
  const { messages } = await gw.rpc<{ messages: unknown[] }>("chat.history", { sessionKey: "agent:main:blue" });
  expect(messages).toContainEqual(
    expect.objectContaining({ content: expect.arrayContaining([{ type: "reasoning", text: "I should look." }]) }),
  );
  expect(JSON.stringify(messages)).not.toContain("c2lnbmVk");
});

test("a session has the cost of its answers that have a price, and /usage tells it", async () => {
  const { session } = await gw.rpc<{ session: object }>("sessions.describe", { key: "agent:main:blue" });
  expect(session).toMatchObject({ cost: 7, inputTokens: 1_000_000, outputTokens: 500_000, totalTokens: 1_500_000 });
  expect(session).not.toHaveProperty("costNanos");

  const command = { key: "usage", agentId: "main", sessionKey: "agent:main:blue", message: "/usage" };
  expect(await gw.service("agents@1").command(command)).toMatchObject({ text: expect.stringContaining("$7.00") });

  await ask("Hello", { model: "other/script" }, "agent:main:unpriced");
  const { session: unpriced } = await gw.rpc<{ session: object }>("sessions.describe", { key: "agent:main:unpriced" });
  expect(unpriced).not.toHaveProperty("cost");
});

test("requests of one conversation share a cache key, and those of others have their own", async () => {
  await ask("Hello", { model: "other/script" }, "agent:main:elsewhere");
  const keys = [deep.requests[0], deep.requests.at(-1), other.requests.at(-1)].map((request) => request?.cacheKey);
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).not.toBe(keys[0]);
});

test("a summary of a conversation has a cache key of its own", async () => {
  const conversation = deep.requests.at(-1)?.cacheKey;
  expect(await gw.rpc("sessions.compact", { key: "agent:main:blue" })).toMatchObject({ compacted: true });
  expect(deep.requests.at(-1)?.system).toContain("You shorten a conversation");
  expect(deep.requests.at(-1)?.cacheKey).toMatch(/^[0-9a-f]{32}$/);
  expect(deep.requests.at(-1)?.cacheKey).not.toBe(conversation);
});

test("those who watch a run see its reasoning as events of their own, and people on a channel see none of it", async () => {
  const request = { message: "Is it?", sessionKey: "agent:main:elsewhere", model: "other/script", trigger: "user" as const };
  const handle = await gw.service("agents@1").run({ ...request, actor: { kind: "rpc", scopes: [] } });
  await handle.done;
  const events = [];
  for await (const { stream, data } of handle.events())
    if (stream === "reasoning" || stream === "assistant") events.push([stream, data.text]);
  expect(events.at(-1)).toEqual(["assistant", "Yes."]);
  expect(events.filter(([stream]) => stream === "reasoning").at(-1)).toEqual(["reasoning", "Hm, hm."]);

  await eventually(() => platform.running.has("default"));
  await platform.say("And the sky?");
  await eventually(() => platform.sent.length > 0);
  expect(platform.sent.map(({ text }) => text)).toEqual(["Blue as ever."]);
});
