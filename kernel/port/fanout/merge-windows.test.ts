import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createMergeWindows } from "./merge-windows.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setup() {
  const got: string[] = [];
  let joins = 0;
  const windows = createMergeWindows<{ text: string }, { name: string }>({
    windowMs: 50,
    send: (to, { text }) => void got.push(`${to.name}:${text}`),
    join(a, b) {
      joins += 1;
      return { text: a.text + b.text };
    },
  });
  return { windows, got, joins: () => joins };
}
const receivers = (count: number) => Array.from({ length: count }, (_, i) => ({ name: String(i) }));

test("a thousand receivers of one stream share one timer, and what they wait for is joined once", () => {
  const { windows, got, joins } = setup();
  const all = receivers(1_000);
  for (const text of ["a", "b", "c", "d"]) {
    const item = { text };
    for (const to of all) windows.offer(to, "run", item);
  }
  expect([vi.getTimerCount(), joins(), got.length]).toEqual([1, 2, 1_000]);
  vi.advanceTimersByTime(50);
  expect([vi.getTimerCount(), got.length]).toEqual([1, 2_000]);
  expect(new Set(got.slice(1_000).map((line) => line.split(":")[1]))).toEqual(new Set(["bcd"]));
  vi.advanceTimersByTime(50);
  expect([vi.getTimerCount(), got.length]).toEqual([0, 2_000]);
});

test("a window stays open when something is sent ahead of its end: one item of a key within it, and what must not be overtaken", () => {
  const { windows, got } = setup();
  const to = { name: "x" };
  for (const text of ["a", "b"]) windows.offer(to, "run", { text });
  windows.flush(to);
  windows.offer(to, "run", { text: "c" });
  expect(got).toEqual(["x:a", "x:b"]);
  vi.advanceTimersByTime(50);
  expect(got).toEqual(["x:a", "x:b", "x:c"]);
});

test("windows that were opened at different times close at different times", async () => {
  const { windows, got } = setup();
  const [early, late] = [{ name: "early" }, { name: "late" }];
  windows.offer(early, "run", { text: "1" });
  windows.offer(early, "run", { text: "2" });
  await vi.advanceTimersByTimeAsync(30);
  windows.offer(late, "run", { text: "1" });
  windows.offer(late, "run", { text: "2" });
  vi.advanceTimersByTime(20);
  expect(got).toEqual(["early:1", "late:1", "early:2"]);
  vi.advanceTimersByTime(30);
  expect(got.at(-1)).toBe("late:2");
});

test("who leaves gets nothing more, and the last one takes the timer along", () => {
  const { windows, got } = setup();
  const [a, b] = [{ name: "a" }, { name: "b" }];
  for (const text of ["1", "2"]) for (const to of [a, b]) windows.offer(to, "run", { text });
  windows.drop(a);
  windows.drop(a);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(50);
  expect(got).toEqual(["a:1", "b:1", "b:2"]);
  windows.drop(b);
  expect(vi.getTimerCount()).toBe(0);
});
