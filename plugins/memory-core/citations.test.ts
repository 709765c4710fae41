import { expect, test } from "vitest";
import { citationOf, fitInjected, showsCitations, withCitations } from "./citations.ts";

test("a place is a path with one line or a range", () => {
  expect(citationOf({ path: "a.md", startLine: 3, endLine: 9 })).toBe("a.md#L3-L9");
  expect(citationOf({ path: "a.md", startLine: 3, endLine: 3 })).toBe("a.md#L3");
});

test.each([
  ["auto", undefined, true],
  ["auto", "agent:main:main", true],
  ["auto", "agent:main:telegram:direct:42", true],
  ["auto", "agent:main:telegram:group:42", false],
  ["auto", "agent:main:discord:channel:7", false],
  ["auto", "agent:group:main", true],
  ["on", "agent:main:telegram:group:42", true],
  ["off", "agent:main:main", false],
] as const)("citations %s in session %s: %s", (mode, key, shown) => {
  expect(showsCitations(mode, key)).toBe(shown);
});

test("a footer follows the trimmed passage", () => {
  const [hit] = withCitations([{ path: "a.md", startLine: 1, endLine: 2, snippet: "\nrouter\n\n" }]);
  expect(hit).toEqual({ path: "a.md", startLine: 1, endLine: 2, snippet: "router\n\nSource: a.md#L1-L2", citation: "a.md#L1-L2" });
});

test("the hit that crosses the budget is cut with its footer kept, the rest is dropped, and footers count", () => {
  const hits = withCitations(["a".repeat(50), "b".repeat(50), "c"].map((snippet) => ({ path: "x.md", startLine: 1, endLine: 1, snippet })));
  const footer = "\n\nSource: x.md#L1";
  const fitted = fitInjected(hits, 50 + footer.length + 10 + footer.length);
  expect(fitted.map((h) => h.snippet)).toEqual([`${"a".repeat(50)}${footer}`, `${"b".repeat(10)}${footer}`]);
  expect(fitted.map((h) => h.snippet.length).reduce((a, b) => a + b)).toBe(50 + 10 + 2 * footer.length);
});

test("a budget too small for a footer shows nothing, none shows everything", () => {
  const hits = withCitations([{ path: "x.md", startLine: 1, endLine: 1, snippet: "router" }]);
  expect(fitInjected(hits, 10)).toEqual([]);
  expect(fitInjected(hits, undefined)).toEqual(hits);
});

test("a budget cuts plain passages too, not inside a surrogate pair", () => {
  expect(fitInjected([{ snippet: "ab😀cd" }, { snippet: "x" }], 3)).toEqual([{ snippet: "ab" }]);
});
