import { fakeClock } from "svc/sdk/testing";
import { expect, test } from "vitest";
import { RefusalCount } from "./refusals.ts";

test("refused calls of clients are counted by the minute", async () => {
  const clock = fakeClock();
  const count = new RefusalCount(clock);
  expect([count.next(), count.next()]).toEqual([1, 2]);
  await clock.advance(59_999);
  expect(count.next()).toBe(3);
  await clock.advance(1);
  expect(count.next()).toBe(1);
});
