import { describe, expect, test } from "vitest";

const load = (path: string) => import(new URL(`./public/core/${path}`, import.meta.url).href);
const { charts, createRing, EVERY_MS, fromZero, lastMinute, sentenceOf, summaryOf, waitingRuns } = await load("figures-facts.js");
const { clock } = await load("format.js");
const { daysSentence, tokensByDay } = await load("usage-facts.js");

const NOW = Date.parse("2026-11-01T14:00:00Z");

describe("a ring of points", () => {
  test("keeps the newest ones, in order, and null where nothing was measured", () => {
    const ring = createRing(["delay", "rss"], 3);
    for (let i = 0; i < 5; i += 1) ring.push(NOW + i * EVERY_MS, i === 3 ? { rss: 9 } : { delay: i });
    expect(ring.column("delay")).toEqual({ times: [2, 3, 4].map((i) => NOW + i * EVERY_MS), values: [2, null, 4] });
    expect(ring.column("rss").values).toEqual([null, 9, null]);
  });

  test("has a gap where a point comes late, and begins anew when the clock was set back", () => {
    const ring = createRing(["delay"]);
    ring.push(NOW, { delay: 1 });
    ring.push(NOW + 60_000, { delay: 2 });
    expect(ring.column("delay")).toEqual({ times: [NOW, NOW + EVERY_MS, NOW + 60_000], values: [1, null, 2] });
    ring.push(NOW - 1, { delay: 3 });
    expect(ring.column("delay")).toEqual({ times: [NOW - 1], values: [3] });
  });
});

test("a sentence says the newest value, and the largest with its time where that is another one", () => {
  const [delay] = charts;
  const times = [NOW, NOW + 5_000, NOW + 10_000];
  expect(sentenceOf(delay, { times, values: [4, 38.4, null] })).toBe("38 ms.");
  expect(sentenceOf(delay, { times, values: [38.4, null, 4.25] })).toBe(`4.3 ms, at most 38 ms at ${clock(NOW)}.`);
  expect(sentenceOf(delay, { times: [], values: [] })).toBe("Not measured yet.");
  expect(summaryOf({ times, values: [0, 0, 0] })).toEqual({ last: 0, most: 0, mostAt: NOW });
});

test("runs and tokens of the last minute are those of the last minute, and unknown until a whole one was counted", () => {
  const ended = [
    { at: NOW - 61_000, tokens: 1_000 },
    { at: NOW - 59_000, tokens: 20 },
    { at: NOW, tokens: 3 },
  ];
  expect(lastMinute(ended, { now: NOW, since: NOW - 60_000 })).toEqual({ runs: 2, tokens: 23 });
  expect(lastMinute(ended, { now: NOW, since: NOW - 59_999 })).toEqual({});
});

test("runs wait that were accepted and do not work", () => {
  expect(
    waitingRuns([{ status: "running", activeRunIds: ["a", "b"] }, { status: "queued", activeRunIds: ["c"] }, { status: "done" }]),
  ).toBe(2);
});

test("an axis begins at zero, also when there is nothing to show", () => {
  expect([fromZero(100), fromZero(0), fromZero(null)]).toEqual([
    [0, 100 * 1.1],
    [0, 1],
    [0, 1],
  ]);
});

test("days without use are days with no tokens", () => {
  const row = (name: string, input: number) => ({
    name,
    runs: 1,
    replays: 0,
    errors: 0,
    input,
    output: 1,
    cacheRead: 0,
    cacheWrite: 0,
    unpriced: 0,
  });
  const known = tokensByDay({ from: "2026-10-30", to: "2026-11-02", by: "day", rows: [row("2026-11-01", 9), row("2026-10-30", 4)] });
  expect(known.tokens).toEqual([5, 0, 10, 0]);
  expect(known.days.map((at: number) => new Date(at).getDate())).toEqual([30, 31, 1, 2]);
  expect(daysSentence(known, (at: number) => String(new Date(at).getDate()))).toBe("2 days with use, at most 10 tokens on 1.");
  expect(daysSentence({ days: [NOW], tokens: [0] }, String)).toBe("No tokens on any of these days.");
});
