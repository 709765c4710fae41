import { eventually } from "svc/sdk/testing";
import { afterEach, describe, expect, test } from "vitest";
import { addToIndex, createTestIndex, type TestIndex } from "../test-index.ts";
import type { SearchReply } from "../worker-protocol.ts";
import { hybridSearch, type VectorSide } from "./hybrid-search.ts";
import type { SearchParams } from "./search-types.ts";

let open: TestIndex[] = [];
afterEach(() => {
  for (const index of open) index.close();
  open = [];
});

const note = (name: string) => `memory/${name}.md`;
const plain: SearchParams = {
  query: "",
  maxResults: 6,
  minScore: 0.35,
  explicit: false,
  sources: ["memory"],
  candidateMultiplier: 4,
  maxSnippetChars: 700,
  hybrid: { enabled: true, vectorWeight: 0.7, textWeight: 0.3 },
  mmr: { enabled: false, lambda: 0.7 },
  temporalDecay: { enabled: false, halfLifeDays: 30 },
};

/** A direction in the plane: equal angles are equal meanings. */
const at = (degrees: number, length = 1) => {
  const angle = (degrees * Math.PI) / 180;
  return Float32Array.from([length * Math.cos(angle), length * Math.sin(angle), 0, 0]);
};

interface Note {
  text: string;
  degrees?: number;
  mtime?: number;
}

function fill(notes: Record<string, Note>, index = createTestIndex(), source: "memory" | "sessions" = "memory"): TestIndex {
  if (!open.includes(index)) open.push(index);
  addToIndex(index, Object.fromEntries(Object.entries(notes).map(([path, { text }]) => [path, text])), {
    source,
    vectorOf: (_text, path) => (notes[path]?.degrees === undefined ? undefined : at(notes[path].degrees ?? 0)),
    mtimeOf: (path) => notes[path]?.mtime ?? 0,
  });
  return index;
}

interface Asking extends Partial<SearchParams> {
  vectors?: VectorSide;
  timeoutMs?: number;
  now?: number;
  interim?: SearchReply[];
  openNow?(): TestIndex | undefined;
}

const embedsAs = (vector: Float32Array): VectorSide => ({ kind: "ready", embedQuery: () => Promise.resolve(vector) });

function ask(index: TestIndex, query: string, asking: Asking = {}): Promise<SearchReply> {
  const { vectors = embedsAs(at(0)), timeoutMs = 60_000, now = Date.now(), interim = [], openNow, ...params } = asking;
  return hybridSearch(
    {
      open: openNow ?? (() => index),
      vectors,
      deadlineMs: performance.now() + timeoutMs,
      now: () => now,
      interim: (reply) => void interim.push(reply),
    },
    { ...plain, ...params, query },
  );
}

const pathsOf = (reply: SearchReply) => reply.hits.map((hit) => hit.path);

describe("both legs", () => {
  const notes = {
    [note("near")]: { text: "my car is fast", degrees: 5 },
    [note("far")]: { text: "the automobile museum", degrees: 85 },
    [note("both")]: { text: "a quick automobile", degrees: 30 },
    ...Object.fromEntries(Array.from({ length: 8 }, (_, i) => [note(`other${i}`), { text: `onions ${i}`, degrees: 180 }])),
  };

  test("give the weighted sum of their scores, and show both", async () => {
    const reply = await ask(fill(notes), "automobile");
    expect(reply).toMatchObject({ mode: "hybrid", partial: false });
    expect(reply.degraded).toBeUndefined();
    expect(pathsOf(reply)).toEqual([note("both"), note("near"), note("far")]);
    for (const { score, vectorScore = 0, textScore = 0 } of reply.hits) expect(score).toBeCloseTo(0.7 * vectorScore + 0.3 * textScore, 9);
    expect(reply.hits[1]?.textScore).toBeUndefined();
    expect(reply.hits[1]?.vectorScore).toBeCloseTo(Math.cos((5 * Math.PI) / 180), 5);
  });

  test("of weights 7 and 3 weigh as 0.5 and 0.5, since each is cut to 1; two zeros are the defaults", async () => {
    const index = fill(notes);
    const score = async (vectorWeight: number, textWeight: number) =>
      (await ask(index, "automobile", { hybrid: { enabled: true, vectorWeight, textWeight } })).hits.find(
        (hit) => hit.path === note("both"),
      )?.score;
    expect(await score(7, 3)).toBe(await score(0.5, 0.5));
    expect(await score(0, 0)).toBe(await score(0.7, 0.3));
  });

  test("show hits of words below the threshold in free places, and none of meaning alone", async () => {
    const reply = await ask(fill(notes), "onions", { vectors: embedsAs(at(0)), minScore: 0.9 });
    expect(pathsOf(reply).every((path) => path.startsWith(note("other").slice(0, -3)))).toBe(true);
    expect(reply.hits).toHaveLength(6);
  });

  test("hold to a score that the caller names", async () => {
    const reply = await ask(fill(notes), "automobile", { explicit: true, minScore: 0.65 });
    expect(pathsOf(reply)).toEqual([note("both"), note("near")]);
  });

  test("look only into the sources that are asked for", async () => {
    const index = fill({ "sessions/s1": { text: "User: the automobile", degrees: 0 } }, fill(notes), "sessions");
    expect(pathsOf(await ask(index, "automobile", { sources: ["sessions"] }))).toEqual(["sessions/s1"]);
    expect(pathsOf(await ask(index, "automobile"))).not.toContain("sessions/s1");
    expect(pathsOf(await ask(index, "automobile", { sources: ["memory", "sessions"] }))[0]).toBe("sessions/s1");
    expect(pathsOf(await ask(index, "automobile quick", { sources: ["sessions"], vectors: { kind: "off" } }))).toEqual(["sessions/s1"]);
  });
});

