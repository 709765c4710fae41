import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { mapLimited } from "./map-limited.ts";

test("results stand in the order of the items, and no more calls than the limit are at work together", async () => {
  let atWork = 0;
  let most = 0;
  const results = await mapLimited([5, 1, 4, 2, 3], 2, async (turns) => {
    atWork += 1;
    most = Math.max(most, atWork);
    for (let i = 0; i < turns; i++) await nextTurn();
    atWork -= 1;
    return turns * 10;
  });
  expect([results, most]).toEqual([[50, 10, 40, 20, 30], 2]);
});

test("nothing gives nothing, and a rejection is passed on", async () => {
  expect(await mapLimited([], 2, async () => 1)).toEqual([]);
  await expect(mapLimited([1, 2], 2, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
});
