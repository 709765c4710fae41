import { expect, test } from "vitest";
import { fakeClock } from "../testing/fake-clock.ts";
import { createProgress } from "./progress.ts";

test("the first line is passed on at once, then the newest of each quarter of a second, at most four in a second", async () => {
  const clock = fakeClock();
  const shown: string[] = [];
  const progress = createProgress(clock, (text) => shown.push(text));
  for (let ms = 0; ms < 1_000; ms += 10) {
    progress.update(`at ${ms}`);
    if (ms === 0) expect(shown).toEqual(["at 0"]);
    await clock.advance(10);
  }
  expect(shown.slice(0, 4)).toEqual(["at 0", "at 240", "at 490", "at 740"]);
  expect(shown.length).toBeLessThanOrEqual(5);
});

test("after a pause a line is passed on at once, and what waits at the end is dropped with its timer", async () => {
  const clock = fakeClock();
  const shown: string[] = [];
  const progress = createProgress(clock, (text) => shown.push(text));
  progress.update("one");
  await clock.advance(10_000);
  progress.update("two");
  progress.update("three");
  expect(shown).toEqual(["one", "two"]);

  progress.dispose();
  progress.update("four");
  await clock.advance(10_000);
  expect(shown).toEqual(["one", "two"]);
  expect(clock.waiting).toEqual([]);
});

test("what is no text is passed over", () => {
  const shown: string[] = [];
  createProgress(fakeClock(), (text) => shown.push(text)).update({ toString: () => "x" } as never);
  expect(shown).toEqual([]);
});
