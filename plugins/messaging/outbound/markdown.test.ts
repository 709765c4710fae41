import fc from "fast-check";
import { isWellFormed } from "svc/sdk/internal";
import { describe, expect, test } from "vitest";
import { growth, LINEAR } from "../../../test/tools/growth.ts";
import { parseMarkdown } from "./markdown.ts";

/** Spans as `kind:text`, with what they carry. */
function shown(source: string, tables: Parameters<typeof parseMarkdown>[1] = "code"): { text: string; spans: string[] } {
  const { text, spans } = parseMarkdown(source, tables);
  return {
    text,
    spans: spans.map(({ kind, start, end, href, language }) =>
      [kind, text.slice(start, end), ...(href === undefined ? [] : [href]), ...(language === undefined ? [] : [language])].join(":"),
    ),
  };
}

describe("Markdown becomes text and spans", () => {
  test.each<[string, string, string, string[]]>([
    ["plain text", "just words", "just words", []],
    ["lines and paragraphs", "one\ntwo\r\n\r\nthree\n", "one\ntwo\n\nthree\n", []],
    ["bold", "a **bold** word", "a bold word", ["bold:bold"]],
    ["italics", "an *italic* and _another_ word", "an italic and another word", ["italic:italic", "italic:another"]],
    ["both at once", "***both***", "both", ["italic:both", "bold:both"]],
    ["one inside the other", "**a *b* c**", "a b c", ["bold:a b c", "italic:b"]],
    ["one that ends with the other", "**a *b***", "a b", ["bold:a b", "italic:b"]],
    ["strike-through", "~~gone~~ ~kept~", "gone ~kept~", ["strike:gone"]],
    ["emphasis beside wide punctuation", "**重要：**内容", "重要：内容", ["bold:重要："]],
    ["marks without counterpart", "2 * 3 * 4, snake_case_name, **open, a]b, [c", "2 * 3 * 4, snake_case_name, **open, a]b, [c", []],
    ["code", "run `npm *ci*` now", "run npm *ci* now", ["code:npm *ci*"]],
    ["code with backticks in it", "`` a`b ``", "a`b", ["code:a`b"]],
    ["a lone backtick", "it`s **so**", "it`s so", ["bold:so"]],
    ["an escaped mark", "\\*no\\* C:\\dir", "*no* C:\\dir", []],
    ["a link", "see [the **page**](https://a.b/c_(d)_e) now", "see the page now", ["link:the page:https://a.b/c_(d)_e", "bold:page"]],
    ["a link with a title", '[x](https://a.b "t")', "x", ["link:x:https://a.b"]],
    ["a picture", "![alt](https://a.b/c.png)", "alt", ["link:alt:https://a.b/c.png"]],
    ["an address in angle brackets", "<https://a.b>", "https://a.b", ["link:https://a.b:https://a.b"]],
    ["an address as it is", "at https://a.b/c_d_e**, *yes*", "at https://a.b/c_d_e**, yes", ["italic:yes"]],
    ["a link that would run a script", "[x](javascript:alert(1))", "[x](javascript:alert(1))", []],
    ["a heading", "## Title ##\ntext", "Title\ntext", ["heading:Title"]],
    ["a hash that is none", "#channel\n# ", "#channel\n# ", []],
    ["a quotation", "> a\n> **b**\nc", "a\nb\nc", ["quote:a\nb", "bold:b"]],
    ["a fence", "x\n```ts\nconst *a* = 1;\n\n  b\n```\ny", "x\nconst *a* = 1;\n\n  b\ny", ["codeBlock:const *a* = 1;\n\n  b:ts"]],
    ["a fence inside a list", "- a\n  ```\n  b\n  ```", "- a\nb", ["codeBlock:b"]],
    ["a fence without end", "~~~\na\n```", "a\n```", ["codeBlock:a\n```"]],
    ["a fence in a quotation", "> ```\n> a\n> ```", "a", ["quote:a", "codeBlock:a"]],
    ["a list", "* one *x*\n* two\n1. three", "* one x\n* two\n1. three", ["italic:x"]],
    ["emphasis that ends with its paragraph", "*a\n\nb*", "*a\n\nb*", []],
  ])("%s", (_name, source, text, spans) => {
    expect(shown(source)).toEqual({ text, spans });
  });

  const table = "| Name | Size |\n|:--|--:|\n| `a` | 1 |\n| b\\|c | |\nend";

  test("a table is aligned, becomes a list, or stays as it was written", () => {
    expect(shown(table).text).toBe("Name | Size\n-----|-----\na    | 1\nb|c  |\nend");
    expect(shown(table).spans).toEqual(["codeBlock:Name | Size\n-----|-----\na    | 1\nb|c  |"]);
    expect(shown(table, "bullets")).toEqual({ text: "a\n- Size: 1\n\nb|c\nend", spans: ["bold:a", "code:a", "bold:b|c"] });
    expect(shown(table, "off").text).toBe(table.replaceAll("`", "").replace("\\|", "|"));
  });
});

describe("whatever the text is", () => {
  const alphabet = fc.constantFrom(..."ab*_~`[]()<>!#|-\\\n \t🙂é", "**", "```", "http://", "](", "|-|", "> ", "\ud800");

  test("spans lie inside it, in order, one inside the other or apart", () => {
    fc.assert(
      fc.property(fc.array(alphabet, { maxLength: 60 }), fc.constantFrom("code", "bullets", "off"), (parts, tables) => {
        const { text, spans } = parseMarkdown(parts.join(""), tables as "code");
        expect(isWellFormed(text)).toBe(true);
        spans.forEach((span, i) => {
          expect(span.start >= 0 && span.end > span.start && span.end <= text.length).toBe(true);
          for (const later of spans.slice(i + 1)) {
            expect(later.start >= span.start).toBe(true);
            expect(later.start >= span.end || later.end <= span.end, JSON.stringify([span, later, text])).toBe(true);
          }
        });
      }),
      { numRuns: 500 },
    );
  });

  test("letters are never lost", () => {
    const letters = (text: string) => text.replace(/[^\p{L}]/gu, "");
    fc.assert(
      fc.property(fc.array(alphabet, { maxLength: 60 }), (parts) => {
        // The line of a fence is no text.
        const source = parts
          .filter((part) => part !== "http://")
          .join("")
          .replace(/`{3,}|~{3,}/g, " ");
        expect(letters(parseMarkdown(source, "off").text)).toBe(letters(source));
      }),
      { numRuns: 500 },
    );
  });

  const hostile = [
    "[",
    "![",
    "](",
    "[a](b",
    "[a](http:x",
    "*a ",
    "**a",
    "_a",
    "a_",
    "`",
    "`a",
    "~~a",
    "> ",
    "<http:",
    "xhttp://",
    "|",
    "|-",
    "\\",
    "# ",
    "- a\n",
    "- ",
    "|a\n|-\n",
    "*_",
    "a*_",
    "\n",
    " ",
    "e\u0301",
    '[a](http:b "',
  ];

  test.each(hostile)("%j over and over is read in time that grows with its length", (unit) => {
    const work = (chars: number) => {
      const source = unit.repeat(Math.ceil(chars / unit.length));
      return () => parseMarkdown(source, "code");
    };
    expect(growth(work, { from: 4_000, to: 200_000 })).toBeLessThan(LINEAR);
  });

  test("a mark that doubles in length each time is read in time that grows with its length", () => {
    const source = Array.from({ length: 500 }, (_, i) => `${"`".repeat(i)} `).join("");
    expect(parseMarkdown(source, "code").text).toBe(source);
  });
});
