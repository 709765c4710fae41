import { eventually } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { wordVector } from "../test-host.ts";
import { addToIndex, createTestIndex, type TestIndex } from "../test-index.ts";
import { IDLE_MS, watchIdleVectors } from "./idle-vectors.ts";

let index: TestIndex;
beforeEach(async () => {
  index = createTestIndex();
  addToIndex(index, { "a.md": "the boiler hums", "b.md": "a train leaves" }, { vectorOf: (text) => wordVector(text) });
  await load();
});
afterEach(() => index.close());

async function load(): Promise<void> {
  await search();
  await eventually(() => index.vectors.isLoaded);
}

const search = () => index.vectors.search(wordVector("boiler hums"), 1, ["memory"]);

function look({ isHeld, idleMs = IDLE_MS }: { isHeld: boolean; idleMs?: typeof IDLE_MS }): number {
  let releases = 0;
  const idle = watchIdleVectors({ opened: () => index, isHeld: () => isHeld, released: () => void releases++ }, idleMs);
  idle.look();
  idle.look();
  idle.close();
  return releases;
}

test("vectors that were searched just now stay in memory, even when that is short", () => {
  expect([look({ isHeld: false }), look({ isHeld: true }), index.vectors.isLoaded]).toEqual([0, 0, true]);
});

test.each([
  ["a while ago leave it", false, { rule: 0, held: IDLE_MS.held }],
  ["some seconds ago leave it when it is short", true, { rule: IDLE_MS.rule, held: 0 }],
])("vectors that were searched %s, once, and the next search reads them again", async (_, isHeld, idleMs) => {
  const found = await search();
  expect(look({ isHeld, idleMs })).toBe(1);
  expect(index.vectors.isLoaded).toBe(false);
  await load();
  expect(await search()).toEqual(found);
});
