import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ResultOf, SvcConfigInput } from "svc/sdk";
import { createTestGateway, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { connected } from "./_ws.ts";

const hooks = {
  enabled: true,
  token: "hook-token-of-this-test-0123456789",
  mappings: [
    { id: "orders", match: { path: "orders", source: "shop" }, action: "wake", textTemplate: "Order {{id}}" },
    { id: "hung", match: { path: "hung" }, transform: { module: "hung.ts" } },
    { id: "typed", match: { path: "typed" }, transform: { module: "typed.ts" } },
  ],
} satisfies SvcConfigInput["hooks"];

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await createTestGateway({ plugins: ["store", "agents", "messaging", "webhooks"], models: [fakeModel(Array(20).fill("done"))] });
  const folder = join(gateway.stateDir, "hooks/transforms");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "hung.ts"), "export default () => new Promise(() => {});\n");
  await writeFile(join(folder, "typed.ts"), "export default () => {\n  return { message: 7 };\n};\n");
}, 90_000);
afterAll(() => gateway?.close());
beforeEach(async () => {
  await gateway.reload({ hooks });
});

const store = () => gateway.service("store@2");
const tried = (params: Record<string, unknown>) => gateway.rpc<ResultOf<"webhooks.test">>("webhooks.test", params);
const rows = async () => (await store().deliveries.list({ dirs: ["hook-agent", "hook-wake"], limit: 1_000 })).length;

async function accept(
  uid: string,
  { dir = "hook-agent" as "hook-agent" | "out", state }: { dir?: "hook-agent" | "out"; state?: "failed" | "expired" } = {},
) {
  const at = Date.now();
  const lane = `agent:main:hook:${uid}`;
  const action = {
    ...{ kind: "agent", path: "agent", agentId: "main", isFallbackAgent: false, message: `text of ${uid}`, name: uid, sessionKey: lane },
    ...{ sessionMode: "isolated", wakeMode: "next-heartbeat", deliver: false, channel: "last" },
  };
  const delivery = { uid, dir, lane, expiresAt: at + 86_400_000, payload: { v: 1, action } };
  // One commit: nobody takes it up in between.
  const accepted = { op: "delivery.accept", delivery, at } as const;
  await store().commit([
    accepted,
    state
      ? { op: "delivery.finish", uid, from: ["accepted"], state, result: { reason: "gone" }, at }
      : { op: "delivery.requeue", uid, from: ["accepted"], notBefore: at + 3_600_000, at },
  ]);
}

describe("webhooks.test", () => {
  test("shows what a request would come to, by path or by the id of a mapping; nothing is stored and nobody is woken", async () => {
    const before = await rows();
    const expected = { path: "orders", outcome: "actions", mapping: "orders", items: [{ action: { kind: "wake", agentId: "main" } }] };
    expect(await tried({ name: "/hooks/orders", payload: { source: "shop", id: 7 } })).toMatchObject(expected);
    expect(await tried({ name: "orders", payload: { source: "shop" } })).toMatchObject(expected);
    expect(await tried({ name: "orders", payload: { source: "other" } })).toMatchObject({ outcome: "unmapped", items: [] });
    expect(await tried({ name: "agent" })).toMatchObject({ items: [{ refusal: { status: 400, message: "message required" } }] });
    expect(await rows()).toBe(before);
    expect(await store().systemEvents.pending("agent:main:main", 10)).toEqual([]);
  });

  test("gives the operator the reason that a sender is not told", async () => {
    expect(await tried({ name: "typed" })).toMatchObject({
      mapping: "typed",
      items: [{ refusal: { status: 500, message: "hook mapping failed", reason: expect.stringContaining('a number as "message"') } }],
    });
  });

  test("works while hooks are off", async () => {
    await gateway.reload({ hooks: { ...hooks, enabled: false } });
    expect(await tried({ name: "orders", payload: { source: "shop" } })).toMatchObject({ outcome: "actions" });
  });

  test("two may be under way, a third is told to come back; each ends by the limit of transforms", async () => {
    await gateway.reload({ hooks: { ...hooks, transforms: { timeoutMs: 3_000 } } });
    const client = await connected(gateway);
    const under = [client.request("a", "webhooks.test", { name: "hung" }), client.request("b", "webhooks.test", { name: "hung" })];
    expect(await client.request("c", "webhooks.test", { name: "hung" })).toMatchObject({
      ok: false,
      error: { code: "UNAVAILABLE", retryAfterMs: 1_000 },
    });
    for (const answer of await Promise.all(under)) {
      expect(answer).toMatchObject({ ok: true, payload: { items: [{ refusal: { status: expect.any(Number) } }] } });
    }
    await client.close();
  });
});

describe("one delivery", () => {
  test("is shown with its text only when that is asked for; messages to channels are none of it", async () => {
    await accept("seen");
    await accept("message", { dir: "out" });
    const shown = await gateway.rpc<ResultOf<"webhooks.show">>("webhooks.show", { uid: "seen" });
    expect(shown).toMatchObject({ delivery: { uid: "seen", kind: "agent", state: "accepted", name: "seen", path: "agent" } });
    expect(JSON.stringify(shown)).not.toContain("text of seen");
    expect(await gateway.rpc("webhooks.show", { uid: "seen", payload: true })).toMatchObject({ action: { message: "text of seen" } });
    for (const method of ["webhooks.show", "webhooks.retry", "webhooks.drop"]) {
      for (const uid of ["message", "nobody"])
        await expect(gateway.rpc(method, { uid })).rejects.toMatchObject({ message: expect.stringContaining(`no delivery "${uid}"`) });
    }
  });

  test.each(["failed", "expired"] as const)("that has %s begins again with all its tries, once", async (state) => {
    await accept(`again-${state}`, { state });
    expect(await gateway.rpc("webhooks.retry", { uid: `again-${state}` })).toEqual({ ok: true, uid: `again-${state}` });
    await expect(gateway.rpc("webhooks.retry", { uid: `again-${state}` })).rejects.toMatchObject({ details: { code: "CONFLICT" } });
  });

  test("that waits is given up: it ends as failed, and cannot be given up twice", async () => {
    await accept("over");
    expect(await gateway.rpc("webhooks.drop", { uid: "over" })).toEqual({ ok: true, uid: "over" });
    expect(await store().deliveries.get("over")).toMatchObject({ state: "failed" });
    await expect(gateway.rpc("webhooks.drop", { uid: "over" })).rejects.toMatchObject({ details: { code: "CONFLICT" } });
  });

  test("is found by its state", async () => {
    await accept("listed", { state: "expired" });
    const { deliveries } = await gateway.rpc<ResultOf<"webhooks.recent">>("webhooks.recent", { states: ["expired"] });
    expect(deliveries.map(({ state }) => state)).toEqual(deliveries.map(() => "expired"));
    expect(deliveries.map(({ uid }) => uid)).toContain("listed");
  });
});

test("a reader may look, and neither begin, nor give up, nor try", async () => {
  await accept("guarded", { state: "failed" });
  const reader = await connected(gateway, { scopes: ["operator.read"] });
  for (const [method, params] of [
    ["webhooks.retry", { uid: "guarded" }],
    ["webhooks.drop", { uid: "guarded" }],
    ["webhooks.test", { name: "agent" }],
  ] as const) {
    expect((await reader.request(method, method, params)).error).toMatchObject({ code: "FORBIDDEN", details: { code: "MISSING_SCOPE" } });
  }
  expect(await reader.request("show", "webhooks.show", { uid: "guarded" })).toMatchObject({ ok: true });
  await reader.close();
});
