import { definePlugin, type RunOutcome, z } from "svc/sdk";
import { createTestGateway, type FakeTurn, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterEach, expect, test } from "vitest";

const tools = definePlugin({
  id: "look-tool",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerTool({ name: "look", description: "Looks.", input: z.object({}), run: () => "blue" });
  },
});
const empty: FakeTurn = { text: "" };
const calling: FakeTurn = { text: "Let me look.", toolCalls: [{ name: "look", args: {} }] };

let gw: TestGateway | undefined;
afterEach(() => gw?.close());

async function answer(first: FakeTurn[], second: FakeTurn[]): Promise<RunOutcome & { asked: number[] }> {
  const [a, b] = [fakeModel(first, { id: "a" }), fakeModel(second, { id: "b" })];
  gw = await createTestGateway({
    plugins: ["store", "agents", tools],
    models: [a, b],
    config: { agents: { defaults: { model: { primary: "a/script", fallbacks: ["b/script"] } } } },
  });
  const actor = { kind: "rpc" as const, scopes: [] };
  const run = await gw.service("agents@1").run({ message: "hi", sessionKey: "agent:main:main", trigger: "user", actor });
  return { ...(await run.done), asked: [a.requests.length, b.requests.length] };
}

test("an empty answer is asked of the next model", async () => {
  expect(await answer([empty], ["Blue."])).toMatchObject({ status: "ok", text: "Blue.", provider: "b", asked: [1, 1] });
});

test("silence after words and a tool is the end of the answer", async () => {
  expect(await answer([calling, empty], ["Green."])).toMatchObject({
    status: "ok",
    text: "Let me look.",
    stopReason: "stop",
    asked: [2, 0],
  });
});

test("a chain that ends with another fault tells of the empty answer by its name", async () => {
  const outcome = await answer([empty], [{ fault: "auth" }]);
  expect(outcome).toMatchObject({ code: "AUTH", error: expect.stringMatching(/^a\/script: empty; then b\/script: /) });
});

test("an answer that its vendor withheld is a refusal", async () => {
  expect(await answer([empty], [{ fault: "content_filter" }])).toMatchObject({ code: "REFUSAL", asked: [1, 1] });
});

test("a chain of empty answers is an empty answer, not a refusal", async () => {
  expect(await answer([empty], [empty])).toMatchObject({ code: "EMPTY_RESPONSE", asked: [1, 1] });
});
