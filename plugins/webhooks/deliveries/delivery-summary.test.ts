import type { DeliveryRow } from "svc/sdk";
import { expect, test } from "vitest";
import { agentAction } from "../../../test/fixtures/hook-deliveries.ts";
import { summariseDeliveries, summariseDelivery } from "./delivery-summary.ts";
import { encodeAction } from "./stored-action.ts";

const row: DeliveryRow = {
  ...{ id: 1, uid: "u", dir: "hook-agent", lane: "agent:ops:hook:1", state: "accepted", attempt: 0 },
  ...{ steps: {}, createdAt: 1, updatedAt: 2, expiresAt: 3 },
};
const payload = encodeAction(agentAction({ path: "github", mapping: "gh", name: "CI", agentId: "ops", message: "not for lists" }));
const storeWith = (whole: DeliveryRow | undefined) =>
  ({ deliveries: { get: () => whole } }) as unknown as Parameters<typeof summariseDelivery>[1];

test("a row that waits is described from its payload, without the words of the sender", async () => {
  const summary = await summariseDelivery(row, storeWith({ ...row, payload }));
  expect(summary).toMatchObject({ uid: "u", kind: "agent", state: "accepted", path: "github", mapping: "gh", name: "CI", agentId: "ops" });
  expect(JSON.stringify(summary)).not.toContain("not for lists");
});

test("one whose payload is gone is described from its result, one that cannot be read from its lane", async () => {
  const about = { path: "wake", agentId: "main" };
  const wake = { ...row, dir: "hook-wake" as const, state: "done" as const, result: { status: "ok", about } };
  expect(await summariseDelivery(wake, storeWith(undefined))).toMatchObject({ kind: "wake", path: "wake", agentId: "main" });
  expect(await summariseDelivery(row, storeWith({ ...row, payload: { v: 9 } }))).toMatchObject({ path: "", agentId: "ops" });
});

test("of several rows the payloads are read one after the other", async () => {
  let now = 0;
  let most = 0;
  const get = async () => {
    most = Math.max(most, ++now);
    await Promise.resolve();
    now -= 1;
    return { ...row, payload };
  };
  const store = { deliveries: { get } } as unknown as Parameters<typeof summariseDeliveries>[1];
  const rows = ["a", "b", "c"].map((uid) => ({ ...row, uid }));

  expect((await summariseDeliveries(rows, store)).map(({ uid, path }) => [uid, path])).toEqual(rows.map(({ uid }) => [uid, "github"]));
  expect(most).toBe(1);
});
