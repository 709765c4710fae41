import { fakeModel } from "svc/sdk/testing";
import { describe, expect, test } from "vitest";
import { accepted, deliveriesGateway, ended, mainKey, wakeAction } from "../../../test/fixtures/hook-deliveries.ts";

describe("an accepted agent action", () => {
  test("is a row before it is answered, runs under the id that was told, and leaves a summary and an end", async () => {
    const model = fakeModel(["The build is\n\n green."]);
    const gateway = await deliveriesGateway({ models: [model] });

    const runId = await accepted(gateway, { name: "GitHub", message: "<frame> push", mapping: "gh", path: "github" });
    expect(await gateway.row(runId)).toMatchObject({
      dir: "hook-agent",
      uid: runId,
      payload: { v: 1, action: { message: "<frame> push" } },
    });

    expect(await ended(gateway, runId)).toEqual({ status: "ok", replyDisposition: "visible" });
    expect(await gateway.service("store@2").runs.get(runId)).toMatchObject({ state: "ok", trigger: "hook" });
    const row = await gateway.row(runId);
    expect(row).toMatchObject({
      state: "done",
      attempt: 1,
      result: { status: "ok", about: { path: "github", mapping: "gh", name: "GitHub", agentId: "main" } },
    });
    expect(Object.keys(row?.steps ?? {})).toEqual(["run", "summary", "heartbeat"]);
    expect(row?.payload).toBeUndefined();
    expect(await gateway.events()).toEqual(["Hook GitHub: The build is green."]);
    expect(gateway.logs.map((l) => l.message)).toContain(`hook agent run completed runId=${runId} status=ok`);
  });
});

describe("a wake", () => {
  test("is an event and a row that is done in one commit; the same text again is coalesced", async () => {
    const gateway = await deliveriesGateway({ models: [fakeModel([])] });

    expect(await gateway.deliveries().accept([{ action: wakeAction() }])).toEqual([
      { kind: "wake", mode: "next-heartbeat", eventOutcome: "queued" },
    ]);
    expect(await gateway.deliveries().accept([{ action: wakeAction({ text: "[other frame] the door is open" }) }])).toMatchObject([
      { eventOutcome: "coalesced" },
    ]);

    expect(await gateway.events()).toEqual(["[frame] the door is open"]);
    const rows = await gateway.service("store@2").deliveries.list({ limit: 10 });
    expect(rows).toMatchObject([
      { dir: "hook-wake", state: "done", lane: mainKey },
      { dir: "hook-wake", state: "done", lane: mainKey },
    ]);
  });
});
