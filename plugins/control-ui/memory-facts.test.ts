import { describe, expect, test } from "vitest";

const { dreamingWords, fromFirstMark, isWorking, markWords, progressWords, scoreWord, sentenceOf, troublesOf, withProgress } = await import(
  new URL("./public/core/memory-facts.js", import.meta.url).href
);

describe("the sentence", () => {
  const status = { files: 214, chunks: 1902, provider: "openai", model: "text-embedding-3-small", custom: { searchMode: "hybrid" } };

  test.each([
    [status, "Search by meaning and words (openai, text-embedding-3-small): 214 files, 1,902 passages."],
    [{ ...status, custom: { searchMode: "vector" } }, "Search by meaning (openai, text-embedding-3-small): 214 files, 1,902 passages."],
    [
      { files: 1, chunks: 1, provider: "none", model: "fts-only", custom: { searchMode: "fts-only" } },
      "Search by words: 1 file, 1 passage.",
    ],
    [
      { ...status, provider: "none", sourceCounts: [{ source: "sessions", files: 14, chunks: 40 }] },
      "Search by meaning and words: 200 files, 14 conversations, 1,902 passages.",
    ],
    [{}, "Search by words: 0 files, 0 passages."],
  ])("%#", (given, sentence) => {
    expect(sentenceOf(given)).toBe(sentence);
  });
});

describe("what is less than it is set to be", () => {
  const ids = (status: object) => troublesOf(status).map(({ id, level }: { id: string; level: string }) => `${level} ${id}`);

  test("nothing when all is well, and when words are a choice", () => {
    expect(ids({ provider: "openai", custom: { searchMode: "hybrid" } })).toEqual([]);
    expect(ids({ provider: "none", requestedProvider: "none", providerError: "no provider", custom: { searchMode: "fts-only" } })).toEqual(
      [],
    );
  });

  test("a missing key turns meaning off, says why and what to do", () => {
    const [trouble] = troublesOf({ provider: "none", requestedProvider: "auto", providerError: "no adapter has credentials" });
    expect(trouble).toMatchObject({ text: "Meaning is off, only words are searched", why: "no adapter has credentials" });
    expect(trouble.fix).toContain("memorySearch.provider");
  });

  test("a provider that answers no more, and the one that stands in", () => {
    expect(troublesOf({ provider: "openai", providerError: "429", custom: { searchMode: "hybrid" } })[0].text).toBe(
      "The embedding provider does not answer",
    );
    const [trouble] = troublesOf({ provider: "voyage", fallback: { from: "openai", reason: "401: key refused" }, providerError: "x" });
    expect(trouble).toMatchObject({ text: "openai does not answer, voyage is used instead", why: "401: key refused" });
  });

  test("an index that is behind, words that are off, vectors without the extension", () => {
    const status = {
      lastError: "disk full",
      fts: { available: false, error: "no fts5" },
      vector: { enabled: true, loadError: "not found" },
    };
    expect(ids(status)).toEqual(["warn words", "bad sync", "info vector"]);
    const leftOut = { documents: [{ path: "memory/a.md", reason: "EACCES" }], total: 1 };
    expect(troublesOf({ leftOut })).toMatchObject([{ id: "left-out", text: "1 file is not in the index", why: "memory/a.md: EACCES" }]);
    expect(ids({ vector: { enabled: false, loadError: "x" } })).toEqual([]);
  });

  test("one reason is said once", () => {
    expect(ids({ lastError: "no key", providerError: "no key", provider: "none", requestedProvider: "auto" })).toEqual(["warn provider"]);
    expect(ids({ lastError: "off", fts: { available: false, error: "off" } })).toEqual(["bad sync"]);
  });
});

