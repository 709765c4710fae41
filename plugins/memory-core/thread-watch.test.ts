import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createActivity, createActivityMemory, type ThreadActivity } from "./thread-activity.ts";
import { watchThread } from "./thread-watch.ts";

const limits = { everyMs: 1_000, silentTurns: 2, documentTurns: 4, otherTurns: 10 };
const document = { path: "memory/b\n.md", stamp: "2 3" };
let events: unknown[][];
let activity: ThreadActivity;

beforeEach(() => {
  vi.useFakeTimers();
  events = [];
  const memory = createActivityMemory();
  activity = createActivity(memory);
  watchThread(
    memory,
    { onSilence: (reason) => events.push(["silence", reason]), onStall: (...stall) => events.push(["stall", ...stall]) },
    limits,
  );
});
afterEach(() => vi.useRealTimers());

test("a thread that beats may work on one document as long as it likes", () => {
  for (let i = 0; i < 50; i++) {
    activity.during(document, () => {
      activity.beat();
      vi.advanceTimersByTime(2_000);
    });
  }
  expect(events).toEqual([]);
});

test("a thread that beats again is taken back", () => {
  activity.beat();
  vi.advanceTimersByTime(3_000);
  expect(events).toEqual([["silence", "it has not answered for 2 s"]]);
  activity.beat();
  vi.advanceTimersByTime(1_000);
  expect(events).toEqual([
    ["silence", expect.any(String)],
    ["silence", undefined],
  ]);
});

test("a thread that is silent is ended once, and its document is named", () => {
  activity.beat();
  activity.during({ path: "memory/a.md", stamp: "1" }, () => undefined);
  activity.during(document, () => vi.advanceTimersByTime(60_000));
  expect(events).toEqual([
    ["silence", "indexing memory/b\n.md takes longer than 2 s"],
    ["stall", "indexing memory/b\n.md did not finish within 4 s", document],
  ]);
});

test("a thread that works on no document, or has not begun, gets more time", () => {
  vi.advanceTimersByTime(10_000);
  expect(events).toEqual([["silence", expect.any(String)]]);
  vi.advanceTimersByTime(1_000);
  expect(events.at(-1)).toEqual(["stall", "it did not answer for 10 s", undefined]);
});
