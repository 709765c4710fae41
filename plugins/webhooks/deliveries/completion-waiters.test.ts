import { expect, test } from "vitest";
import { createCompletionWaiters } from "./completion-waiters.ts";
import { type Completion, completionOf, toCompletion } from "./delivery-state.ts";

const ok: Completion = { status: "ok", replyDisposition: "visible" };

test("everybody who waits for an action is told, and nobody else", async () => {
  const completions = createCompletionWaiters();
  const { signal } = new AbortController();
  const waiting = [completions.wait("a", signal), completions.wait("a", signal)];
  const other = completions.wait("b", signal);

  completions.tell("a", ok);
  expect(await Promise.all(waiting)).toEqual([ok, ok]);
  completions.close();
  await expect(other).rejects.toMatchObject({ code: "draining" });
});

test("who leaves is not told, and leaves the others waiting", async () => {
  const completions = createCompletionWaiters();
  const leaving = new AbortController();
  const left = completions.wait("a", leaving.signal);
  const stays = completions.wait("a", new AbortController().signal);
  leaving.abort(new Error("gone"));

  await expect(left).rejects.toThrow("gone");
  await expect(completions.wait("a", leaving.signal)).rejects.toThrow("gone");
  completions.tell("a", ok);
  expect(await stays).toEqual(ok);
});

const ran = { runId: "r", status: "ok" as const };
const visible = { disposition: "visible" as const, text: "x" };
test.each([
  [[ran, visible, undefined], { status: "ok", replyDisposition: "visible" }],
  [
    [ran, visible, { attempted: true, state: "done" }],
    { status: "ok", replyDisposition: "visible", delivered: true, deliveryAttempted: true },
  ],
  [
    [ran, visible, { attempted: true, state: "pending" }],
    { status: "ok", replyDisposition: "visible", delivered: false, deliveryAttempted: true },
  ],
  ...(["failed", "expired", "uncertain", "refused"] as const).map((state) => [
    [ran, visible, { attempted: true, state }],
    { status: "ok", replyDisposition: "visible", delivered: false, deliveryAttempted: true, deliveryError: "delivery-failed" },
  ]),
  [
    [ran, { disposition: "silent", text: "", because: "heartbeat" }, { attempted: false, because: "heartbeat" }],
    { status: "ok", replyDisposition: "silent", delivered: false, deliveryAttempted: false, deliverySuppressionReason: "heartbeat" },
  ],
  [
    [ran, visible, { attempted: false, because: "unavailable" }],
    { status: "ok", replyDisposition: "visible", delivered: false, deliveryAttempted: false },
  ],
  [[{ ...ran, status: "error", error: "secret detail" }, undefined, undefined], { status: "error", replyDisposition: "empty" }],
] as Array<[Parameters<typeof toCompletion>, Completion]>)("%j is told as %j", (args, expected) => {
  expect(toCompletion(...args)).toEqual(expected);
});

test("a row tells how it ended, also one that never ran", () => {
  expect(completionOf({ state: "running" })).toBeUndefined();
  expect(completionOf({ state: "accepted", result: { reason: "later" } })).toBeUndefined();
  expect(completionOf({ state: "done", result: { status: "ok", completion: ok } })).toEqual(ok);
  expect(completionOf({ state: "failed", result: { status: "error" } })).toEqual({ status: "error", replyDisposition: "empty" });
  expect(completionOf({ state: "expired", result: { status: "skipped" } })).toEqual({ status: "skipped", replyDisposition: "empty" });
});
