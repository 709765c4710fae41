import { fakeClock } from "svc/sdk/testing";
import { expect, test } from "vitest";
import { createExpiryClock } from "./expiry-clock.ts";

const DAY_MS = 86_400_000;

/** A wall clock that can be set apart from the time that passes. */
function clocks() {
  const time = fakeClock();
  let offset = 0;
  return {
    clock: { now: () => time.now() + offset, monotonic: time.monotonic },
    set: (ms: number) => {
      offset += ms;
    },
    advance: time.advance,
  };
}

test("time that passes is believed, however long it was", async () => {
  const { clock, advance } = clocks();
  const expiry = createExpiryClock(clock);
  await advance(3 * DAY_MS);
  expect(expiry.isTrusted()).toBe(true);
});

test("a clock that went forward by a day in one step is believed a minute later", async () => {
  const { clock, set, advance } = clocks();
  const expiry = createExpiryClock(clock);
  set(DAY_MS + 1);
  expect(expiry.isTrusted()).toBe(false);
  await advance(59_999);
  expect(expiry.isTrusted()).toBe(false);
  await advance(1);
  expect(expiry.isTrusted()).toBe(true);
});

test("one that is set back again was wrong, and smaller steps are no reason to doubt", () => {
  const { clock, set } = clocks();
  const expiry = createExpiryClock(clock);
  set(DAY_MS);
  expect(expiry.isTrusted()).toBe(true);
  set(2 * DAY_MS);
  expect(expiry.isTrusted()).toBe(false);
  set(-2 * DAY_MS);
  expect(expiry.isTrusted()).toBe(true);
});
