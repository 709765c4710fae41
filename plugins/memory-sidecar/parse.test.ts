import { describe, expect, test } from "vitest";
import { hitText, parseCollection, parseCollectionNames, parseHits, parseStatus, sameFolderName } from "./parse.ts";

const recorded = `[
  { "docid": "#ff39e0", "score": 0.42, "file": "qmd://memory-dir-main/2026-04-01.md", "line": 4,
    "title": "2026-04-01", "snippet": "@@ -3,4 @@ (2 before, 2 after)\\n## Network work\\nMoved the guest wifi ]" } ]`;

const only = (output: string) => parseHits(output)?.[0];

describe("an answer", () => {
  test("is the first array of objects, whatever stands before and behind it", () => {
    const wanted = { docid: "#ff39e0", score: 0.42, file: "qmd://memory-dir-main/2026-04-01.md", line: 4 };
    for (const output of [recorded, `[info] loading [x\n${recorded}\ndone]`, `[1, 2] warm\n${recorded}`, `"${recorded}`.slice(1)])
      expect(only(output)).toMatchObject(wanted);
  });

  test("may be empty, in either form", () => {
    for (const output of ["[]\n", "Warning: x\n[]", "No results found.\n", "noise\n  no results found for that"])
      expect(parseHits(output)).toEqual([]);
  });

  test.each(["", "Segmentation fault", "[", '[{"docid": 1', "{}", "we found no results found"])("is not %j", (output) => {
    expect(parseHits(output)).toBeUndefined();
  });

  test("costs no more than its length, however many brackets it has", () => {
    const startedAt = performance.now();
    for (const noise of ["[", '["', "[]x", "[{"]) parseHits(noise.repeat(200_000 / noise.length));
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  test("has scores between 0 and 1", () => {
    expect(parseHits('[{"score": 7}, {"score": -1}, {"score": "x"}]')?.map(({ score }) => score)).toEqual([1, 0, 0]);
  });
});

describe("lines of a hit", () => {
  const of = (json: string) => hitText(only(`[${json}]`) as never);

  test("are its own, then those of the header, then the best line, then the beginning", () => {
    expect(of('{"start_line": 5, "end_line": 9, "snippet": "@@ -3,4 @@\\na"}')).toEqual({ startLine: 5, endLine: 9, text: "a" });
    expect(only(recorded) && hitText(only(recorded) as never)).toEqual({
      startLine: 3,
      endLine: 6,
      text: "## Network work\nMoved the guest wifi ]",
    });
    expect(of('{"line": 7, "snippet": "a\\nb"}')).toMatchObject({ startLine: 7, endLine: 8 });
    expect(of('{"body": "a\\nb\\nc\\n"}')).toEqual({ startLine: 1, endLine: 3, text: "a\nb\nc\n" });
    expect(of('{"snippet": "@@ -0,0 @@\\na"}')).toMatchObject({ startLine: 1, endLine: 1 });
  });
});

test("names of collections, and folder and pattern of one, are read from text", () => {
  const list = "Collections (2):\n\nmem-main (qmd://mem-main/)\n  Pattern:  MEMORY.md\n  Files:    1\n  Updated:  1s ago\n\nx (qmd://x/)\n";
  expect(parseCollectionNames(list)).toEqual(["mem-main", "x"]);
  expect(parseCollectionNames("No collections found.\n")).toEqual([]);
  expect(parseCollection("Collection: x\n  Path:     /srv/my notes\n  Pattern:  **/*.md\n  Include:  yes (default)\n")).toEqual({
    root: "/srv/my notes",
    pattern: "**/*.md",
  });
  expect(parseCollection("?")).toBeUndefined();
});

test("figures of a status", () => {
  expect(parseStatus("Documents\n  Total:    1,234 files indexed\n  Vectors:  0 embedded\n  Pending:  3 need embedding\n")).toEqual({
    files: 1234,
    vectors: 0,
    pending: 3,
  });
  expect(parseStatus("")).toEqual({ files: undefined, vectors: undefined, pending: undefined });
});

test("the name of the collection that has the same folder and pattern", () => {
  expect(sameFolderName("A collection already exists for this path and pattern:\n  Name: old (qmd://old/)\n")).toBe("old");
  expect(sameFolderName("Collection 'x' already exists.")).toBeUndefined();
});
