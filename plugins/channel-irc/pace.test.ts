import { expect, test } from "vitest";
import { nicksOf } from "./handshake.ts";
import { Pace } from "./pace.ts";

test("a burst goes at once, and every further line after an interval", () => {
  const pace = new Pace({ burstLines: 3, lineIntervalMs: 1_000 });
  const waits = [0, 0, 0, 0, 0].map(() => {
    const wait = pace.waitMs(1, 0);
    pace.count(0);
    return wait;
  });
  expect(waits).toEqual([0, 0, 0, 1_000, 2_000]);
  expect([pace.waitMs(1, 2_500), pace.waitMs(2, 2_500), pace.waitMs(3, 10_000)]).toEqual([500, 1_500, 0]);
  expect([0, 1_000, 2_500].map((withinMs) => pace.mostLines(withinMs))).toEqual([3, 3, 5]);
  expect(new Pace({ burstLines: 1, lineIntervalMs: 0 }).mostLines(0)).toBe(Number.POSITIVE_INFINITY);
});

test("nicks are tried as the config lists them, and at last one that nobody has", () => {
  const random = () => 0.5;
  expect(nicksOf({ nick: "helpdesk", nickAlternatives: [] }, random)).toEqual(["helpdesk", "helpdesk_", "helpdesk__", "helpd5000"]);
  expect(nicksOf({ nick: "svc", nickAlternatives: ["svc2"] }, random)).toEqual(["svc", "svc2", "svc5000"]);
});
