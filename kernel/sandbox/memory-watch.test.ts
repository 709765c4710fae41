import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createMemoryWatch } from "./memory-watch.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watched() {
  const guest = { bytes: 10, looks: 0, ends: 0 };
  const watch = createMemoryWatch({
    maxBytes: 100,
    read: async () => {
      guest.looks += 1;
      return guest.bytes;
    },
    onTooMuch: () => void guest.ends++,
  });
  return { guest, watch };
}

test("a guest that goes on allocating after its last answer is ended", async () => {
  const { guest, watch } = watched();
  watch.wake();
  watch.rest();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(guest.ends).toBe(0);

  guest.bytes = 101;
  await vi.advanceTimersByTimeAsync(5_000);

  expect(guest.ends).toBe(1);
});

test("it is looked at often while something is under way, now and then while nothing is, and no more once it has ended", async () => {
  const { guest, watch } = watched();
  const looksIn = async (ms: number) => {
    const before = guest.looks;
    await vi.advanceTimersByTimeAsync(ms);
    return guest.looks - before;
  };
  watch.wake();
  expect(await looksIn(2_000)).toBe(20);
  watch.rest();
  expect(await looksIn(5_000)).toBe(5);
  watch.wake();
  expect(await looksIn(1_000)).toBe(10);
  watch.end();
  expect(await looksIn(5_000)).toBe(0);
});