describe("one leg", () => {
  const notes = {
    [note("words")]: { text: "router router", degrees: 80 },
    [note("meaning")]: { text: "the box in the hall", degrees: 10 },
  };

  test("hybrid switched off is vectors alone, by their own score", async () => {
    const reply = await ask(fill(notes), "router", { hybrid: { ...plain.hybrid, enabled: false } });
    expect(reply.mode).toBe("vector");
    expect(pathsOf(reply)).toEqual([note("meaning")]);
    expect(reply.hits[0]?.score).toBe(reply.hits[0]?.vectorScore);
  });

  test("no provider by choice is words alone, and nothing is missing", async () => {
    const reply = await ask(fill(notes), "router", { vectors: { kind: "off" } });
    expect(reply).toMatchObject({ mode: "fts-only", partial: false });
    expect(reply.degraded).toBeUndefined();
    expect(pathsOf(reply)).toEqual([note("words")]);
  });

  test("a provider that is missing is told", async () => {
    const reply = await ask(fill(notes), "router", { vectors: { kind: "absent", reason: "the key is missing" } });
    expect(reply.degraded).toBe("only words were searched: the key is missing");
  });

  test.each([
    ["fails", () => Promise.reject(new Error("openai: 429")), "openai: 429"],
    ["has another length", () => Promise.resolve(new Float32Array(5).fill(1)), "length 4"],
  ])("a query that %s leaves the words, and says why", async (_name, embedQuery, said) => {
    for (const enabled of [true, false]) {
      const reply = await ask(fill(notes), "router", { vectors: { kind: "ready", embedQuery }, hybrid: { ...plain.hybrid, enabled } });
      expect(reply).toMatchObject({ mode: "fts-only", partial: false, degraded: expect.stringContaining(said) });
      expect(pathsOf(reply)).toEqual([note("words")]);
    }
  });

  test("an index without vectors says so", async () => {
    const reply = await ask(fill({ [note("a")]: { text: "router" } }), "router");
    expect(reply.degraded).toContain("no passage has a vector yet");
  });

  test("a query that points nowhere finds words only", async () => {
    const reply = await ask(fill(notes), "router", { vectors: embedsAs(new Float32Array(4)) });
    expect(pathsOf(reply)).toEqual([note("words")]);
  });
});

describe("time", () => {
  const notes = { [note("a")]: { text: "router", degrees: 0 } };

  test("running out leaves the words found so far, and the embedding is given up", async () => {
    const seen: AbortSignal[] = [];
    const embedQuery = (_text: string, signal: AbortSignal) => {
      seen.push(signal);
      return new Promise<Float32Array>(() => undefined);
    };
    const reply = await ask(fill(notes), "router", { vectors: { kind: "ready", embedQuery }, timeoutMs: 20 });
    expect(reply).toMatchObject({ mode: "fts-only", partial: true, degraded: expect.stringContaining("not embedded in time") });
    expect(pathsOf(reply)).toEqual([note("a")]);
    expect(seen.map((signal) => signal.aborted)).toEqual([true]);
  });

  test("the words are searched while the query is being embedded, and told before the answer", async () => {
    const interim: SearchReply[] = [];
    let finish: (vector: Float32Array) => void = () => undefined;
    const embedQuery = () =>
      new Promise<Float32Array>((resolve) => {
        finish = resolve;
      });
    const reply = ask(fill(notes), "router", { vectors: { kind: "ready", embedQuery }, interim });
    await expect.poll(() => interim.map(pathsOf).at(-1)).toEqual([note("a")]);
    expect(interim.every((one) => one.partial && one.degraded?.startsWith("only words were searched"))).toBe(true);
    finish(at(0));
    expect((await reply).mode).toBe("hybrid");
  });
});

