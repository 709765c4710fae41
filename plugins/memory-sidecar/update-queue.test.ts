import { beforeEach, expect, test } from "vitest";
import { createUpdateQueue, type UpdateQueue } from "./update-queue.ts";

let now: number;
let runs: Array<{ force: boolean; end(error?: Error): void }>;
let queue: UpdateQueue;
beforeEach(() => {
  now = 0;
  runs = [];
  queue = createUpdateQueue({
    debounceMs: 15_000,
    now: () => now,
    work: (force) =>
      new Promise((resolve, reject) => {
        runs.push({ force, end: (error) => (error ? reject(error) : resolve()) });
      }),
  });
});
const turn = () => new Promise((resolve) => setImmediate(resolve));

test("an unforced request joins the run, a forced one gets another after it, and further ones share that", async () => {
  const first = queue.request({ force: false });
  expect(queue.request({ force: false })).toBe(first);
  const second = queue.request({ force: true });
  expect(second).not.toBe(first);
  expect(queue.request({ force: true })).toBe(second);
  expect(runs).toHaveLength(1);

  runs[0]?.end();
  await first;
  await turn();
  expect(runs.map(({ force }) => force)).toEqual([false, true]);
  runs[1]?.end();
  await second;
  await queue.idle();
  expect(queue.isRunning).toBe(false);
});

test("a forced request follows a run that fails, too", async () => {
  const first = queue.request({ force: false });
  const second = queue.request({ force: true });
  runs[0]?.end(new Error("no"));
  await expect(first).rejects.toThrow("no");
  await turn();
  runs[1]?.end();
  await second;
});

test("an unforced request soon after a run is skipped, a forced one is not", async () => {
  const first = queue.request({ force: false });
  runs[0]?.end();
  await first;
  now = 14_999;
  expect(queue.request({ force: false })).toBeUndefined();
  expect(queue.waitMs).toBe(1);
  const forced = queue.request({ force: true });
  runs[1]?.end();
  await forced;
  now += 15_000;
  expect(queue.request({ force: false })).toBeDefined();
  runs[2]?.end();
  await queue.idle();
});
