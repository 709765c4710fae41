import { expect, test } from "vitest";
import type { MarkdownIR } from "../types/channel.ts";
import { markedText } from "./marked-text.ts";

const marks: Readonly<Record<string, string>> = { bold: "*", italic: "_", quote: "> " };
const marksOf = ({ kind }: MarkdownIR["spans"][number]) => [marks[kind] ?? "", kind === "quote" ? "" : (marks[kind] ?? "")] as const;

test.each<[string, MarkdownIR["spans"], string, string]>([
  ["nothing to mark", [], "plain", "plain"],
  [
    "one inside the other",
    [
      { kind: "bold", start: 0, end: 6 },
      { kind: "italic", start: 4, end: 6 },
    ],
    "one 🙂!",
    "*one _🙂_*!",
  ],
  [
    "neighbours",
    [
      { kind: "bold", start: 0, end: 1 },
      { kind: "italic", start: 1, end: 2 },
    ],
    "ab",
    "*a*_b_",
  ],
  [
    "a quotation of several lines",
    [
      { kind: "quote", start: 2, end: 7 },
      { kind: "bold", start: 4, end: 5 },
    ],
    "a\nb\nc\nd\ne",
    "a\n> b\n> *c*\n> d\ne",
  ],
])("%s", (_, spans, text, expected) => {
  expect(markedText({ text, spans }, { marksOf })).toBe(expected);
});

test("the text between the marks is cleaned, the marks are not", () => {
  const spans = [{ kind: "bold" as const, start: 1, end: 3 }];
  expect(markedText({ text: "*a*b", spans }, { marksOf, clean: (part) => part.replaceAll("*", "") })).toBe("*a*b");
});
