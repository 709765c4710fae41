import { expect, test } from "vitest";
import { createSlots } from "./call-slots.ts";

const never = new AbortController().signal;

/** Work that ends when it is told to. */
function job() {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { end, work: () => ended };
}

test("work runs in order, as much at once as there are slots", async () => {
  const slots = createSlots(2);
  const jobs = [job(), job(), job()];
  const started: number[] = [];
  const all = jobs.map(({ work }, i) =>
    slots(() => {
      started.push(i);
      return work();
    }, never),
  );
  await Promise.resolve();
  expect(started).toEqual([0, 1]);

  jobs[1]?.end();
  await all[1];
  expect(started).toEqual([0, 1, 2]);

  for (const { end } of jobs) end();
  await Promise.all(all);
});

test("whoever waits leaves with its signal and takes no slot along", async () => {
  const slots = createSlots(1);
  const first = job();
  const running = slots(first.work, never);
  const stop = new AbortController();
  const waiting = slots(async () => "never", stop.signal);
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ name: "AbortError" });

  first.end();
  await running;
  await expect(slots(async () => "next", never)).resolves.toBe("next");
});

test("failed work frees its slot, and nothing starts for an ended signal", async () => {
  const slots = createSlots(1);
  await expect(slots(() => Promise.reject(new Error("no")), never)).rejects.toThrow("no");
  await expect(slots(async () => "late", AbortSignal.abort())).rejects.toMatchObject({ name: "AbortError" });
  await expect(slots(async () => "yes", never)).resolves.toBe("yes");
});