test("an index that is closed while the query is embedded tells nothing more", async () => {
  const index = fill({ [note("a")]: { text: "router", degrees: 0 } });
  let current: typeof index | undefined = index;
  const interim: SearchReply[] = [];
  const embedQuery = () => new Promise<Float32Array>((resolve) => setTimeout(resolve, 60, at(0)));
  const reply = ask(index, "router", { vectors: { kind: "ready", embedQuery }, openNow: () => current, interim });
  current = undefined;
  expect((await reply).hits).toEqual([]);
  expect(interim).toEqual([]);
});

test("an index that is replaced meanwhile answers with its own rows", async () => {
  const old = fill({ [note("old")]: { text: "router", degrees: 0 } });
  const fresh = fill({ [note("x")]: { text: "onions", degrees: 170 }, [note("new")]: { text: "router", degrees: 0 } });
  let current = old;
  const embedQuery = async () => {
    current = fresh;
    return at(0);
  };
  const reply = await ask(old, "router", { vectors: { kind: "ready", embedQuery }, openNow: () => current });
  expect(pathsOf(reply)).toEqual([note("new")]);
});

test("an index that is gone meanwhile answers with nothing", async () => {
  const index = fill({ [note("a")]: { text: "router", degrees: 0 } });
  let current: TestIndex | undefined = index;
  const embedQuery = async () => {
    current = undefined;
    return at(0);
  };
  expect((await ask(index, "router", { vectors: { kind: "ready", embedQuery }, openNow: () => current })).hits).toEqual([]);
});

test("age halves the score of dated notes and other files, and leaves what stays true", async () => {
  const now = Date.UTC(2026, 3, 30);
  const day = 86_400_000;
  const text = "router in the hall";
  const index = fill({
    "memory/2026-03-31.md": { text, degrees: 0 },
    "memory/plain.md": { text, degrees: 0, mtime: now - 400 * day },
    "MEMORY.md": { text, degrees: 0, mtime: now - 400 * day },
    "../team/api.md": { text, degrees: 0, mtime: now - 60 * day },
  });
  const aged = await ask(index, "router", { now, minScore: 0, temporalDecay: { enabled: true, halfLifeDays: 30 } });
  const fresh = await ask(index, "router", { now, minScore: 0 });
  const share = Object.fromEntries(
    aged.hits.map((hit) => [hit.path, Math.round((100 * hit.score) / (fresh.hits.find((one) => one.path === hit.path)?.score ?? 0))]),
  );
  expect(share).toEqual({ "memory/2026-03-31.md": 50, "memory/plain.md": 100, "MEMORY.md": 100, "../team/api.md": 25 });
  expect(pathsOf(aged).slice(-2)).toEqual(["memory/2026-03-31.md", "../team/api.md"]);

  const words = await ask(index, "router", { now, vectors: { kind: "off" }, temporalDecay: { enabled: true, halfLifeDays: 30 } });
  expect(pathsOf(words).at(-1)).toBe("../team/api.md");
});

test("diversity puts what is new before what repeats, before the cut, and leaves the scores", async () => {
  const index = fill({
    [note("a1")]: { text: "the router stands in the hall cupboard", degrees: 1 },
    [note("a2")]: { text: "the router stands in the hall cupboard now", degrees: 2 },
    [note("a3")]: { text: "the router stands in the hall cupboard still", degrees: 3 },
    [note("b")]: { text: "its password is written below the lamp", degrees: 20 },
    [note("c")]: { text: "onions and garlic", degrees: 90 },
  });
  const plainOrder = await ask(index, "router", { maxResults: 2 });
  const diverse = await ask(index, "router", { maxResults: 2, mmr: { enabled: true, lambda: 0.5 } });
  expect(pathsOf(plainOrder)).toEqual([note("a1"), note("a2")]);
  expect(pathsOf(diverse)).toEqual([note("a1"), note("b")]);
  expect(diverse.hits[0]?.score).toBe(plainOrder.hits[0]?.score);
});

test("two runs of equal passages have the same order", async () => {
  const notes = Object.fromEntries(["d", "b", "c", "a"].map((name) => [note(name), { text: "the same words", degrees: 0 }]));
  expect(pathsOf(await ask(fill(notes), "same words"))).toEqual(["a", "b", "c", "d"].map(note));
});

test("vectors are read into memory while the question is embedded", async () => {
  const index = fill({ [note("hall")]: { text: "the router stands in the hall", degrees: 0 } });
  const embedQuery = async () => {
    await eventually(() => index.vectors.isLoaded);
    return at(0);
  };
  expect(await ask(index, "router", { vectors: { kind: "ready", embedQuery } })).toMatchObject({ mode: "hybrid" });
});
