import { expect, test } from "vitest";

const page = (path: string) => import(new URL(`./public/core/${path}`, import.meta.url).href);
const { blocksOf, chaptersOf, piecesOf } = await page("turn-blocks.js");

interface Part {
  id: number;
  list: Part[];
}

const turnAt = (seq: number) => ({ key: `r${seq}`, seq, isLive: false, items: [] });
const turnsFrom = (first: number, last: number) => Array.from({ length: (last - first) / 2 + 1 }, (_, i) => turnAt(first + 2 * i));

test("borders of blocks and chapters do not move when older turns are put before them", () => {
  const idsOf = (turns: object[]) => chaptersOf(blocksOf(turns)).map(({ id, list }: Part) => [id, ...list.map((block) => block.id)]);
  const late = idsOf(turnsFrom(80, 200));
  expect(late.map(([id]: number[]) => id)).toEqual([2, 3, 4, 5]);
  expect(idsOf(turnsFrom(2, 200)).slice(-4)).toEqual(late);
});

test("turns that are not stored yet stand in the last block", () => {
  const blocks = blocksOf([turnAt(2), turnAt(4), turnAt(Number.MAX_SAFE_INTEGER)]);
  expect(blocks.map(({ list }: Part) => list.length)).toEqual([1, 2]);
});

test("a turn is drawn in more frames the longer its answers are, within a bound", () => {
  const turn = (...texts: string[]) => [
    { key: "r1", seq: 1, isLive: false, items: texts.map((text) => ({ kind: "text", id: text, text, at: 1 })) },
  ];
  expect(piecesOf(turn())).toBe(3);
  expect(piecesOf(turn("x".repeat(499)))).toBe(3);
  expect(piecesOf(turn("x".repeat(500), "y".repeat(500)))).toBe(5);
  expect(piecesOf(turn("x".repeat(1_000_000)))).toBe(60);
});
