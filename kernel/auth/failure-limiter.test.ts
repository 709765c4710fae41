import { describe, expect, test } from "vitest";
import { createFailureLimiter, type RateLimitConfig } from "./failure-limiter.ts";

function setup(change: Partial<RateLimitConfig> = {}, bucketOf?: (address: string) => string) {
  const config = { maxAttempts: 10, windowMs: 60_000, lockoutMs: 300_000, exemptLoopback: false, ...change };
  const time = { now: 1_000_000 };
  const limiter = createFailureLimiter(
    () => config,
    () => time.now,
    bucketOf,
  );
  const fail = (times: number, address = "192.0.2.1") => {
    for (let i = 0; i < times; i++) limiter.fail(address, false);
  };
  return { limiter, time, fail, config, wait: (address = "192.0.2.1") => limiter.retryAfterMs(address, false) };
}

describe("an address is locked out", () => {
  test("at the tenth failure, for the whole lockout and no longer", () => {
    const { fail, wait, time } = setup();
    fail(9);
    expect(wait()).toBe(0);
    fail(1);
    expect(wait()).toBe(300_000);
    time.now += 299_999;
    expect(wait()).toBe(1);
    time.now += 1;
    expect(wait()).toBe(0);
  });

  test("only when its failures lie in one window, wherever the window begins", () => {
    const { fail, wait, time } = setup();
    fail(5);
    time.now += 59_999;
    fail(4);
    expect(wait()).toBe(0);
    time.now += 1;
    fail(5);
    expect(wait()).toBe(0);
    fail(1);
    expect(wait()).toBe(300_000);
  });

  test("without a word about others", () => {
    const { fail, wait } = setup();
    fail(10);
    expect(wait("192.0.2.2")).toBe(0);
  });

  test("together with all addresses of its bucket", () => {
    const { fail, wait } = setup({}, (address) => address.slice(0, 5));
    for (let i = 0; i < 10; i++) fail(1, `aaaa:${i}`);
    expect(wait("aaaa:99")).toBe(300_000);
  });
});

test("failures of one class of credentials say nothing about another, and neither does a success", () => {
  const { limiter, fail, wait } = setup();
  fail(10);
  for (let i = 0; i < 9; i++) limiter.fail("192.0.2.1", false, "device-token");
  expect([wait(), limiter.retryAfterMs("192.0.2.1", false, "device-token")]).toEqual([300_000, 0]);
  limiter.fail("192.0.2.1", false, "device-token");
  expect(limiter.retryAfterMs("192.0.2.1", false, "device-token")).toBe(300_000);
  expect(limiter.retryAfterMs("192.0.2.1", false, "bootstrap")).toBe(0);
  limiter.succeed("192.0.2.1", "device-token");
  expect([wait(), limiter.retryAfterMs("192.0.2.1", false, "device-token")]).toEqual([300_000, 0]);
});

test("a success clears what was counted", () => {
  const { limiter, fail, wait } = setup();
  fail(9);
  limiter.succeed("192.0.2.1");
  fail(9);
  expect(wait()).toBe(0);
});

describe("direct loopback", () => {
  test("that is exempt is never locked; its failures are answered later and later, up to 5 s", () => {
    const { limiter } = setup({ exemptLoopback: true });
    const delays = Array.from({ length: 12 }, () => limiter.fail("127.0.0.1", true).delayMs);
    expect(delays).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000, 5_000, 5_000, 5_000, 5_000]);
    expect(limiter.retryAfterMs("127.0.0.1", true)).toBe(0);
  });

  test("that is exempt is delayed up to 5 s also where few attempts are allowed to others", () => {
    const { limiter } = setup({ exemptLoopback: true, maxAttempts: 1 });
    const delays = Array.from({ length: 6 }, () => limiter.fail("127.0.0.1", true).delayMs);
    expect(delays.at(-1)).toBe(5_000);
  });

  test("is delayed in the same way, and locked like everybody else", () => {
    const { limiter } = setup();
    const delays = Array.from({ length: 10 }, () => limiter.fail("127.0.0.1", true).delayMs);
    expect(delays).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000, 5_000, 5_000]);
    expect(limiter.retryAfterMs("127.0.0.1", true)).toBe(300_000);
  });

  test("has one attempt a second while it is locked, the first a second after the lock; others have none", () => {
    const { limiter, time, fail } = setup();
    fail(10);
    for (let i = 0; i < 10; i++) limiter.fail("127.0.0.1", true);
    const attempts = () => Array.from({ length: 3 }, () => limiter.attempt("127.0.0.1", true));
    expect(attempts()).toEqual([300_000, 300_000, 300_000]);
    time.now += 999;
    expect(attempts()).toEqual([299_001, 299_001, 299_001]);
    time.now += 1;
    expect(attempts()).toEqual([0, 299_000, 299_000]);
    time.now += 1_000;
    expect(attempts()).toEqual([0, 298_000, 298_000]);
    expect(limiter.attempt("192.0.2.1", false)).toBe(298_000);
  });

  test("is not locked for longer by what it tries during the lockout, and free again after a success", () => {
    const { limiter, time } = setup();
    for (let i = 0; i < 10; i++) limiter.fail("127.0.0.1", true);
    time.now += 1_000;
    expect(limiter.attempt("127.0.0.1", true)).toBe(0);
    expect(limiter.fail("127.0.0.1", true).delayMs).toBe(0);
    expect(limiter.retryAfterMs("127.0.0.1", true)).toBe(299_000);
    limiter.succeed("127.0.0.1");
    expect(limiter.attempt("127.0.0.1", true)).toBe(0);
    expect(limiter.attempt("127.0.0.1", true)).toBe(0);
  });
});

test("a changed limit keeps recorded failures", () => {
  const { fail, wait, config } = setup();
  fail(4);
  config.maxAttempts = 5;
  fail(1);
  expect(wait()).toBe(300_000);
});

describe("of more than 10,000 addresses", () => {
  test("the oldest is forgotten, but not one that is locked", () => {
    const { fail, wait } = setup({ maxAttempts: 2 });
    fail(2, "locked");
    fail(1, "oldest");
    for (let i = 0; i < 10_000; i++) fail(1, `a${i}`);
    expect(wait("locked")).toBe(300_000);

    fail(1, "oldest");
    fail(1, "a9999");

    expect(wait("oldest")).toBe(0);
    expect(wait("a9999")).toBe(300_000);
  });

  test("the oldest is forgotten when all are locked", () => {
    const { fail, wait } = setup({ maxAttempts: 1 });
    for (let i = 0; i < 10_001; i++) fail(1, `a${i}`);
    expect([wait("a0"), wait("a1"), wait("a10000")]).toEqual([0, 300_000, 300_000]);
  });
});
