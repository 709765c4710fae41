import { afterEach, describe, expect, test } from "vitest";
import type { Tokenizer } from "../index-settings.ts";
import { addToIndex, createTestIndex, type TestIndex } from "../test-index.ts";
import { hybridSearch } from "./hybrid-search.ts";
import type { SearchParams } from "./search-types.ts";

let open: TestIndex[] = [];
afterEach(() => {
  for (const index of open) index.close();
  open = [];
});

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

function index(files: Record<string, string>, tokenizer: Tokenizer = "unicode61") {
  const made = createTestIndex(tokenizer);
  open.push(made);
  addToIndex(made, files);
  const interim: string[][] = [];
  const search = (query: string, { isLate = false, ...over }: Partial<SearchParams> & { isLate?: boolean } = {}) =>
    hybridSearch(
      {
        open: () => made,
        vectors: { kind: "off" },
        deadlineMs: performance.now() + (isLate ? -1 : 60_000),
        now: Date.now,
        interimFromChunks: 0,
        interim: ({ hits }) => void interim.push(hits.map((hit) => hit.path)),
      },
      { ...plain, ...over, query },
    );
  const paths = async (query: string, over: Partial<SearchParams> = {}) => (await search(query, over)).hits.map((hit) => hit.path);
  return { search, paths, interim };
}

const note = (name: string) => `memory/${name}.md`;

test("a store of one file answers, though its score is nearly zero", async () => {
  const { search } = index({ "MEMORY.md": "# Home\n\nThe router stands in the hall cupboard.\n" });
  const { hits } = await search("router");
  expect(hits).toEqual([
    {
      path: "MEMORY.md",
      startLine: 1,
      endLine: 3,
      score: expect.any(Number),
      textScore: expect.any(Number),
      snippet: "# Home\n\nThe router stands in the hall cupboard.",
      source: "memory",
    },
  ]);
  expect(hits[0]?.score).toBeLessThan(0.01);
});

test("a question in plain words finds the note although not all its words are in it", async () => {
  const { paths } = index({
    [note("a")]: "The router stands in the hall cupboard behind the coats.",
    [note("b")]: "Bread, onions, garlic.",
    [note("c")]: "The boiler is serviced each autumn.",
  });
  expect((await paths("Could you please tell me where exactly the router is?"))[0]).toBe(note("a"));
});

test("a chunk with all words comes before one with some of them", async () => {
  const { search } = index({
    [note("a")]: "router router router",
    [note("b")]: "router password admin",
    [note("c")]: "onions",
    [note("d")]: "garlic",
    [note("e")]: "bread",
  });
  expect((await search("router password", { minScore: 0 })).hits.map((h) => h.path)).toEqual([note("b"), note("a")]);
});

test("a heading and a file name weigh more than the same word in the text", async () => {
  const filler = "word ".repeat(40);
  const { paths } = index({
    [note("text")]: `nothing\n\nthe boiler ${filler}`,
    [note("under-heading")]: `# Boiler\n\nthe machine ${filler}`,
    [note("boiler")]: `the machine ${filler}`,
    [note("x1")]: filler,
    [note("x2")]: filler,
    [note("x3")]: filler,
  });
  expect((await paths("boiler")).at(-1)).toBe(note("text"));
  expect(await paths("boiler")).toHaveLength(3);
});

test("the trail of a later chunk is searched, not only the text below it", async () => {
  const long = Array.from({ length: 60 }, (_, i) => `plain sentence number ${i} without anything special in it`).join("\n");
  const { search } = index({ [note("a")]: `# Heating\n\n${long}\n\nthe valve is under the stairs\n` });
  const hits = (await search("heating valve")).hits;
  expect(hits[0]?.snippet).toContain("the valve is under the stairs");
});

test("accents and case make no difference", async () => {
  const { paths } = index({ [note("a")]: "Die Rechnung aus Zürich", [note("b")]: "anderes" });
  expect(await paths("ZURICH rechnung")).toEqual([note("a")]);
});

