import { expect, test } from "vitest";
import { growth, LINEAR } from "../../test/tools/growth.ts";

const page = (path: string) => import(new URL(`./public/${path}`, import.meta.url).href);
const { parsePlace, formatPlace, sessionOfPath, splitSources, linkPlaces } = await page("core/places.js");
const { safeHref, stableCut } = await page("ui/md.js");
const { parseRoute, formatRoute, fileAddress } = await page("core/router.js");

test.each([
  ["memory/2026-04-01.md#L3-L9", { path: "memory/2026-04-01.md", from: 3, to: 9 }],
  ["MEMORY.md#L14", { path: "MEMORY.md", from: 14, to: 14 }],
  ["`memory/a b.md#L1-L2`.", { path: "memory/a b.md", from: 1, to: 2 }],
  ["sessions/0b1e-4f#L5-L9", { path: "sessions/0b1e-4f", from: 5, to: 9 }],
  ["sessions/a/b#L5", undefined],
  ["memory/a.md", undefined],
  ["see memory", undefined],
])("%j is a place: %j", (text, wanted) => {
  expect(parsePlace(text)).toEqual(wanted);
});

test("a place in a conversation names its session, one in a file does not", () => {
  expect(sessionOfPath("sessions/0b1e-4f")).toBe("0b1e-4f");
  expect(["sessions/a.md", "memory/sessions/a", "sessions/", "sessions/../a"].map(sessionOfPath)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test("a place is written as path and lines", () => {
  expect(formatPlace({ path: "a.md", from: 3, to: 9 })).toBe("a.md:3-9");
  expect(formatPlace({ path: "a.md", from: 3, to: 3 })).toBe("a.md:3");
  expect(formatPlace({ path: "a.md" })).toBe("a.md");
});

test("footers become sources where they stand and are not repeated as text", () => {
  const text = "Intro\n\n> quote one\n\nSource: memory/a.md#L1-L3\n\n> quote two\n\nSource: memory/b.md#L7\n\nEnd";

  expect(splitSources(text)).toEqual([
    { kind: "text", text: "Intro\n\n> quote one\n" },
    { kind: "sources", places: [{ path: "memory/a.md", from: 1, to: 3 }] },
    { kind: "text", text: "\n> quote two\n" },
    { kind: "sources", places: [{ path: "memory/b.md", from: 7, to: 7 }] },
    { kind: "text", text: "\nEnd" },
  ]);
});

test("neighbouring footers are one row of sources, each place once", () => {
  const text = "x\nSource: a.md#L1\n\nSource: b.md#L2\nSources: a.md#L1, c.md#L3-L4";

  expect(splitSources(text).filter((s: { kind: string }) => s.kind === "sources")).toEqual([
    {
      kind: "sources",
      places: [
        { path: "a.md", from: 1, to: 1 },
        { path: "b.md", from: 2, to: 2 },
        { path: "c.md", from: 3, to: 4 },
      ],
    },
  ]);
});

test("what only looks like a footer stays text: in a fence, without a place", () => {
  const text = "```\nSource: a.md#L1\n```\nSource: my own head";

  expect(splitSources(text)).toEqual([{ kind: "text", text }]);
});

test("while streaming, a footer that is not whole yet is held back", () => {
  for (const tail of ["S", "Sour", "Source:", "Source: memory/a", "Source: memory/a.md#L1"]) {
    expect(splitSources(`Answer\n${tail}`, { isStreaming: true })).toEqual([{ kind: "text", text: "Answer" }]);
  }
  expect(splitSources("Answer\nSo it is", { isStreaming: true })).toEqual([{ kind: "text", text: "Answer\nSo it is" }]);
  expect(splitSources("Answer\nSource", { isStreaming: false })).toEqual([{ kind: "text", text: "Answer\nSource" }]);
});

test("places in passing become links, the rest stays as it is", () => {
  expect(linkPlaces("as in (memory/a.md#L3-L9), and b.md#L1.")).toEqual([
    "as in (",
    { path: "memory/a.md", from: 3, to: 9 },
    "), and ",
    { path: "b.md", from: 1, to: 1 },
    ".",
  ]);
  expect(linkPlaces("nothing here")).toEqual(["nothing here"]);
});

test.each([
  ["https://example.org/a?b=c", "https://example.org/a?b=c"],
  ["HTTP://example.org", "HTTP://example.org"],
  ["mailto:a@example.org", "mailto:a@example.org"],
  ["javascript:alert(1)", undefined],
  ["java\u0000script:alert(1)", undefined],
  ["\u200bjavascript:alert(1)", undefined],
  [" \tjavascript:alert(1)", undefined],
  ["https\u200b://example.org", "https://example.org"],
  ["data:text/html,x", undefined],
  ["vbscript:x", undefined],
  ["//example.org", undefined],
  ["file:///etc/passwd", undefined],
  ["blob:https://example.org/x", undefined],
  ["#/sessions", undefined],
])("the link %j leads to %j", (href, wanted) => {
  expect(safeHref(href)).toBe(wanted);
});

test("a growing text is cut after a blank line outside of fences only", () => {
  expect(stableCut("one\n\ntwo")).toBe(5);
  expect(stableCut("one\n\n```\ncode\n\nmore")).toBe(5);
  expect(stableCut("one\n\n```\ncode\n```\n\ntail")).toBe(19);
  expect(stableCut("one")).toBe(0);
});

test("addresses come back from their hash, odd names included", () => {
  for (const rest of ["agent:main:main", "agent:main:a/b?c#d", "agent:main:ü 100%", ""]) {
    expect(parseRoute(formatRoute("chat", rest, { m: "3" }))).toEqual({ view: "chat", rest, params: { m: "3" } });
  }
  expect(fileAddress({ path: "memory/a b.md", from: 3, to: 9 })).toBe("#/memory/file/memory/a%20b.md?l=3-9");
  expect(parseRoute("#/memory/file/memory/a%20b.md?l=3-9")).toEqual({ view: "memory", rest: "file/memory/a b.md", params: { l: "3-9" } });
});

test("a fragment that is no address is not taken for one", () => {
  expect(parseRoute("#token=abc").view).toBe("");
  expect(parseRoute("").view).toBe("");
  expect(parseRoute("#/chat/%zz").rest).toBe("%zz");
});

test("an answer of a few kilobytes does not freeze the page: its footers are read once", () => {
  const footers = (n: number) => () => splitSources("Source: memory/a.md#L1\n".repeat(n / 20));
  const blanks = (n: number) => () => splitSources(`Source: a${" ".repeat(n)}\u2028`);
  const quotes = (n: number) => () => parsePlace(`${'"'.repeat(n)}.md`);

  for (const work of [footers, blanks, quotes]) expect(growth(work, { from: 1_000, to: 128_000 })).toBeLessThan(LINEAR);
});
