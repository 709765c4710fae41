import type { RunRow } from "svc/sdk";
import { expect, test } from "vitest";
import { attemptsLeftBehind, backoffAfter, judgeRun, runIdOf, runNumber } from "./verdict.ts";

test.each([
  [{ status: "ok", stopReason: "stop" }, "over"],
  [{ status: "error", code: "INTERRUPTED", stopReason: "shutdown" }, "resume"],
  [{ status: "error", code: "INTERRUPTED", stopReason: "interrupted" }, "resume"],
  ...["AUTH", "RATE_LIMIT", "OVERLOADED", "NETWORK", "TIMEOUT", "STORAGE"].map((code) => [
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

test("what was left behind counts as a try only if its run had begun and had not ended", () => {
  const run = (fields: Partial<RunRow>) => ({ state: "interrupted", ...fields }) as RunRow;
  const row = { attempt: 2, steps: {} };
  expect(attemptsLeftBehind(row, run({ startedAt: 1 }))).toBe(2);
  expect(attemptsLeftBehind(row, undefined)).toBe(2);
  expect(attemptsLeftBehind(row, run({}))).toBe(1);
  expect(attemptsLeftBehind(row, run({ startedAt: 1, state: "ok" }))).toBe(1);
  expect(attemptsLeftBehind({ attempt: 2, steps: { run: {} } }, run({ startedAt: 1, state: "ok" }))).toBe(1);
  expect(attemptsLeftBehind({ attempt: 2, steps: { run: {} } }, undefined)).toBe(1);
  expect(attemptsLeftBehind({ attempt: 0, steps: {} }, run({}))).toBe(0);
});
