import fc from "fast-check";
import { expect, test } from "vitest";
import { isWellFormed } from "./id-text.ts";
import { cutEnd, oneLine } from "./one-line.ts";

test("a text at the limit is left alone, one past it is cut", () => {
  expect(cutEnd("abcd", 4)).toBe("abcd");
  expect(cutEnd("abcde", 4)).toBe("abc…");
});

test("no character is split", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 30 }), (text, max) => {
      const cut = cutEnd(text, max);
      expect(cut.length).toBeLessThanOrEqual(max);
      expect(isWellFormed(cut)).toBe(true);
    }),
  );
});

test("lines, tabs and runs of spaces become one space", () => {
  expect(oneLine("  a\r\n\tb   c\n", 10)).toBe("a b c");
  expect(oneLine("a\nb\nc", 4)).toBe("a b…");
});
