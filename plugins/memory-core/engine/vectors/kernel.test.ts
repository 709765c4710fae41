import { expect, test } from "vitest";
import { assembleVectorKernel } from "../../../../test/tools/vector-kernel.ts";
import { seededRandom } from "../../test-vectors.ts";
import { BestRows } from "./best-rows.ts";
import { hasVectorKernel, KERNEL_BASE64 } from "./kernel.ts";
import { cosine, hasDirection, quantise } from "./quantise.ts";
import { RowMemory } from "./row-memory.ts";

test("the module is what its text says", async () => {
  expect(Buffer.from(KERNEL_BASE64, "base64")).toEqual(Buffer.from(await assembleVectorKernel()));
  expect(hasVectorKernel()).toBe(true);
});

test.each([1, 16, 31, 32, 33, 384, 1_536])("dot products and differing bits of rows of %i bytes are right", (length) => {
  const random = seededRandom(length);
  const rows = Array.from({ length: 70 }, () => Int8Array.from({ length }, () => Math.floor(random() * 255) - 127));
  const query = Int8Array.from({ length }, () => Math.floor(random() * 255) - 127);
  const memory = new RowMemory(length, 10);
  for (const [slot, row] of rows.entries()) {
    memory.reserve(slot + 1);
    memory.row(slot).set(row);
  }

  const dots = [...memory.dots(Int16Array.from(query), 0, 70)];
  const differing = [...memory.differing(new Uint8Array(query.buffer), 0, 70)];

  expect(dots).toEqual(rows.map((row) => row.reduce((sum, value, i) => sum + value * (query[i] ?? 0), 0)));
  expect(differing).toEqual(rows.map((row) => row.reduce((sum, value, i) => sum + bitsOf((value ^ (query[i] ?? 0)) & 255), 0)));
});

function bitsOf(byte: number): number {
  return [...byte.toString(2)].filter((bit) => bit === "1").length;
}

test("the best rows are the best of all, in order, and of equal ones the first", () => {
  const random = seededRandom(1);
  const scores = Array.from({ length: 1_000 }, () => Math.floor(random() * 50));
  const best = new BestRows(20);
  for (const [key, score] of scores.entries()) best.add(key, score);
  const right = scores.map((score, key) => ({ key, score })).sort((a, b) => b.score - a.score || a.key - b.key);
  expect(best.sorted().map((row) => row.score)).toEqual(right.slice(0, 20).map((row) => row.score));
  const none = new BestRows(0);
  none.add(1, 1);
  expect(none.sorted()).toEqual([]);
});

test("a vector of any length has the bytes of its direction", () => {
  const vector = Float32Array.from([3, -4, 0, 0]);
  expect([...(quantise(vector) ?? [])]).toEqual([30, -41, 0, 0]);
  expect([...(quantise(vector.map((value) => value * 1e5)) ?? [])]).toEqual([30, -41, 0, 0]);
  expect([...(quantise(Float32Array.from({ length: 100 }, (_, i) => (i === 0 ? 1 : 0))) ?? [])][0]).toBe(127);
});

test("what has no direction has no similarity", () => {
  expect(quantise(new Float32Array(4))).toBeUndefined();
  expect(quantise(Float32Array.from([Number.NaN, 1]))).toBeUndefined();
  expect(hasDirection(Float32Array.from([1e-12, 0]))).toBe(false);
  expect(cosine(new Float32Array(4), Float32Array.from([1, 0, 0, 0]))).toBe(0);
});
