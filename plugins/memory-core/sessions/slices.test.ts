import { expect, test } from "vitest";
import { createSlices } from "./slices.ts";

/** Slice sizes a reader is asked for when each of 1,000 records costs so many ms. */
async function limitsAt(msPerRow: number, slices: number): Promise<number[]> {
  let now = 0;
  const asked: number[] = [];
  const reading = createSlices(() => now);
  for (let i = 0; i < slices; i++) {
    await reading.read(async (limit) => {
      asked.push(limit);
      now += limit * msPerRow;
      return Array.from({ length: limit });
    });
  }
  return asked;
}

test("small records come in ever larger slices, large ones a few at a time", async () => {
  expect(await limitsAt(0.01, 8)).toEqual([4, 8, 16, 32, 64, 128, 200, 200]);
  expect(await limitsAt(40, 3)).toEqual([4, 4, 4]);
  expect(await limitsAt(0.1, 6)).toEqual([4, 8, 16, 32, 32, 32]);
});

test("only a slice with nothing in it is the last one: a page of the store may end at its size", async () => {
  const slices = createSlices();
  await slices.read(async () => [1, 2, 3, 4]);
  expect([slices.rows, slices.isLast]).toEqual([4, false]);
  await slices.read(async (limit) => Array.from({ length: limit }), 2);
  expect([slices.rows, slices.isLast]).toEqual([2, false]);
  await slices.read(async () => [1], 2);
  expect([slices.rows, slices.isLast]).toEqual([1, false]);
  await slices.read(async () => []);
  expect([slices.rows, slices.isLast]).toEqual([0, true]);
});
