import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({ plugins: [] });
});
afterAll(() => gateway.close());

const restart = async () => (await gateway.rpc<{ configReload: { restart?: unknown } }>("health", { probe: true })).configReload.restart;

test("gateway.restart.request waits for work that is under way, and health says so", async () => {
  const work = gateway.service("gateway@1").hold("a run");
  expect(await gateway.rpc("gateway.restart.request", { reason: "new build" })).toEqual({ ok: true, status: "scheduled" });
  await eventually(async () => JSON.stringify(await restart()).includes("new build"));
  await work.dispose();
});

test.each([
  [{ reason: "" }, "reason"],
  [{ delayMs: 60_001 }, "delayMs"],
  [{ waitMs: 3_600_001 }, "waitMs"],
  [{ now: true }, "now"],
])("gateway.restart.request refuses %j", async (params, named) => {
  await expect(gateway.rpc("gateway.restart.request", params)).rejects.toThrow(named);
});
