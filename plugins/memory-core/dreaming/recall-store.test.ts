import { expect, test } from "vitest";
import { DAY, noon, testEntry } from "../../../test/fixtures/dreams.ts";
import { type Signal, signalCount, toRecallEntry } from "./recall-entry.ts";
import { relevanceOf } from "./recall-recorder.ts";
import { MAX_ENTRIES, RecallStore } from "./recall-store.ts";

const now = noon("2026-04-10");
const signal = (over: Partial<Signal> = {}): Signal => ({
  ...{ kind: "recall", path: "memory/2026-04-09.md", startLine: 3, endLine: 3, snippet: "The boiler was serviced by Ana" },
  ...{ score: 0.5, query: "boiler", at: now, day: "2026-04-10" },
  ...over,
});

test("evidence adds up under one key", () => {
  const store = new RecallStore();
  store.add(signal());
  store.add(signal({ score: 0.9, query: "who was it", at: now + DAY, day: "2026-04-11" }));
  expect(store.add(signal({ kind: "daily", score: 0.62, query: "d" }))).toMatchObject({
    ...{
      key: expect.stringMatching(/^memory:memory\/2026-04-09\.md:3:3:[0-9a-f]{12}$/),
      recallCount: 2,
      dailyCount: 1,
      groundedCount: 0,
      totalScore: 2.02,
      maxScore: 0.9,
    },
    ...{
      recallDays: ["2026-04-10", "2026-04-11"],
      lastRecalledAt: new Date(now + DAY).toISOString(),
      firstRecalledAt: new Date(now).toISOString(),
    },
    conceptTags: ["boiler", "serviced", "ana"],
  });
  expect(store.entries[0]?.queryHashes).toHaveLength(3);
  expect(store.entries[0]?.queryHashes[0]).toMatch(/^[0-9a-f]{12}$/);
});

test("an ingestion counts once a day, a search each time", () => {
  const store = new RecallStore();
  for (const day of ["2026-04-10", "2026-04-10", "2026-04-11"]) store.add(signal({ kind: "daily", isOncePerDay: true, day }));
  store.add(signal());
  store.add(signal());
  expect(store.entries).toMatchObject([{ dailyCount: 2, recallCount: 2 }]);
});

test("a statement that moved keeps its entry and its key; another one on its old lines has its own", () => {
  const store = new RecallStore();
  const first = store.add(signal());
  expect(store.add(signal({ startLine: 7, endLine: 7 }))).toMatchObject({ key: first?.key, startLine: 7, recallCount: 2 });
  expect(store.size).toBe(1);
  const other = store.add(signal({ snippet: "A ferry leaves at nine" }));
  expect(other?.key).not.toBe(first?.key);
  expect(store.entries.map(signalCount)).toEqual([2, 1]);
});

test("the newest 32 queries and 16 days are kept, and the 2,000 entries that were recalled last", () => {
  const store = new RecallStore();
  for (let i = 0; i < 40; i += 1) store.add(signal({ query: `q${i}`, day: new Date(now + i * DAY).toISOString().slice(0, 10) }));
  expect([store.entries[0]?.queryHashes.length, store.entries[0]?.recallDays.length]).toEqual([32, 16]);
  const many = new RecallStore(
    Array.from({ length: MAX_ENTRIES + 1 }, (_, i) =>
      testEntry({ key: `k${i}`, startLine: i + 1, snippet: `s${i} text`, lastRecalledAt: new Date(now + i).toISOString() }),
    ),
  );
  expect(many.kept().map(({ key }) => key)).not.toContain("k0");
  expect(many.kept()).toHaveLength(MAX_ENTRIES);
});

test("what came from outside once stays known as that", () => {
  const store = new RecallStore();
  store.add(signal({ isUntrusted: true }));
  expect(store.add(signal({ isUntrusted: false }))).toMatchObject({ isUntrusted: true });
});

test("a stored entry that is none, or leads out of the memory, is refused", () => {
  const good = testEntry();
  expect(toRecallEntry(JSON.parse(JSON.stringify(good)))).toEqual(good);
  const wrong = [
    null,
    [],
    {},
    { ...good, recallCount: -1 },
    { ...good, totalScore: "1" },
    { ...good, recallDays: [1] },
    { ...good, lastRecalledAt: "x" },
  ];
  const paths = ["../outside.md", "memory/../../x.md", "/etc/passwd", "notes/a.md", "memory/a.json"].map((path) => ({ ...good, path }));
  for (const value of [...wrong, ...paths]) expect(toRecallEntry(value), JSON.stringify(value)).toBeUndefined();
});

test("a hit by words counts by the share of the query's words, whatever the size of the index; one by meaning by its score", () => {
  const words = ["door", "code"];
  expect(relevanceOf({ score: 0.00001 }, "The door code is 4711", words)).toBe(0.9);
  expect(relevanceOf({ score: 0.00001 }, "The door is green", words)).toBe(0.45);
  expect(relevanceOf({ score: 0.4, vectorScore: 0.5 }, "The door code is 4711", words)).toBe(0.4);
  expect(relevanceOf({ score: 7 }, "x", [])).toBe(1);
});
