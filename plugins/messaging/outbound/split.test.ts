import fc from "fast-check";
import type { MarkdownIR } from "svc/sdk";
import { isWellFormed } from "svc/sdk/internal";
import { describe, expect, test } from "vitest";
import { growth, LINEAR } from "../../../test/tools/growth.ts";
import { parseMarkdown } from "./markdown.ts";
import { type SplitRules, sizeOf, splitIr } from "./split.ts";

/** A platform with marks for each style: what the pieces look like there tells whether every one of them is whole. */
function render({ text, spans }: MarkdownIR): { text: string } {
  const marks: Record<string, [string, string]> = {
    bold: ["<b>", "</b>"],
    italic: ["<i>", "</i>"],
    strike: ["<s>", "</s>"],
    code: ["<c>", "</c>"],
  };
  const at = new Map<number, string>();
  const put = (offset: number, mark: string, isFirst: boolean) =>
    at.set(offset, isFirst ? mark + (at.get(offset) ?? "") : (at.get(offset) ?? "") + mark);
  const ends: Array<[number, string]> = [];
  for (const { kind, start, end, href, language } of spans) {
    const [open, close] =
      marks[kind] ?? (kind === "codeBlock" ? [`\`\`\`${language ?? ""}\n`, "\n```"] : href ? ["[", `](${href})`] : ["", ""]);
    put(start, open, false);
    ends.unshift([end, close]);
  }
  for (const [offset, mark] of ends.reverse()) put(offset, mark, true);
  let shown = "";
  for (let i = 0; i <= text.length; i++) shown += (at.get(i) ?? "") + (text[i] ?? "");
  return { text: shown };
}

function split(source: string, limit: number, more: Partial<SplitRules> = {}): string[] {
  const rules: SplitRules = { limit, unit: "chars", mode: "length", maxPieces: 500, render, ...more };
  return splitIr(parseMarkdown(source, "code"), rules).pieces.map((piece) => render(piece).text);
}

