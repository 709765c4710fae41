import { createTestGateway, eventually, fakeClock, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { totalsOf } from "./totals.ts";

const DAY_MS = 86_400_000;
const clock = fakeClock();
let gw: TestGateway;
const turn = (input: number) => ({ text: "ok", usage: { input, output: 10, cacheRead: 5, cacheWrite: 0, total: input + 15 } });

beforeAll(async () => {
  const priced = fakeModel([turn(1_000), turn(2_000), turn(3_000)], { info: { cost: { input: 2, output: 10 } } });
  const free = fakeModel([turn(100)], { id: "free" });
  gw = await createTestGateway({ plugins: ["store", "agents", "usage"], models: [priced, free], clock });
});
afterAll(() => gw?.close());

async function run(model?: string) {
  const request = {
    message: "hello",
    trigger: "user" as const,
    actor: { kind: "internal" as const, scopes: [] },
    ...(model ? { model } : {}),
  };
  return (await gw.service("agents@1").run(request)).done;
}
interface Summary {
  rows: Array<{ name: string; runs: number }>;
  total: object;
}
const summary = (question: object = {}) => gw.rpc<Summary>("usage.summary", { ...question });

test("runs are added up by day, agent and model, with their cost where a price is known", async () => {
  await run("fake/script");
  await run("fake/script");
  await run("free/script");
  await eventually(async () => (await summary()).rows[0]?.runs === 3);
  expect(await summary({ by: "model" })).toMatchObject({
    by: "model",
    rows: [
      { name: "fake/script", runs: 2, errors: 0, input: 3_000, output: 20, cacheRead: 10, costUsd: 0.00622, unpriced: 0 },
      { name: "free/script", runs: 1, input: 100, unpriced: 1 },
    ],
    total: { runs: 3, input: 3_100, costUsd: 0.00622, unpriced: 1 },
  });
  expect((await summary({ by: "agent", agentId: "other" })).rows).toEqual([]);

  await clock.advance(DAY_MS);
  await run("fake/script");
  await eventually(async () => (await summary()).rows.length === 2);
  expect((await summary({ days: 1 })).rows).toMatchObject([{ runs: 1, input: 3_000 }]);
});

test("conversations have their own sums", async () => {
  const { sessions } = await gw.rpc<{ sessions: object[] }>("usage.sessions");
  expect(sessions).toMatchObject([
    { key: "agent:main:main", input: expect.any(Number), output: expect.any(Number), context: 3_015, costUsd: expect.any(Number) },
  ]);
});

test.each([
  [undefined, { runs: 1, input: 0, costNanos: 0, unpriced: 0 }],
  [
    { input: -5, output: Number.NaN, cost: "free" },
    { input: 0, output: 0, costNanos: 0, unpriced: 0 },
  ],
  [
    { input: 7, cost: 0.5 },
    { input: 7, costNanos: 500_000_000, unpriced: 0 },
  ],
  [{ input: 7 }, { input: 7, costNanos: 0, unpriced: 1 }],
])("the usage %j counts as %j", (usage, expected) => {
  expect(totalsOf(usage, "ok")).toMatchObject(expected);
});
