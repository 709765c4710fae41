import fc from "fast-check";
import type { MarkdownIR } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { plainText, readText } from "./received-text.ts";
import { openStyles, renderText } from "./rendered-text.ts";
import { splitText } from "./split.ts";

describe("what people write", () => {
  test.each([
    ["\u0002bold\u000f \u001ditalic\u001d", "bold italic"],
    ["\u000304,01red\u0003 and \u00031", "red and "],
    ["\u0003,5 is no colour", ",5 is no colour"],
    ["\u0004ff0000,00ff00hex\u0004", "hex"],
    ["a\tb\u001b[31mc\u0007", "a\tb[31mc"],
    ["\u0085next", "next"],
  ])("%j is read as %j", (raw, text) => {
    expect(readText(raw)).toEqual({ text, kind: "message" });
    expect(plainText(raw)).toBe(text);
  });

  test.each([
    ["\u0001ACTION waves \u0002hard\u0001", { text: "waves hard", kind: "action" }],
    ["\u0001ACTION waves", { text: "waves", kind: "action" }],
    ["\u0001VERSION\u0001", { text: "", kind: "ctcp" }],
    ["\u0001DCC SEND file 1 2 3\u0001", { text: "", kind: "ctcp" }],
    ["\u0001", { text: "", kind: "ctcp" }],
    ["a \u0001VERSION\u0001", { text: "a VERSION", kind: "message" }],
  ])("the request %j is told from words", (raw, expected) => {
    expect(readText(raw)).toEqual(expected);
  });
});

describe("an answer is rendered", () => {
  const rendered = (text: string, ...spans: MarkdownIR["spans"]) => renderText({ text, spans }).text;

  test("with codes for its styles, and addresses behind links", () => {
    expect(rendered("very bold", { kind: "bold", start: 5, end: 9 })).toBe("very \u0002bold\u0002");
    expect(rendered("a b c", { kind: "italic", start: 2, end: 3 }, { kind: "strike", start: 4, end: 5 })).toBe(
      "a \u001db\u001d \u001ec\u001e",
    );
    expect(rendered("run ls now", { kind: "code", start: 4, end: 6 })).toBe("run `ls` now");
    expect(rendered("see docs", { kind: "link", start: 4, end: 8, href: "https://a.example" })).toBe("see docs (https://a.example)");
    expect(rendered("https://a.example", { kind: "link", start: 0, end: 17, href: "https://a.example" })).toBe("https://a.example");
    expect(rendered("one\ntwo\nend", { kind: "quote", start: 0, end: 7 })).toBe("> one\n> two\nend");
  });

  test("with a style that goes on switched on again on each line", () => {
    expect(rendered("one\ntwo", { kind: "bold", start: 0, end: 7 })).toBe("\u0002one\n\u0002two\u0002");
  });

  test("without control characters of its own: they could be a request to a client", () => {
    expect(rendered("\u0001DCC SEND x\u0001\u0000\r\u001b[2J\tok")).toBe("DCC SEND x[2J\tok");
    expect(rendered("x", { kind: "link", start: 0, end: 1, href: "a\r\nQUIT" })).toBe("x (aQUIT)");
  });
});

describe("a text is split", () => {
  const bytes = (text: string) => Buffer.byteLength(text);

  test("by lines, without empty ones", () => {
    expect(splitText("one\r\ntwo\n\n \n> \nthree\rfour", 350)).toEqual(["one", "two", "three", "four"]);
  });

  test("at its limit not at all, and past it behind the last blank", () => {
    const words = `${"x".repeat(200)} ${"y".repeat(149)}`;
    expect(splitText(words, 350)).toEqual([words]);
    expect(splitText(`${words}z`, 350)).toEqual([`${"x".repeat(200)} `, `${"y".repeat(149)}z`]);
    expect(splitText("x".repeat(351), 350)).toEqual(["x".repeat(350), "x"]);
  });

  test("never inside what people see as one character", () => {
    const family = "👩‍👩‍👧‍👦";
    const flags = "🇩🇪";
    const accents = "e\u0301";
    for (const one of [family, flags, accents, "日", "🙂"]) {
      for (const chunk of splitText(one.repeat(60), 100)) expect(chunk).toBe(one.repeat(chunk.length / one.length));
    }
  });

  test("inside a character that no message can hold, by code points", () => {
    const tower = `e${"\u0301".repeat(300)}`;
    const chunks = splitText(tower, 100);
    expect(chunks.join("")).toBe(tower);
    expect(Math.max(...chunks.map(bytes))).toBeLessThanOrEqual(100);
  });

  test("with styles that go on switched on again", () => {
    const chunks = splitText(`\u0002${"x".repeat(150)}\u0002`, 100);
    expect(chunks).toEqual([`\u0002${"x".repeat(99)}`, `\u0002${"x".repeat(51)}\u0002`]);
    expect(openStyles("\u0002a\u001db\u0002")).toBe("\u001d");
  });

  test("into no more lines than the flood limit bears: short ones are joined", () => {
    const lines = Array.from({ length: 60 }, (_, i) => `${i}`);
    const messages = splitText(lines.join("\n"), 350);
    expect(messages.length).toBeLessThan(5);
    expect(messages.flatMap((message) => message.split(" | "))).toEqual(lines);
  });

  test("so that nothing is lost, nothing is too long, and nothing ends a line or is a request", () => {
    const unit = fc.constantFrom("a", "bc", " ", "ü", "日", "🙂", "👩‍🔬", "\n", "\r", "\0", "\u0001", "\ud800", "e\u0301");
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 400 }), fc.integer({ min: 40, max: 120 }), (text, maxBytes) => {
        const chunks = splitText(text, maxBytes);
        for (const chunk of chunks) {
          expect(bytes(chunk)).toBeLessThanOrEqual(maxBytes);
          expect(chunk).not.toMatch(/[\p{Cc}\p{Cs}]/u);
        }
        const kept = (all: string) => all.replace(/[\s\p{Cc}|]/gu, "").replace(/\p{Cs}/gu, "\uFFFD");
        expect(kept(chunks.join(""))).toBe(kept(text));
      }),
    );
  });
});
