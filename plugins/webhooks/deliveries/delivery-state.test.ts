import { describe, expect, test } from "vitest";
import { backoffAfter, judgeLeftBehind, judgeRun, runIdOf, runNumber } from "./delivery-state.ts";

test.each([
  [{ status: "ok", stopReason: "stop" }, "over"],
  [{ status: "error", code: "INTERRUPTED", stopReason: "shutdown" }, "resume"],
  [{ status: "error", code: "INTERRUPTED", stopReason: "interrupted" }, "resume"],
  ...["AUTH", "QUOTA", "RATE_LIMIT", "OVERLOADED", "NETWORK", "TIMEOUT", "STORAGE"].map((code) => [
    { status: "error", code, stopReason: "error" },
    "repeat",
  ]),
  [{ status: "error", code: "TIMEOUT", stopReason: "timeout" }, "over"],
  ...["ABORTED", "EMPTY_RESPONSE", "REFUSAL", "BLOCKED", "CONTEXT_OVERFLOW", "INVALID_REQUEST", "INTERNAL"].map((code) => [
    { status: "error", code, stopReason: "error" },
    "over",
  ]),
] as Array<[Parameters<typeof judgeRun>[0], string]>)("a run that ended as %j: %s", (outcome, expected) => {
  expect(judgeRun(outcome)).toBe(expected);
});

test("the pause before the second try is 5 s, before each later one 60 s", () => {
  expect([1, 2, 3, 9].map(backoffAfter)).toEqual([5_000, 60_000, 60_000, 60_000]);
});

test("the first run has the id that the sender was told, a further one an id of its own", () => {
  expect([runIdOf("u", 1), runIdOf("u", 3)]).toEqual(["u", "u:3"]);
  expect([runNumber({ steps: {} }), runNumber({ steps: { retry: { next: 3 } } }), runNumber({ steps: { retry: { next: "x" } } })]).toEqual([
    1, 3, 1,
  ]);
});

describe("an action that was left behind", () => {
  const reason = "the gateway ended while it ran";

  test("is charged nothing when its run had not begun, or others had begun beside it", () => {
    expect(judgeLeftBehind({ attempt: 3 }, { verdict: undefined, suspicion: 0 })).toEqual({
      next: "again",
      attempt: 2,
      result: { reason },
    });
    expect(judgeLeftBehind({ attempt: 3 }, { verdict: "suspect", suspicion: 1 })).toEqual({
      next: "again",
      attempt: 2,
      result: { reason, suspect: 1 },
    });
    expect(judgeLeftBehind({ attempt: 0 }, { verdict: undefined, suspicion: 0 })).toMatchObject({ attempt: 0 });
  });

  test("is charged a try when nothing else was under way, and waits before the next", () => {
    const first = judgeLeftBehind({ attempt: 1 }, { verdict: "guilty", suspicion: 1 });
    expect(first).toEqual({ next: "again", attempt: 1, result: { reason, suspect: 1, crashes: 1 }, waitMs: 5_000 });
    const second = judgeLeftBehind({ attempt: 2, result: { reason, suspect: 1, crashes: 1 } }, { verdict: "guilty", suspicion: 2 });
    expect(second).toMatchObject({ next: "again", result: { suspect: 2, crashes: 2 }, waitMs: 60_000 });
    expect(judgeLeftBehind({ attempt: 3 }, { verdict: "guilty", suspicion: 3 })).toMatchObject({ next: "failed", attempt: 3 });
  });

  test("keeps what is known of it when it was only claimed", () => {
    const result = { reason, suspect: 2, crashes: 1 };
    expect(judgeLeftBehind({ attempt: 2, result }, { verdict: undefined, suspicion: 2 })).toEqual({ next: "again", attempt: 1, result });
  });
});
