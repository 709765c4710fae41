import { describe, expect, test } from "vitest";
import { clampWarnings } from "./clamp-warnings.ts";
import { rootSchema } from "./root-schema.ts";

const at = "agents.defaults.memorySearch";
const nested = (path: string, value: unknown) => path.split(".").reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
const warningsOf = (tree: unknown) => clampWarnings(tree, rootSchema.parse(tree));
const valueAt = (tree: unknown, path: string) =>
  path.split(".").reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], tree);

/** Keys with a value out of range and the value in effect; undefined: the default. */
const clamps: Array<[key: string, given: unknown, effective: unknown]> = [
  ["chunking.tokens", 0, 1],
  ["chunking.tokens", -5, 1],
  ["chunking.tokens", 9_000, 8_000],
  ["chunking.tokens", 10.5, 10],
  ["chunking.overlap", -1, 0],
  ["cache.maxEntries", 0, 1],
  ["cache.maxEntries", -7, 1],
  ["query.maxResults", 201, 200],
  ["query.maxResults", 0, 1],
  ["limits.maxResults", 5_000, 200],
  ["query.minScore", -0.01, 0],
  ["query.minScore", 1.5, 1],
  ["query.hybrid.vectorWeight", -1, 0],
  ["query.hybrid.vectorWeight", 7, 1],
  ["query.hybrid.textWeight", -0.5, 0],
  ["query.hybrid.textWeight", 3, 1],
  ["query.hybrid.candidateMultiplier", 0, 1],
  ["query.hybrid.candidateMultiplier", 21, 20],
  ["query.hybrid.candidateMultiplier", 4.9, 4],
  ["query.hybrid.mmr.lambda", -0.1, 0],
  ["query.hybrid.mmr.lambda", 1.1, 1],
  ["query.hybrid.temporalDecay.halfLifeDays", 0, 1],
  ["query.hybrid.temporalDecay.halfLifeDays", 2.7, 2],
  ["query.hybrid.temporalDecay.halfLifeDays", "36h", 1],
];

describe("a number out of its range", () => {
  test.each(clamps)("%s = %j means %j and is told once, from the defaults and from an agent", (key, given, effective) => {
    const memorySearch = nested(key, given);
    const tree = { agents: { defaults: { memorySearch }, list: [{ id: "a" }, { id: "b", memorySearch }] } };
    const { agents } = rootSchema.parse(tree);
    expect(valueAt(agents.defaults.memorySearch, key)).toBe(effective);
    expect(valueAt(agents.list[1]?.memorySearch, key)).toBe(effective);
    const message = `${JSON.stringify(given)} is out of range; a gateway uses ${effective}`;
    expect(warningsOf(tree)).toEqual([
      { path: `${at}.${key}`, message },
      { path: `agents.list.1.memorySearch.${key}`, message },
    ]);
  });

  test.each(["query.minScore", "query.hybrid.mmr.lambda", "query.hybrid.temporalDecay.halfLifeDays", "limits.maxResults"])(
    "%s that is not finite counts as not set",
    (key) => {
      for (const given of [Number.NaN, Number.POSITIVE_INFINITY]) {
        const tree = { agents: { defaults: { memorySearch: nested(key, given) } } };
        expect(valueAt(rootSchema.parse(tree).agents.defaults.memorySearch, key)).toBeUndefined();
        expect(warningsOf(tree)).toEqual([{ path: `${at}.${key}`, message: `${given} is no finite number; a gateway uses the default` }]);
      }
    },
  );
});

test("names that are not known are dropped, each told", () => {
  const memorySearch = { sources: ["notes", "memory"], multimodal: { modalities: ["video"] } };
  const tree = { agents: { defaults: { memorySearch } } };
  const { memorySearch: effective } = rootSchema.parse(tree).agents.defaults;
  expect([effective?.sources, effective?.multimodal?.modalities]).toEqual([["memory"], []]);
  expect(warningsOf(tree)).toEqual([
    { path: `${at}.sources`, message: '"notes" is not known and left out' },
    { path: `${at}.multimodal.modalities`, message: '"video" is not known and left out' },
  ]);
});

describe("an overlap as long as the piece", () => {
  const overlapOf = (defaults: object, own?: object) =>
    warningsOf({
      agents: { defaults: { memorySearch: { chunking: defaults } }, list: own ? [{ id: "a", memorySearch: { chunking: own } }] : [] },
    });

  test("is told with what is used", () => {
    const message = "50 is out of range; a gateway uses 9: one less than chunking.tokens";
    expect(overlapOf({ tokens: 10, overlap: 50 })).toEqual([{ path: `${at}.chunking.overlap`, message }]);
    expect(overlapOf({ overlap: 400 })).toMatchObject([{ message: expect.stringMatching(/^400 .* uses 399/) }]);
  });

  test("is the agent's when its own length is the shorter one", () => {
    expect(overlapOf({ overlap: 50 }, { tokens: 20 })).toMatchObject([
      { path: "agents.list.0.memorySearch.chunking.overlap", message: expect.stringMatching(/^50 .* uses 19/) },
    ]);
  });

  test("that nobody wrote is none of theirs", () => {
    expect(overlapOf({ tokens: 10 })).toEqual([]);
    expect(overlapOf({ overlap: 500 }, {})).toHaveLength(1);
  });
});

test("two weights of 0 are told with those that are used instead", () => {
  const hybrid = { vectorWeight: 0, textWeight: -1 };
  expect(warningsOf({ agents: { defaults: { memorySearch: { query: { hybrid } } } } })).toEqual([
    { path: `${at}.query.hybrid.textWeight`, message: "-1 is out of range; a gateway uses 0" },
    { path: `${at}.query.hybrid`, message: "both weights are 0; vectorWeight 0.7 and textWeight 0.3 are used" },
  ]);
});

test("values in their range are told by nobody", () => {
  const memorySearch = {
    sources: ["sessions", "memory"],
    extraPaths: ["docs", " docs "],
    chunking: { tokens: 100, overlap: 99 },
    query: { minScore: 0, hybrid: { textWeight: 1, vectorWeight: 0, temporalDecay: { halfLifeDays: "7d" } } },
    sync: { intervalMinutes: "1h", watchDebounceMs: "2s" },
    limits: { timeoutMs: "3s" },
  };
  expect(warningsOf({ agents: { defaults: { memorySearch } } })).toEqual([]);
  expect(warningsOf({})).toEqual([]);
});
