import { expect, test } from "vitest";
import { mapInTurns } from "./in-turns.ts";

test("a long piece of work lets others have their turn, and ends in order", async () => {
  let turns = 0;
  const others = setInterval(() => turns++, 1);
  const spin = (item: number, index: number) => {
    const until = performance.now() + 3;
    while (performance.now() < until);
    return item * 10 + index;
  };

  expect(await mapInTurns([1, 2, 3, 4, 5, 6, 7, 8, 9], spin)).toEqual([10, 21, 32, 43, 54, 65, 76, 87, 98]);

  clearInterval(others);
  expect(turns).toBeGreaterThan(0);
});
