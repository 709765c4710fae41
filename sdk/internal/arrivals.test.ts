import { expect, test } from "vitest";
import { arrivalsOf, inArrivals, itemsOf } from "./arrivals.ts";

async function listed<T>(items: AsyncIterable<T>): Promise<T[]> {
  const out: T[] = [];
  for await (const item of items) out.push(item);
  return out;
}

async function* mixed() {
  yield [1, 2];
  yield 3;
  yield [];
}

test("a stream in arrivals is read item by item, or as they arrive", async () => {
  expect(await listed(inArrivals<number>(mixed))).toEqual([1, 2, 3]);
  expect(await listed(arrivalsOf(inArrivals<number>(mixed)))).toEqual([[1, 2], 3, []]);
});

test("a stream that knows no arrivals is read as it is", async () => {
  async function* plain() {
    yield "a";
  }
  const arrived = await listed(arrivalsOf(plain()));
  expect(arrived).toEqual(["a"]);
  expect(arrived.map(itemsOf)).toEqual([["a"]]);
});

test("a reader that leaves in the middle of an arrival ends the stream", async () => {
  let hasEnded = false;
  const stream = inArrivals<number>(async function* () {
    try {
      yield [1, 2, 3];
    } finally {
      hasEnded = true;
    }
  });
  for await (const item of stream) if (item === 2) break;
  expect(hasEnded).toBe(true);
});
