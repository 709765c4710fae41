import { expect, test } from "vitest";
import { checkedVectors, inIndexOrder, readVector, toUnitVector } from "./vectors.ts";

const bad = expect.objectContaining({ fault: "bad-response" });

test("a vector gets length 1; one without a direction stays as it is", () => {
  expect([...toUnitVector(Float32Array.of(3, 4))]).toEqual([Math.fround(0.6), Math.fround(0.8)]);
  const tiny = Float32Array.of(1e-11, 0);
  expect(toUnitVector(tiny)).toBe(tiny);
  // Its length is 1 but for the last digit of float32.
  const unit = toUnitVector(Float32Array.of(3, 4, 5));
  expect(toUnitVector(unit)).toBe(unit);
  expect([...toUnitVector(Float32Array.of(1.00001, 0))]).toEqual([1, 0]);
});

test("a vector is read from numbers and from base64 of little-endian float32", () => {
  const bytes = Buffer.alloc(8);
  bytes.writeFloatLE(0.5, 0);
  bytes.writeFloatLE(-2, 4);

  expect(readVector(bytes.toString("base64"))).toEqual(Float32Array.of(0.5, -2));
  expect(readVector([0.5, "x"])).toEqual(Float32Array.of(0.5, Number.NaN));
  for (const none of ["", "AAA", "not base64!!", "AAAA", {}, null, 7]) expect(readVector(none)).toBeUndefined();
});

test("checked vectors are as many, as long and as finite as expected", () => {
  const good = [Float32Array.of(0, 2), Float32Array.of(1, 0)];

  expect(checkedVectors(good, { adapter: "a", count: 2, dims: 2 }).map((v) => [...v])).toEqual([
    [0, 1],
    [1, 0],
  ]);
  const wrong: Array<[ReadonlyArray<Float32Array | undefined>, number, number?]> = [
    [good, 1],
    [good, 3],
    [good, 2, 3],
    [[Float32Array.of(1, 0), Float32Array.of(1)], 2],
    [[undefined], 1],
    [[new Float32Array(0)], 1],
    [[Float32Array.of(Number.NaN)], 1],
    [[Float32Array.of(Number.POSITIVE_INFINITY)], 1],
  ];
  for (const [found, count, dims] of wrong) expect(() => checkedVectors(found, { adapter: "a", count, dims })).toThrow(bad);
});

test("items are put into the order of their index, if they have one", () => {
  expect(inIndexOrder([{ index: 1 }, { index: 0 }], "a")).toEqual([{ index: 0 }, { index: 1 }]);
  expect(inIndexOrder([{ v: 1 }, { v: 2 }] as Array<{ v: number; index?: number }>, "a")).toEqual([{ v: 1 }, { v: 2 }]);
  expect(() => inIndexOrder([{ index: 0 }, { index: 0 }], "a")).toThrow(bad);
  expect(() => inIndexOrder([{ index: 0 }, { index: 2 }], "a")).toThrow(bad);
  expect(() => inIndexOrder([{ index: 0 }, {}], "a")).toThrow(bad);
});
