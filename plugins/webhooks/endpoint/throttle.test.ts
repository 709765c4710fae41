import { expect, test } from "vitest";
import { createAttemptLimiter } from "../../../test/tools/attempt-limiter.ts";
import { createThrottle } from "./throttle.ts";

function throttleAt() {
  const clock = { ms: 1_000 };
  return { clock, throttle: createThrottle({ limitAttempts: (limits) => createAttemptLimiter(limits, () => clock.ms) }) };
}

function failTimes(throttle: ReturnType<typeof createThrottle>, address: string, times: number) {
  return Array.from({ length: times }, () => throttle.fail(address));
}

test("20 failures are counted, the 20th begins a lockout of 60 s, and the 21st meets it", () => {
  const { clock, throttle } = throttleAt();

  const counted = failTimes(throttle, "192.0.2.1", 20);

  expect(counted.map(({ lockedMs }) => lockedMs)).toEqual(Array(20).fill(0));
  expect(counted.map(({ hasLocked }) => hasLocked)).toEqual([...Array(19).fill(false), true]);
  clock.ms += 1_500;
  expect(throttle.fail("192.0.2.1")).toEqual({ lockedMs: 58_500, hasLocked: false });
});

test("attempts during a lockout do not make it longer, and after it the count begins anew", () => {
  const { clock, throttle } = throttleAt();
  failTimes(throttle, "192.0.2.1", 20);
  clock.ms += 59_999;
  expect(throttle.fail("192.0.2.1").lockedMs).toBe(1);

  clock.ms += 1;

  expect(failTimes(throttle, "192.0.2.1", 19).every(({ lockedMs, hasLocked }) => lockedMs === 0 && !hasLocked)).toBe(true);
});

test("failures older than 60 s do not count", () => {
  const { clock, throttle } = throttleAt();
  failTimes(throttle, "192.0.2.1", 19);

  clock.ms += 60_001;

  expect(throttle.fail("192.0.2.1")).toEqual({ lockedMs: 0, hasLocked: false });
});

test("a good credential ends a lockout at once and clears the count", () => {
  const { throttle } = throttleAt();
  failTimes(throttle, "192.0.2.1", 25);

  throttle.succeed("192.0.2.1");

  expect(failTimes(throttle, "192.0.2.1", 19).every(({ lockedMs }) => lockedMs === 0)).toBe(true);
});

test("loopback is counted too, mapped forms are one address, and an IPv6 caller is its whole /64", () => {
  const { throttle } = throttleAt();
  failTimes(throttle, "127.0.0.1", 20);
  failTimes(throttle, "::ffff:192.0.2.9", 20);
  for (let i = 0; i < 20; i++) throttle.fail(`2001:db8:1:2::${i.toString(16)}`);

  expect(throttle.fail("127.0.0.1").lockedMs).toBeGreaterThan(0);
  expect(throttle.fail("192.0.2.9").lockedMs).toBeGreaterThan(0);
  expect(throttle.fail("2001:db8:1:2:ffff::1").lockedMs).toBeGreaterThan(0);
  expect(throttle.fail("2001:db8:1:3::1").lockedMs).toBe(0);
});

test("of more than 10,000 addresses the oldest is forgotten, one that is locked out is not", () => {
  const { throttle } = throttleAt();
  failTimes(throttle, "192.0.2.1", 20);
  failTimes(throttle, "192.0.2.2", 19);
  for (let i = 0; i < 10_000; i++) throttle.fail(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);

  expect(throttle.fail("192.0.2.1").lockedMs).toBeGreaterThan(0);
  expect(throttle.fail("192.0.2.2")).toEqual({ lockedMs: 0, hasLocked: false });
});
