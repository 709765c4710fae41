import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chunkLines, estimateChars, splitLines } from "./chunker.ts";

const cut = (text: string, tokens = 400, overlap = 80) => chunkLines(splitLines(text), { tokens, overlap });

describe("estimateChars", () => {
  test.each([
    ["", 0],
    ["abcd", 4],
    ["天气", 8],
    ["ab天", 6],
    ["서울", 8],
    ["カタカナ", 16],
    ["\u{20000}", 4],
    ["😀", 2],
  ])("of %j is %i", (text, chars) => {
    expect(estimateChars(text)).toBe(chars);
  });
});

describe("chunks", () => {
  test("an empty file and a blank one have none", () => {
    expect(cut("")).toEqual([]);
    expect(cut("\n\n  \n\t\n")).toEqual([]);
  });

  test("a short file is one chunk with its lines and its hash", () => {
    expect(cut("# A\n\nhello\n")).toEqual([
      { startLine: 1, endLine: 3, text: "# A\n\nhello", hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
  });

  test("Windows line ends leave no trace and count as one line end", () => {
    const [chunk] = cut("one\r\ntwo\r\nthree");
    expect(chunk).toMatchObject({ startLine: 1, endLine: 3, text: "one\ntwo\nthree" });
  });

  test("a chunk is full when the next line would exceed it, and the next one begins with the overlap", () => {
    const lines = Array.from({ length: 10 }, (_, i) => `line ${i} ${"x".repeat(12)}`); // cost 20 each
    const chunks = chunkLines(lines, { tokens: 20, overlap: 5 }); // 80 characters, 20 shared
    expect(chunks.map((c) => [c.startLine, c.endLine])).toEqual([
      [1, 4],
      [4, 7],
      [7, 10],
    ]);
  });

  test("with no overlap nothing is shared", () => {
    const chunks = chunkLines(["a".repeat(30), "b".repeat(30), "c".repeat(30)], { tokens: 8, overlap: 0 });
    expect(chunks.map((c) => [c.startLine, c.endLine])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
  });

  test("a long line is cut into pieces that keep its number and never split a surrogate pair", () => {
    const line = `a${"😀".repeat(500)}`;
    const chunks = cut(`head\n${line}`, 10, 0);
    expect(chunks.length).toBeGreaterThan(20);
    expect(chunks.slice(1).every((c) => c.startLine === 2 && c.endLine === 2)).toBe(true);
    expect(chunks.every((c) => !/[\ud800-\udfff]/u.test(c.text))).toBe(true);
    expect(
      chunks
        .slice(1)
        .map((c) => c.text)
        .join(""),
    ).toBe(line);
  });

  test("a long dense line is cut by tokens", () => {
    const chunks = cut("天".repeat(100), 10, 0);
    expect(chunks.map((c) => c.text.length)).toEqual(Array.from({ length: 10 }, () => 10));
  });

  test("a line of ten thousand tokens is covered whole", () => {
    const line = Array.from({ length: 10_000 }, (_, i) => `w${i}`).join(" ");
    const chunks = cut(line);
    const words = new Set(chunks.flatMap((c) => c.text.split(" ")));
    expect(chunks.length).toBeGreaterThan(30);
    expect([...Array(10_000).keys()].filter((i) => !words.has(`w${i}`)).length).toBeLessThan(chunks.length); // words at a cut are halved
    expect(Math.max(...chunks.map((c) => c.text.length))).toBeLessThanOrEqual(3_200);
  });

  test("an overlap as large as the chunk still goes forward", () => {
    const chunks = chunkLines(
      Array.from({ length: 50 }, (_, i) => `line ${i}`),
      { tokens: 8, overlap: 8_000 },
    );
    expect(chunks.length).toBeLessThanOrEqual(50);
    expect(chunks.at(-1)?.endLine).toBe(50);
  });
});

describe("for any text", () => {
  const words = fc.string({
    unit: fc.constantFrom("a", "b ", "\n", "\r\n", "天", "한", "😀", "\u{20001}", "#", "\t", "x".repeat(50)),
    maxLength: 400,
  });
  const sizes = fc.record({ tokens: fc.integer({ min: 1, max: 40 }), overlap: fc.integer({ min: 0, max: 60 }) });

  test("every line that is not blank is in some chunk, and chunks go forward", () => {
    fc.assert(
      fc.property(words, sizes, (text, size) => {
        const lines = splitLines(text);
        const chunks = chunkLines(lines, size);
        for (const [index, line] of lines.entries()) {
          if (line.trim() === "") continue;
          expect(chunks.some((c) => c.startLine <= index + 1 && index + 1 <= c.endLine)).toBe(true);
        }
        for (const [index, chunk] of chunks.entries()) {
          expect(chunk.startLine).toBeLessThanOrEqual(chunk.endLine);
          expect(chunk.endLine).toBeLessThanOrEqual(lines.length);
          expect(chunk.startLine).toBeGreaterThanOrEqual(chunks[index - 1]?.startLine ?? 1);
          expect(chunk.text).not.toContain("\r");
          expect(chunk.text.trim()).not.toBe("");
        }
      }),
    );
  });

  test("a chunk is what its lines say, but for pieces of a split line", () => {
    fc.assert(
      fc.property(words, sizes, (text, size) => {
        const lines = splitLines(text);
        for (const chunk of chunkLines(lines, size)) {
          expect(lines.slice(chunk.startLine - 1, chunk.endLine).join("\n")).toContain(chunk.text);
        }
      }),
    );
  });

  test("no chunk is longer than what it may hold plus its overlap and one segment", () => {
    fc.assert(
      fc.property(words, sizes, (text, size) => {
        const max = Math.max(32, size.tokens * 4);
        for (const chunk of chunkLines(splitLines(text), size)) expect(chunk.text.length).toBeLessThanOrEqual(3 * max + 1);
      }),
    );
  });
});
