import { expect, test } from "vitest";
import { assembleVectorKernel } from "../../../../test/tools/vector-kernel.ts";
import { seededRandom } from "../../test-vectors.ts";
import { BestRows } from "./best-rows.ts";
import { hasVectorKernel, KERNEL_BASE64 } from "./kernel.ts";
import { RowMemory } from "./row-memory.ts";

test("the module is what its text says", async () => {
  expect(Buffer.from(KERNEL_BASE64, "base64")).toEqual(Buffer.from(await assembleVectorKernel()));
  expect(hasVectorKernel()).toBe(true);
});

test.each([1, 16, 31, 32, 33, 192, 768])("dot products and differing bits of rows of %i bytes are right", (length) => {
  const random = seededRandom(length);
  const rows = Array.from({ length: 70 }, () => Uint8Array.from({ length }, () => Math.floor(random() * 256)));
  const stride = Math.ceil(length / 32) * 32;
  const query = Int8Array.from({ length: 2 * stride }, () => Math.floor(random() * 255) - 127);
  const memory = new RowMemory(length, 10);
  for (const [slot, row] of rows.entries()) {
    memory.reserve(slot + 1);
    memory.row(slot).set(row);
  }

  const dots = [...memory.dots(query, 0, 70)];
  const signs = rows[0] ?? new Uint8Array();
  const differing = [...memory.differing(signs, 0, 70)];

  expect(dots).toEqual(rows.map((row) => row.reduce((sum, byte, i) => sum + productOf(byte, i, query), 0)));
  expect(differing).toEqual(rows.map((row) => row.reduce((sum, byte, i) => sum + bitsOf(byte ^ (signs[i] ?? 0)), 0)));
});

test("the largest products of all fit", () => {
  const memory = new RowMemory(768, 2);
  memory.row(0).fill(255);
  memory.row(1).fill(255);
  expect([...memory.dots(new Int8Array(1_536).fill(-127), 0, 2)]).toEqual([-127 * 15 * 1_536, -127 * 15 * 1_536]);
});

/** Part of one byte: its low half is the component `i` of its 32, the high half the component `i + 16`. */
function productOf(byte: number, at: number, query: Int8Array): number {
  const first = (at >> 4) * 32 + (at & 15);
  return (byte & 15) * (query[first] ?? 0) + (byte >> 4) * (query[first + 16] ?? 0);
}

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
