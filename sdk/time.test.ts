import { expect, test } from "vitest";
import { backoffDelayMs, sleep, withLimit } from "./time.ts";

const never = new Promise<never>(() => undefined);

test("a sleep ends with its signal, and does not begin after it", async () => {
  const stop = new AbortController();
  const waiting = sleep(60_000, stop.signal);
  stop.abort(new Error("stopped"));
  await expect(waiting).rejects.toThrow("stopped");
  await expect(sleep(60_000, stop.signal)).rejects.toThrow("stopped");
});

test("a sleep uses the timers it is given, and disposes of the one it no longer needs", async () => {
  const stop = new AbortController();
  const asked: number[] = [];
  let disposed = 0;
  const timers = {
    setTimeout(fn: () => void, ms: number) {
      asked.push(ms);
      if (ms === 1) queueMicrotask(fn);
      return { dispose: () => void disposed++ };
    },
  };
  await sleep(1, stop.signal, timers);
  const cut = sleep(2, stop.signal, timers);
  stop.abort(new Error("stopped"));
  await expect(cut).rejects.toThrow("stopped");
  expect(asked).toEqual([1, 2]);
  expect(disposed).toBe(1);
});

test("work that is in time counts, work that is late is replaced, and its failure is nobody's", async () => {
  expect(await withLimit(Promise.resolve("done"), 60_000, () => "late")).toBe("done");
  expect(await withLimit(never, 0, () => "late")).toBe("late");
  await expect(
    withLimit(never, 0, () => {
      throw new Error("too late");
    }),
  ).rejects.toThrow("too late");
});

test("a limited wait ends with its signal", async () => {
  const stop = new AbortController();
  const waiting = withLimit(never, 60_000, () => "late", stop.signal);
  stop.abort(new Error("stopped"));
  await expect(waiting).rejects.toThrow("stopped");
  await expect(withLimit(Promise.resolve("done"), 60_000, () => "late", stop.signal)).rejects.toThrow("stopped");
});

test("delays double up to the longest", () => {
  expect([1, 2, 3, 4, 5].map((attempt) => backoffDelayMs(attempt, { firstMs: 500, maxMs: 3_000 }))).toEqual([
    500, 1_000, 2_000, 3_000, 3_000,
  ]);
  expect(backoffDelayMs(10_000, { firstMs: 1, maxMs: 9 })).toBe(9);
});