test("equal hits come in the order of path and line, each time", async () => {
  const files = Object.fromEntries(["d", "b", "a", "c"].map((name) => [note(name), "the same words everywhere"]));
  const { paths } = index(files);
  expect(await paths("words everywhere", { maxResults: 4 })).toEqual([note("a"), note("b"), note("c"), note("d")]);
});

test("a long passage shows the lines where the words are", async () => {
  const { search } = index({ [note("a")]: `${"filler filler filler\n".repeat(60)}the admin address is 192.168.178.1\n` });
  expect((await search("admin address", { maxSnippetChars: 120 })).hits[0]?.snippet).toContain("192.168.178.1");
});

describe.each(["unicode61", "trigram"] as const)("scripts without spaces, %s", (tokenizer) => {
  const files = {
    [note("zh")]: "今天天气很好，我们去北京开会。",
    [note("ja")]: "ルーターは玄関の戸棚にあります。",
    [note("ko")]: "서울에서 회의가 있습니다. 보일러는 지하실에 있다.",
    [note("en")]: "The router is in the hall. Room E4.",
  };

  test.each([
    ["天气", note("zh")],
    ["北京的天气怎么样", note("zh")],
    ["ルーターはどこですか", note("ja")],
    ["玄関", note("ja")],
    ["서울", note("ko")],
    ["보일러가 어디에 있어", note("ko")],
    ["e4 room", note("en")],
  ])("%s finds %s", async (query, path) => {
    const { paths } = index(files, tokenizer);
    expect((await paths(query))[0]).toBe(path);
  });

  test("a term found by LIKE alone has score 1", async () => {
    const { search } = index(files, tokenizer);
    expect((await search("天气")).hits[0]?.score).toBe(1);
  });

  test("a percent sign is no wildcard", async () => {
    const { paths } = index(files, tokenizer);
    expect(await paths("天%好")).not.toContain(note("en"));
  });
});

test("trigram finds parts of words", async () => {
  const { paths } = index({ [note("a")]: "Donaudampfschifffahrt", [note("b")]: "x" }, "trigram");
  expect(await paths("dampfschiff")).toEqual([note("a")]);
});

test("a named score holds as given, the configured one hides no exact hit", async () => {
  const { paths } = index({ [note("a")]: "router" });
  expect(await paths("router")).toEqual([note("a")]);
  expect(await paths("router", { explicit: true, minScore: 0.35 })).toEqual([]);
});

describe("the second step", () => {
  test("is announced with what the first one found", async () => {
    const { search, interim } = index({ [note("a")]: "router hall", [note("b")]: "router", [note("c")]: "x" });
    await search("router hall");
    expect(interim).toEqual([[note("a")]]);
  });

  test("is not announced in a small index, which is searched at once", async () => {
    const made = createTestIndex("unicode61");
    open.push(made);
    addToIndex(made, { [note("a")]: "router hall", [note("b")]: "router" });
    let told = 0;
    const scope = { open: () => made, vectors: { kind: "off" as const }, deadlineMs: performance.now() + 60_000, now: Date.now };
    await hybridSearch({ ...scope, interim: () => void told++ }, { ...plain, query: "router hall" });
    expect(told).toBe(0);
  });

  test("is left out when time is up, and the answer says so", async () => {
    const { search } = index({ [note("a")]: "router hall", [note("b")]: "router", [note("c")]: "x" });
    const late = await search("router hall", { isLate: true });
    expect(late.partial).toBe(true);
    expect(late.hits.map((h) => h.path)).toEqual([note("a")]);
  });

  test("is spared when every word is everywhere and there is enough to show", async () => {
    const common = Object.fromEntries(
      Array.from({ length: 600 }, (_, i) => [note(`n${i}`), i % 60 === 0 ? "alpha beta" : i % 2 ? "alpha" : "beta"]),
    );
    const { search, interim } = index(common);
    expect((await search("alpha beta", { maxResults: 6 })).hits).toHaveLength(6);
    expect(interim).toEqual([]);
    await search("alpha beta", { maxResults: 20 });
    expect(interim).toHaveLength(1);
  });
});
