import { describe, expect, test } from "vitest";
import { createQuarantine } from "./quarantine.ts";

const limits = { failures: 3, windowMs: 600, openMs: 300 };

function failing(times: number[]) {
  const q = createQuarantine(limits);
  for (const now of times) {
    const pass = q.enter(now);
    if (pass) q.failed(pass, now, `at ${now}`);
  }
  return q;
}

describe("it opens", () => {
  test.each([
    ["at the third failure in a row", [0, 1, 2], "open"],
    ["not at the second", [0, 1], "closed"],
    ["with the first one exactly at the edge of the window", [0, 300, 600], "open"],
    ["not with the first one past it", [0, 300, 601], "closed"],
    ["by the last three, however many came before", [0, 500, 700, 1_000], "open"],
  ])("%s", (_, times, state) => {
    expect(failing(times).state).toBe(state);
  });

  test("not when a success lies between them", () => {
    const q = failing([0, 1]);
    q.succeeded(q.enter(2) ?? "trial");
    const pass = q.enter(3) ?? "trial";
    q.failed(pass, 3, "again");
    expect(q).toMatchObject({ state: "closed", failures: 1 });
  });
});

describe("once open", () => {
  test("it says until when, and why", () => {
    expect(failing([0, 1, 2])).toMatchObject({ failures: 3, until: 302, lastError: "at 2" });
    expect(failing([0, 1]).until).toBeUndefined();
  });

  test("nobody enters before its time; then one may, and others not while that one is inside", () => {
    const q = failing([0, 1, 2]);
    expect(q.enter(301)).toBeUndefined();
    expect(q.enter(302)).toBe("trial");
    expect(q.state).toBe("half-open");
    expect(q.enter(303)).toBeUndefined();
  });

  test("a trial that was given up leaves the next call to be the trial", () => {
    const q = failing([0, 1, 2]);
    q.abandoned(q.enter(302) ?? "normal", 310);
    expect(q.state).toBe("open");
    expect(q.enter(310)).toBe("trial");
  });

  test("calls that began before it opened change nothing when they end", () => {
    const q = createQuarantine(limits);
    const early = [q.enter(0), q.enter(0), q.enter(0), q.enter(0), q.enter(0)].map((pass) => pass ?? "trial");
    for (const pass of early.slice(0, 3)) q.failed(pass, 1, "slow");
    q.succeeded("normal");
    q.failed("normal", 200, "later");
    expect(q).toMatchObject({ state: "open", until: 301, failures: 3 });
  });
});