describe("progress", () => {
  test("an estimate is made from what the phase has done since it began", () => {
    let progress = withProgress(undefined, { phase: "embed", done: 100, total: 1_902 }, 0);
    expect(progressWords(progress, 1_000)).toBe("Embedding 100 of 1,902");
    progress = withProgress(progress, { phase: "embed", done: 1_204, total: 1_902 }, 60_000);
    expect(progressWords(progress, 60_000)).toBe("Embedding 1,204 of 1,902, about 37 s");
    progress = withProgress(progress, { phase: "write", done: 0, total: 10 }, 61_000);
    expect(progressWords(progress, 61_000)).toBe("Writing 0 of 10");
  });

  test("without a total there is only a word; a count that falls begins anew", () => {
    expect(progressWords(withProgress(undefined, { phase: "scan", done: 0, total: 0 }, 0), 9_000)).toBe("Looking for changes");
    const before = withProgress(undefined, { phase: "embed", done: 50, total: 60 }, 0);
    expect(withProgress(before, { phase: "embed", done: 1, total: 60 }, 5_000)).toMatchObject({ startedAt: 5_000, startedDone: 1 });
  });

  test("done and failed are no work", () => {
    expect(["scan", "embed", "write", "swap", "done", "error"].map((phase) => isWorking({ phase }))).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(isWorking(undefined)).toBe(false);
  });
});

describe("marked words", () => {
  const marked = (text: string, query: string) =>
    markWords(text, query)
      .map((part: string | { mark: string }) => (typeof part === "string" ? part : `[${part.mark}]`))
      .join("");

  test.each([
    ["The router is in the hall", "Where is the router?", "The [router] is in the hall"],
    ["Two routers, one Router, no routerless", "router", "Two [routers], one [Router], no routerless"],
    ["Müllers Garten", "müllers", "[Müllers] Garten"],
    ["路由器在走廊", "路由器", "[路由器]在走廊"],
    ["a b c", "", "a b c"],
    ["to be or not", "to be", "[to] [be] or not"],
    ["x.*+?^{}()|[]\\", ".*+?^{}()|[]\\ x", "[x].*+?^{}()|[]\\"],
    ["nothing here", "router", "nothing here"],
    ["", "router", ""],
  ])("%s / %s", (text, query, shown) => {
    expect(marked(text, query)).toBe(shown);
  });
});

test("a marked word far inside a snippet is brought into sight, at the start of a word", () => {
  const far = `${"filler ".repeat(60)}here is the `;
  const [lead, ...rest] = fromFirstMark([far, { mark: "router" }, " end"]);
  expect(lead.startsWith("…filler ")).toBe(true);
  expect(lead.endsWith("here is the ")).toBe(true);
  expect([lead.length <= 121, rest]).toEqual([true, [{ mark: "router" }, " end"]]);
  expect(fromFirstMark(["short ", { mark: "x" }])).toEqual(["short ", { mark: "x" }]);
  expect(fromFirstMark(["no mark at all".repeat(40)])).toHaveLength(1);
});

test("scores have two places, a way that did not find it has a dash", () => {
  expect([0.714, 1, 0, undefined, Number.NaN].map(scoreWord)).toEqual(["0.71", "1.00", "0.00", "–", "–"]);
});

describe("dreaming", () => {
  const moment = (at: number) => `at ${at}`;
  const place = { running: false, entries: 9, promoted: 2, diary: "DREAMS.md" };
  const lastSweep = { at: 5, staged: 1, promoted: 2, diary: "plain" };

  test("nothing while it is off and was never used", () => {
    expect(dreamingWords({ enabled: false, job: { state: "off" }, workspaces: [place] }, moment)).toBeUndefined();
  });

  test("how it stands, what the last sweep brought, and what is wrong", () => {
    expect(
      dreamingWords({ enabled: true, job: { state: "scheduled", nextRunAt: 7 }, workspaces: [{ ...place, lastSweep }] }, moment),
    ).toEqual({
      state: "On. Next sweep: at 7.",
      last: "Last sweep: at 5, 1 statement staged, 2 kept for good.",
    });
    expect(
      dreamingWords(
        { enabled: true, job: { state: "missing", problem: "no job is run" }, workspaces: [{ ...place, running: true }] },
        moment,
      ),
    ).toEqual({
      state: "A sweep is running.",
      problem: "no job is run",
    });
  });
});
