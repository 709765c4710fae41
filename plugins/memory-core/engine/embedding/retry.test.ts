import { expect, test } from "vitest";
import { embedFault } from "../../test-host.ts";
import { retryDelayMs, waitMs, withRetries } from "./retry.ts";

test("half a second doubling, up to a fifth more, never over 8 s", () => {
  expect([1, 2, 3, 4, 5, 6].map((attempt) => retryDelayMs(attempt, undefined, () => 0))).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000]);
  expect([1, 5].map((attempt) => retryDelayMs(attempt, undefined, () => 1))).toEqual([600, 8_000]);
});

test("the vendor's wish wins, up to a minute", () => {
  expect([0, 100, 60_000, 60_001].map((ms) => retryDelayMs(3, ms, () => 1))).toEqual([0, 100, 60_000, 60_000]);
});

const attempts = async (fault: Parameters<typeof embedFault>[0], message?: string) => {
  let count = 0;
  const run = () => {
    count++;
    return Promise.reject(embedFault(fault, message));
  };
  await withRetries(run, { signal: new AbortController().signal, wait: async () => undefined }).catch(() => undefined);
  return count;
};

test.each<[Parameters<typeof embedFault>[0], number]>([
  ["rate-limit", 4],
  ["overloaded", 4],
  ["timeout", 4],
  ["network", 4],
  ["bad-response", 2],
  ["auth", 1],
  ["no-credentials", 1],
  ["model", 1],
  ["quota", 1],
  ["not-ready", 1],
  ["invalid-request", 1],
  ["too-long", 1],
])("%s is tried %i times", async (fault, times) => {
  expect(await attempts(fault)).toBe(times);
});

test("the wording of a message decides nothing", async () => {
  expect(await attempts("invalid-request", "rate limit 500 502 too many requests")).toBe(1);
});

test("what is no fault of an adapter is not tried again", async () => {
  let count = 0;
  const run = () => Promise.reject(new Error(`broken ${++count}`));
  await expect(withRetries(run, { signal: new AbortController().signal })).rejects.toThrow("broken 1");
});

test("a wait ends with its signal", async () => {
  const stop = new AbortController();
  const waiting = waitMs(60_000, stop.signal);
  stop.abort(new Error("stopped"));
  await expect(waiting).rejects.toThrow("stopped");
  await expect(waitMs(60_000, stop.signal)).rejects.toThrow("stopped");
});
