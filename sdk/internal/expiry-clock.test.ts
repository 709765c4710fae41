import { expect, test } from "vitest";
import { createExpiryClock } from "./expiry-clock.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

function twoClocks(start = 1_767_225_600_000) {
  const at = { wall: start, steady: 0 };
  return {
    clock: { now: () => at.wall, monotonic: () => at.steady },
    pass(ms: number) {
      at.wall += ms;
      at.steady += ms;
    },
    jump(ms: number) {
      at.wall += ms;
    },
  };
}

test("time that passes ends rows, and a small correction too", () => {
  const { clock, pass, jump } = twoClocks();
  const expiry = createExpiryClock(clock);
  pass(3 * DAY);
  expect(expiry.read()).toBe(clock.now());
  jump(DAY);
  expect(expiry.read()).toBe(clock.now());
  jump(-DAY);
  expect(expiry.read()).toBe(clock.now());
});

test("a step of more than a day is believed after a second reading a minute later", () => {
  const { clock, pass, jump } = twoClocks();
  const expiry = createExpiryClock(clock);
  pass(MINUTE);
  jump(365 * DAY);
  expect(expiry.read()).toBeUndefined();
  pass(MINUTE - 1);
  expect(expiry.read()).toBeUndefined();
  pass(1);
  expect(expiry.read()).toBe(clock.now());
});

test("a step that is taken back ends nothing", () => {
  const { clock, pass, jump } = twoClocks();
  const expiry = createExpiryClock(clock);
  jump(365 * DAY);
  expect(expiry.read()).toBeUndefined();
  pass(1_000);
  jump(-365 * DAY);
  expect(expiry.read()).toBe(clock.now());
  pass(MINUTE);
  expect(expiry.read()).toBe(clock.now());
});

test("a start long after what was last seen is a step, too", () => {
  const { clock, pass } = twoClocks();
  const expiry = createExpiryClock(clock, clock.now() - 2 * DAY);
  expect(expiry.read()).toBeUndefined();
  pass(MINUTE);
  expect(expiry.read()).toBe(clock.now());
  expect(createExpiryClock(clock, clock.now() - DAY + MINUTE).read()).toBe(clock.now());
});

test("one of a day is no reason to doubt, one of a millisecond more is, until the minute is over to the millisecond", () => {
  const { clock, pass, jump } = twoClocks();
  const expiry = createExpiryClock(clock);
  jump(DAY);
  expect(expiry.read()).toBe(clock.now());
  jump(DAY + 1);
  expect(expiry.read()).toBeUndefined();
  pass(MINUTE - 1);
  expect(expiry.read()).toBeUndefined();
  pass(1);
  expect(expiry.read()).toBe(clock.now());
});