describe("a text is split", () => {
  test.each<[string, string, number, string[]]>([
    ["not at its limit", "a".repeat(20), 20, ["a".repeat(20)]],
    ["one past its limit", "a".repeat(21), 20, ["a".repeat(20), "a"]],
    ["at an empty line first", "one two three.\n\nfour five\nsix", 24, ["one two three.", "four five\nsix"]],
    ["then at the end of a line", "one two. three\nfour five six", 20, ["one two. three", "four five six"]],
    ["then at the end of a sentence", "One two three. Four five six", 20, ["One two three.", "Four five six"]],
    ["then at a blank", "one two three four five", 14, ["one two three", "four five"]],
    ["inside a word only when it is longer than a piece", `a ${"b".repeat(25)}`, 10, ["a", "b".repeat(10), "b".repeat(10), "bbbbb"]],
    ["where the piece is well filled", "a\n\nbbbb bbbb bbbb bbbb", 18, ["a\n\nbbbb bbbb bbbb", "bbbb"]],
    ["within a style, which goes on", "**one two three**", 16, ["<b>one two</b>", "<b>three</b>"]],
    ["within styles inside each other", "**one *two three***", 20, ["<b>one</b>", "<b><i>two</i></b>", "<b><i>three</i></b>"]],
    ["not within a link", "see [the page](http://a.b) now", 25, ["see", "[the page](http://a.b)", "now"]],
    [
      "with a link written out that is longer than a piece",
      `[p](http://a.b/${"c".repeat(20)})`,
      20,
      ["p", "(http://a.b/cccccccc", "cccccccccccc)"],
    ],
    ["not within code", "run `npm ci now` please", 20, ["run", "<c>npm ci now</c>", "please"]],
    [
      "in a fence, which is closed and opened again",
      "```ts\na = 1\nb = 2\nc = 3\n```",
      22,
      ["```ts\na = 1\nb = 2\n```", "```ts\nc = 3\n```"],
    ],
    ["in a fence without a loss of its indentation", "```\n  a\n  b\n  c\n```", 15, ["```\n  a\n  b\n```", "```\n  c\n```"]],
    ["before a fence that fits into the next piece", "one two three\n\n```\na\n```", 18, ["one two three", "```\na\n```"]],
  ])("%s", (_name, source, limit, pieces) => {
    expect(split(source, limit)).toEqual(pieces);
  });

  test("at every empty line first where the config says so", () => {
    expect(split("a\n\nbbbb bbbb bbbb bbbb", 18, { mode: "newline" })).toEqual(["a", "bbbb bbbb bbbb", "bbbb"]);
  });

  test("in the unit of the channel, and never inside a character as people see it", () => {
    const woman = "👩‍🔬";
    for (const [unit, size] of [
      ["bytes", 11],
      ["utf16", 5],
      ["chars", 3],
    ] as const) {
      expect(split(woman.repeat(4), 2 * size + 1, { unit })).toEqual([woman.repeat(2), woman.repeat(2)]);
    }
    expect(split("🇩🇪🇫🇷🇮🇹", 9, { unit: "bytes" })).toEqual(["🇩🇪", "🇫🇷", "🇮🇹"]);
    expect(split("e\u0301".repeat(3), 5)).toEqual(["e\u0301e\u0301", "e\u0301"]);
    // Larger than a piece: cut between code points, not inside one.
    expect(split("👩‍🔬", 3, { unit: "utf16" }).join("")).toBe("👩‍🔬");
  });

  test("never where a channel has no limit, and not at all into too many pieces", () => {
    const ir = parseMarkdown("a ".repeat(5_000), "code");
    const rules: SplitRules = { limit: undefined, unit: "bytes", mode: "length", maxPieces: 3, render };
    expect(splitIr(ir, rules)).toEqual({ pieces: [ir], leftOut: 0 });
    const { pieces, leftOut } = splitIr(ir, { ...rules, limit: 100 });
    expect([pieces.length, leftOut]).toEqual([3, ir.text.length - 300]);
  });

  const words = fc.constantFrom(
    "word",
    "two words",
    "**bold** ",
    "*it* ",
    "[link](http://a.b/c)",
    "`code x`",
    "\n",
    "\n\n",
    ". ",
    " ",
    "🙂",
    "👩‍🔬",
    "日本。",
    "```js\nx = 1\n\n  y\n```\n",
    "> quoted\n",
  );

  test("whatever it is, into pieces within the limit that hold all of it, in order", () => {
    fc.assert(
      fc.property(
        fc.array(words, { maxLength: 60 }),
        fc.integer({ min: 40, max: 120 }),
        fc.constantFrom("bytes", "utf16", "chars"),
        (parts, limit, unit) => {
          const ir = parseMarkdown(parts.join(""), "code");
          const { pieces } = splitIr(ir, { limit, unit: unit as "bytes", mode: "length", maxPieces: 1_000, render });
          for (const piece of pieces) {
            expect(sizeOf(render(piece).text, unit as "bytes")).toBeLessThanOrEqual(limit);
            expect(piece.text.trim()).not.toBe("");
            expect(isWellFormed(piece.text)).toBe(true);
          }
          expect(
            pieces
              .map(({ text }) => text)
              .join("")
              .replace(/\s/g, ""),
          ).toBe(ir.text.replace(/\s/g, ""));
        },
      ),
      { numRuns: 300 },
    );
  });

  test.each(["a", "a ", "**a b** ", "[a b](http://a.b)", "`a`", "🙂", "a\n\n"])(
    "%j over and over in time that grows with its length",
    (unit) => {
      const plain = ({ text }: MarkdownIR) => ({ text });
      const work = (chars: number) => {
        const ir = parseMarkdown(unit.repeat(Math.ceil(chars / unit.length)), "code");
        return () => splitIr(ir, { limit: 350, unit: "bytes", mode: "length", maxPieces: 10_000, render: plain });
      };
      expect(growth(work, { from: 2_000, to: 60_000 })).toBeLessThan(LINEAR);
    },
  );
});
