import { afterEach, expect, test } from "vitest";
import { addToIndex, createTestIndex, type TestIndex } from "../test-index.ts";
import type { TermGroup } from "./query-terms.ts";
import { rerank } from "./rerank.ts";

let open: TestIndex[] = [];
afterEach(() => {
  for (const index of open) index.close();
  open = [];
});

const filler = Array.from({ length: 60 }, (_, i) => `plain${i}`).join(" ");
const others = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`memory/other${i}.md`, `nothing of interest ${filler}`]));
const group = (word: string, forms: Record<string, number> = {}): TermGroup => ({
  word,
  forms: new Map(Object.entries({ [word]: 1, ...forms })),
  passages: 2,
});

/** Paths in the order of the second ranking, all of them equal in the first one. */
function ranked(files: Record<string, string>, groups: TermGroup[], chunking?: { tokens: number; overlap: number }): string[] {
  const index = createTestIndex();
  open.push(index);
  addToIndex(index, { ...files, ...others }, chunking ? { chunking } : {});
  const rows = index.db.prepare("SELECT rowid, path, start_line AS line FROM chunks").all() as Array<{
    rowid: number;
    path: string;
    line: number;
  }>;
  const named = rows.filter(({ path }) => path in files);
  const found = rerank(index.db, groups, { rows: named.map(({ rowid }) => ({ rowid, score: 0.5, exact: false })), chunks: index.chunks });
  return found.map(({ rowid }) => rows.find((row) => row.rowid === rowid)).map((row) => `${row?.path}:${row?.line}`);
}

test("a word in a heading, in the trail or in the path weighs more than in the text, and a comment in code is no heading", () => {
  const first = (one: string, other: string, path = "memory/b.md") => ranked({ "memory/a.md": one, [path]: other }, [group("boiler")])[0];
  const text = `start\n\nthe boiler ${filler}`;
  expect(first(text, `start\n\n# Boiler\n\nit ${filler}`)).toBe("memory/b.md:1");
  expect(first(`\`\`\`\n# boiler\n\`\`\`\n${filler}`, `start\n\n# boiler\n\n${filler}`)).toBe("memory/b.md:1");
  expect(first(text, text, "memory/boiler.md")).toBe("memory/boiler.md:1");
});

test("the heading path above a passage counts", () => {
  const below = (heading: string) => `${heading}\n\n${filler}\n${filler}`;
  const found = ranked({ "memory/a.md": below("start"), "memory/b.md": below("# Boiler") }, [group("boiler")], { tokens: 125, overlap: 0 });
  expect(found.indexOf("memory/b.md:4")).toBeLessThan(found.indexOf("memory/a.md:4"));
});

test("words of the question side by side come before the same words apart", () => {
  const apart = `retry one two three four five six seven eight nine ten eleven twelve policy ${filler}`;
  const together = `one two three four five six seven eight nine ten eleven twelve retry policy ${filler}`;
  expect(ranked({ "memory/a.md": apart, "memory/b.md": together }, [group("retry"), group("policy")])[0]).toBe("memory/b.md:1");
});

test("one passage with all words comes before one with a word many times", () => {
  const groups = [group("retry"), group("policy"), group("proxy")];
  const all = `${filler} retry ${filler} policy ${filler} proxy`;
  expect(ranked({ "memory/a.md": `retry retry retry retry ${filler}`, "memory/b.md": all }, groups)[0]).toBe("memory/b.md:1");
});

test("a passage beside a better one of its file comes after an equal one of another file", () => {
  const second = `boiler ${filler}`;
  const files = { "memory/a.md": `boiler boiler ${filler}\n${second}`, "memory/b.md": second };
  expect(ranked(files, [group("boiler")], { tokens: 125, overlap: 0 })).toEqual(["memory/a.md:1", "memory/b.md:1", "memory/a.md:2"]);
});

test("a name in camel case and a longer word count as their parts, less than the word", () => {
  const groups = [{ ...group("agent"), beginning: "agent" }];
  const files = {
    "memory/a.md": `MockAgent ${filler}`,
    "memory/b.md": `agent ${filler}`,
    "memory/c.md": `reagent ${filler}`,
    "memory/d.md": `agentless ${filler}`,
  };
  expect(ranked(files, groups)[0]).toBe("memory/b.md:1");
  expect(ranked(files, groups)[3]).toBe("memory/c.md:1");
});

test("forms of a word count, less than the word", () => {
  const groups = [group("validate", { validator: 0.5 })];
  expect(
    ranked({ "memory/a.md": `validator ${filler}`, "memory/b.md": `validate ${filler}`, "memory/c.md": `nothing ${filler}` }, groups),
  ).toEqual(["memory/b.md:1", "memory/a.md:1", "memory/c.md:1"]);
});

test("parts of other words do not count, accents make no difference", () => {
  const groups = [group("rang")];
  const found = ranked({ "memory/a.md": `orange range ${filler}`, "memory/b.md": `Räng ${filler}` }, groups);
  expect(found[0]).toBe("memory/b.md:1");
});

test("scores stay between 0 and 1, and nearly nothing is found in a store of one file", () => {
  const index = createTestIndex();
  open.push(index);
  addToIndex(index, { "MEMORY.md": "# Router\n\nrouter" });
  const [row] = rerank(index.db, [{ ...group("router"), passages: 1 }], { rows: [{ rowid: 1, score: 0.000001, exact: true }], chunks: 1 });
  expect(row?.score).toBeGreaterThan(0);
  expect(row?.score).toBeLessThan(0.01);
  expect(row?.exact).toBe(true);
});
