import { expect, test } from "vitest";
import { createRequestLane } from "./request-lane.ts";

function setup() {
  const started: number[] = [];
  const leaves: Array<() => void> = [];
  const lane = createRequestLane<number>({ maxActive: 2, maxWaiting: 2 }, (request, leave) => {
    started.push(request);
    leaves.push(leave);
  });
  return { lane, started, leaves };
}

test("so many run, some more wait in order, and the next is turned away", () => {
  const { lane, started, leaves } = setup();
  expect([1, 2, 3, 4, 5].map((n) => lane.offer(n))).toEqual([true, true, true, true, false]);
  expect(started).toEqual([1, 2]);
  leaves[1]?.();
  leaves[1]?.();
  expect(started).toEqual([1, 2, 3]);
  expect([lane.offer(6), lane.offer(7)]).toEqual([true, false]);
  leaves[0]?.();
  leaves[2]?.();
  expect(started).toEqual([1, 2, 3, 4, 6]);
});

test("what waits can be forgotten", () => {
  const { lane, started, leaves } = setup();
  for (const n of [1, 2, 3]) lane.offer(n);
  lane.clear();
  for (const leave of leaves) leave();
  expect(started).toEqual([1, 2]);
});
