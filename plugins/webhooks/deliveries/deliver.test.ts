import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, fakeModel } from "svc/sdk/testing";
import { expect, test } from "vitest";
import { gatedModel } from "../../../test/fixtures/gated-model.ts";
import { accepted, deliveriesGateway, ended, mainKey } from "../../../test/fixtures/hook-deliveries.ts";

test("an answer is delivered when there is one: to the main session, once, without tokens; a refused place is told and the action ends", async () => {
  const answers = ["The parcel has come.", "HEARTBEAT_OK", "NO_REPLY", "News for nobody.", `HEARTBEAT_OK ${"long ".repeat(70)}`];
  const gateway = await deliveriesGateway({ models: [fakeModel(answers)], hasMessaging: true });
  const run = async (fields: Parameters<typeof accepted>[1]) => ended(gateway, await accepted(gateway, { deliver: true, ...fields }));
  const visible = { status: "ok", replyDisposition: "visible", delivered: true, deliveryAttempted: true };
  const withheld = { status: "ok", replyDisposition: "silent", delivered: false, deliveryAttempted: false };

  expect(await run({})).toEqual(visible);
  expect(await run({})).toEqual({ ...withheld, deliverySuppressionReason: "heartbeat" });
  expect(await run({})).toEqual({ ...withheld, deliverySuppressionReason: "silent" });
  expect(await run({ channel: "pigeon", name: "Lost" })).toEqual({ ...visible, delivered: false, deliveryError: "delivery-failed" });
  expect(await run({ channel: "webchat" })).toEqual(visible);

  expect(await gateway.said()).toEqual(["The parcel has come.", `${"long ".repeat(70)}`.trim()]);
  expect(await gateway.events()).toHaveLength(5);
  expect(gateway.logs.filter((l) => l.level === "warn" && l.message.startsWith("hook agent run completed"))).toHaveLength(1);
});

test("where nobody carries messages the answer stays in its session, with a warning; a full queue of events gets the summary as a note", async () => {
  const gateway = await deliveriesGateway({ models: [fakeModel(["one"])] });
  const event = (n: number) => ({ sessionKey: mainKey, text: `event ${n}`, source: "rpc", ts: n, wake: false });
  await gateway.service("store@2").commit(Array.from({ length: 1_000 }, (_, n) => ({ op: "systemEvent.add" as const, event: event(n) })));

  const runId = await accepted(gateway, { deliver: true, name: "Full" });
  expect(await ended(gateway, runId)).toEqual({ status: "ok", replyDisposition: "visible", delivered: false, deliveryAttempted: false });
  expect(await gateway.said()).toEqual(["Hook Full: one"]);
  expect(await gateway.row(runId)).toMatchObject({
    state: "done",
    steps: { deliver: { because: "unavailable" }, summary: { as: "note" } },
  });
  expect(gateway.logs.map((l) => l.message)).toContain("no messaging service: the answer of a hook stays in its session");
});

test("what the storage does not take waits for it, and goes on by itself", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-hooks-fault-"));
  const fault = join(folder, "fault");
  const before = { ...process.env };
  Object.assign(process.env, { SVC_TEST: "1", SVC_STORAGE_FAULT_FILE: fault });
  const model = gatedModel();
  try {
    const gateway = await deliveriesGateway({ models: [model] });
    const runId = await accepted(gateway, { message: "slow" });
    await eventually(() => expect(model.waiting()).toEqual(["slow"]));

    await writeFile(fault, "readonly");
    model.release();
    await eventually(() => expect(gateway.service("store@2").status().ok).toBe(false));
    await expect(accepted(gateway)).rejects.toMatchObject({ code: "storage-unavailable" });
    expect(await gateway.row(runId)).toMatchObject({ state: "running" });

    await rm(fault);
    await eventually(() => expect(model.waiting()).toEqual(["slow"]));
    model.release();
    expect(await ended(gateway, runId)).toMatchObject({ status: "ok" });
    expect(await gateway.events()).toEqual(["Hook Hook: answer to slow"]);
    expect(await gateway.service("store@2").deliveries.list({ limit: 10 })).toHaveLength(1);
  } finally {
    for (const name of ["SVC_TEST", "SVC_STORAGE_FAULT_FILE"]) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
    await rm(folder, { recursive: true, force: true });
  }
});
