import { expect, test } from "vitest";
import { cutText, snippetOf } from "./snippet.ts";

test("a cut never halves a surrogate pair", () => {
  expect(cutText("ab😀", 3)).toBe("ab");
  expect(cutText("ab😀", 4)).toBe("ab😀");
});

test("a short passage is shown whole", () => {
  expect(snippetOf("router in the hall", ["hall"], 700)).toBe("router in the hall");
});

test("a long passage is shown from its beginning when the words are there", () => {
  const text = `the router\n${"filler line\n".repeat(100)}`;
  expect(snippetOf(text, ["router"], 100)).toBe(text.slice(0, 100));
});

test("a long passage is shown from the line where the words are, when they come later", () => {
  const filler = "filler line\n";
  const text = `${filler.repeat(100)}The Router stands here\n${filler.repeat(100)}`;
  expect(snippetOf(text, ["router"], 60)).toBe(`${filler}The Router stands here\n${filler}${filler}f`);
});

test("at the end of a passage as much as fits is shown before it", () => {
  const text = `${"filler line\n".repeat(100)}The Router stands here`;
  expect(snippetOf(text, ["router"], 60).endsWith("\nThe Router stands here")).toBe(true);
  expect(snippetOf(text, ["router"], 60).length).toBeGreaterThan(45);
});

test("a passage of one endless line is cut", () => {
  expect(snippetOf("x".repeat(5_000), ["router"], 700)).toHaveLength(700);
});

test("hostile text does not make it slow to the point of hanging", () => {
  const text = "天\n".repeat(1_600);
  expect(snippetOf(text, ["天", "", "气"], 700).length).toBeLessThanOrEqual(700);
});
