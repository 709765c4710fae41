import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createThrottle } from "./throttle.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("at once when it was long ago, else once at the end of the pause", () => {
  let runs = 0;
  const news = createThrottle(
    () => {
      runs += 1;
    },
    () => 100,
  );
  for (let i = 0; i < 5; i++) news.request();
  expect(runs).toBe(1);
  vi.advanceTimersByTime(100);
  expect(runs).toBe(2);
  vi.advanceTimersByTime(100);
  expect([runs, vi.getTimerCount()]).toEqual([2, 0]);
  news.request();
  expect(runs).toBe(3);
});

test("the pause is asked for each time, and the end leaves nothing behind", () => {
  let pauseMs = 10;
  let runs = 0;
  const news = createThrottle(
    () => {
      runs += 1;
    },
    () => pauseMs,
  );
  news.request();
  pauseMs = 1_000;
  news.request();
  vi.advanceTimersByTime(10);
  news.request();
  vi.advanceTimersByTime(999);
  expect(runs).toBe(2);
  news.dispose();
  vi.advanceTimersByTime(5_000);
  expect([runs, vi.getTimerCount()]).toEqual([2, 0]);
});
