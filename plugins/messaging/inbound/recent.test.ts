import { expect, test } from "vitest";
import { Recent } from "./recent.ts";

test("the 2,001st entry takes the place of the oldest, and one that is set again is new", () => {
  const recent = new Recent<number>();
  for (let i = 0; i < 2_000; i++) recent.set(`${i}`, i);
  recent.set("0", 7);
  recent.set("2000", 2_000);
  expect(["0", "1", "2", "2000"].map((key) => recent.get(key))).toEqual([7, undefined, 2, 2_000]);
});
