import { describe, expect, test } from "vitest";
import { clusteredVectors, randomVectors, seededRandom } from "../../test-vectors.ts";
import { codeBytes, encode, encodeQuery, queryOf, signsOf } from "./codes.ts";
import { rotated } from "./rotation.ts";
import { RowMemory } from "./row-memory.ts";
import { cosine, hasDirection } from "./similarity.ts";

const product = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
const turned = (vector: Float32Array) => rotated(vector, 1).slice();

test.each([1, 2, 3, 8, 40, 384, 1_000, 1_024, 1_536])("the rotation of vectors of %i components keeps every product", (dims) => {
  const [a, b] = randomVectors(2, dims, seededRandom(dims)) as [Float32Array, Float32Array];
  expect(product(turned(a), turned(b))).toBeCloseTo(product(a, b), 2);
  expect(product(turned(a), turned(a))).toBeCloseTo(product(a, a), 2);
});

test("the rotation spreads what stands in one component over all of them", () => {
  for (const at of [0, 700, 1_535]) {
    const spread = turned(Float32Array.from({ length: 1_536 }, (_, i) => (i === at ? 1 : 0)));
    expect(Math.max(...spread.map(Math.abs))).toBeLessThan(0.2);
  }
});

test("a code depends on the direction alone", () => {
  const [vector] = randomVectors(1, 100, seededRandom(1)) as [Float32Array];
  const code = encode(vector);
  expect(code).toHaveLength(codeBytes(100));
  expect(encode(vector.map((value) => value * 1e5))).toEqual(code);
  expect(encode(vector.map((value) => value * 1e-5))).toEqual(code);
});

test("codes are the same in every process and version: they are stored", () => {
  const [vector] = randomVectors(1, 96, seededRandom(2)) as [Float32Array];
  expect(Buffer.from(encode(vector) ?? []).toString("hex")).toMatchInlineSnapshot(
    `"c5998c65a87595a62b947188488a88376477b964b57568d5567a31499d84c39552651b676bb96c9c738c8a366af8735b00000000000000000000000000000000"`,
  );
});

test("what has no direction has no code and no similarity", () => {
  expect(encode(new Float32Array(4))).toBeUndefined();
  expect(encodeQuery(new Float32Array(4))).toBeUndefined();
  expect(encode(Float32Array.from([Number.NaN, 1]))).toBeUndefined();
  expect(hasDirection(Float32Array.from([1e-12, 0]))).toBe(false);
  expect(cosine(new Float32Array(4), Float32Array.from([1, 0, 0, 0]))).toBe(0);
});

test("signs are one bit a component, and opposite vectors differ in all of them", () => {
  const [vector] = randomVectors(1, 64, seededRandom(3)) as [Float32Array];
  const signs = signsOf(encode(vector) as Uint8Array);
  const opposite = signsOf(encode(vector.map((value) => -value)) as Uint8Array);
  expect(signs).toHaveLength(8);
  expect(opposite).toEqual(signs.map((byte) => ~byte & 255));
});

/** One component holds most of each vector, as some models have it. */
function lopsidedVectors(count: number, dims: number, random: () => number): Float32Array[] {
  return randomVectors(count, dims, random).map((vector) => vector.map((value, i) => (i === 3 ? 20 + value : i < 9 ? 5 * value : value)));
}

describe.each([
  ["clustered", clusteredVectors],
  ["random", randomVectors],
  ["lopsided", lopsidedVectors],
] as const)("of %s vectors", (_name, make) => {
  const dims = 384;
  const rows = 4_000;

  test("the 24 nearest are among the 96 whose codes are nearest", () => {
    const vectors = make(rows + 12, dims, seededRandom(11));
    const memory = new RowMemory(codeBytes(dims), rows);
    for (let slot = 0; slot < rows; slot++) memory.row(slot).set(encode(vectors[slot] as Float32Array) as Uint8Array);

    let found = 0;
    for (const query of vectors.slice(rows)) {
      const best = (scores: ArrayLike<number>, count: number) =>
        Array.from({ length: rows }, (_, slot) => slot)
          .sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0))
          .slice(0, count);
      const near = new Set(best(memory.dots(encodeQuery(query)?.levels as Int8Array, 0, rows).slice(), 96));
      const right = best(
        vectors.slice(0, rows).map((vector) => cosine(query, vector)),
        24,
      );
      found += right.filter((slot) => near.has(slot)).length;
    }

    expect(found / (24 * 12)).toBeGreaterThanOrEqual(0.995);
  });

  test("a stored one as a query finds itself first", () => {
    const vectors = make(500, dims, seededRandom(12));
    const codes = vectors.map((vector) => encode(vector) as Uint8Array);
    const memory = new RowMemory(codeBytes(dims), 500);
    for (const [slot, code] of codes.entries()) memory.row(slot).set(code);
    for (const [slot, code] of codes.entries()) {
      const dots = memory.dots(queryOf(code, dims).levels, 0, 500);
      expect(dots.indexOf(Math.max(...dots))).toBe(slot);
    }
  });
});
