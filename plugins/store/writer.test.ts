import { expect, onTestFinished, test } from "vitest";
import { tempStore } from "./testing/temp-store.ts";
import { createWriter } from "./writer.ts";
import { faultAt } from "./writer-messages.ts";

test("the probe needs new pages: a disk with room for a byte is still full", async () => {
  const faults = new Int32Array(new SharedArrayBuffer(12));
  const writer = createWriter({ path: tempStore(onTestFinished).path, now: 1, again: false, faults });
  await writer.handle({ type: "open" });
  onTestFinished(async () => void (await writer.handle({ type: "close" })));
  expect(await writer.handle({ type: "probe" })).toEqual({ type: "healthy" });
  // The pages of the first probe are free again; the second must not be satisfied by less than it needs.
  const large = {
    op: "kv.put" as const,
    scope: "s",
    key: "k",
    value: JSON.stringify("x".repeat(200_000)),
    ifAbsent: false,
    ifVersion: null,
  };
  await writer.handle({ type: "group", commits: [[large]] });

  Atomics.store(faults, faultAt.full, 1);
  expect(await writer.handle({ type: "probe" })).toMatchObject({ type: "failed", fault: "full" });

  Atomics.store(faults, faultAt.full, 0);
  expect(await writer.handle({ type: "probe" })).toEqual({ type: "healthy" });
});
