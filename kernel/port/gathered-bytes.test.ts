import { expect, test } from "vitest";
import { gatherBytes } from "./gathered-bytes.ts";

const bytes = (size: number, offset = 0) => Buffer.from(Array.from({ length: size }, (_, i) => (i + offset) % 251));

test("a body that comes byte by byte is kept in as few buffers as one that comes in large pieces", () => {
  const gathered = gatherBytes();
  const all = bytes(200_000);
  for (let i = 0; i < all.length; i++) gathered.add(all.subarray(i, i + 1));
  expect(gathered.parts()).toBeLessThan(20);
  expect(gathered.joined().equals(all)).toBe(true);
});

test("short and long pieces by turns keep their order, and one long piece is not copied", () => {
  const sizes = [1, 1_024, 1_023, 20_000, 2, 2, 16_384, 1_000, 1_000, 0, 5];
  const pieces = sizes.map((size, i) => bytes(size, i));
  const gathered = gatherBytes();
  for (const piece of pieces) gathered.add(piece);
  expect(gathered.joined().equals(Buffer.concat(pieces))).toBe(true);

  const alone = gatherBytes();
  const [, piece = Buffer.alloc(0)] = pieces;
  alone.add(piece);
  expect(alone.joined()).toBe(piece);
  expect(gatherBytes().joined()).toHaveLength(0);
});
