import { expect, test } from "vitest";
import { printable, printableLine } from "./printable.ts";

test.each([
  ["a cleared screen", "a\u001b[2Jb", "a\\u001b[2Jb"],
  ["a filled clipboard", "\u001b]52;c;eA==\u0007", "\\u001b]52;c;eA==\\u0007"],
  ["a NUL", "a\u0000b", "a\\u0000b"],
  ["DEL", "a\u007fb", "a\\u007fb"],
  ["a control of one byte", "a\u009b2Jb", "a\\u009b2Jb"],
  ["a line written over another", "approve\rreject", "approve\\u000dreject"],
  ["a turned direction", "a\u202eb\u2066c\u2069", "a\\u202eb\\u2066c\\u2069"],
  ["a line separator", "a\u2028b", "a\\u2028b"],
  ["half a character", "a\ud800b", "a\\ud800b"],
])("%s is shown, not obeyed", (_, text, shown) => {
  expect([printable(text), printableLine(text)]).toEqual([shown, shown]);
});

test("any script and whole characters beyond U+FFFF stay", () => {
  const text = "日本 العربية 👩‍💻 é";
  expect([printable(text), printableLine(text)]).toEqual([text, text]);
});

test("line feeds and tabs are layout in a text, and are shown in a line", () => {
  expect(printable("a\tb\r\nc\n")).toBe("a\tb\nc\n");
  expect(printableLine("a\tb\r\nc")).toBe("a\\u0009b\\u000d\\u000ac");
});

test("what was escaped once is not escaped again", () => {
  const once = printableLine("\u001b[31m\n");
  expect(printable(once)).toBe(once);
});

test("a document in JSON keeps its meaning", () => {
  const value = { a: "\u009b\u202e\u007f\ud800\u0000" };
  expect(JSON.parse(printable(JSON.stringify(value)))).toEqual(value);
});
