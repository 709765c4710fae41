import { expect, test } from "vitest";
import { replaceText } from "./replace-text.ts";

test("lines around the place are shown, and only the piece changes", () => {
  const text = "1\n2\n3\n4\n5 old\n6\n7\n8\n9\n";
  expect(replaceText(text, { oldText: "old", newText: "new" })).toEqual({
    text: "1\n2\n3\n4\n5 new\n6\n7\n8\n9\n",
    count: 1,
    diff: "@@ line 5 @@\n 2\n 3\n 4\n-5 old\n+5 new\n 6\n 7\n 8",
  });
});

test.each([
  ["mixed line ends", "a\r\nb\nc\r\n", { oldText: "b", newText: "B" }, "a\r\nB\nc\r\n"],
  ["a piece with CR LF itself", "a\r\nb\r\n", { oldText: "a\r\nb", newText: "x\r\ny" }, "x\r\ny\r\n"],
  ["a dollar sign", "a", { oldText: "a", newText: "$&$1" }, "$&$1"],
  ["every place", "a-a-a", { oldText: "a", newText: "bb", all: true }, "bb-bb-bb"],
  ["nothing in place of it", "ab", { oldText: "a", newText: "" }, "b"],
])("%s", (_name, text, args, changed) => {
  expect(replaceText(text, args)).toMatchObject({ text: changed });
});

test.each([
  [{ oldText: "", newText: "x" }, "oldText is empty; expected the text to replace"],
  [{ oldText: "a", newText: "a" }, "oldText and newText are the same"],
])("%j is no change", (args, problem) => {
  expect(replaceText("a", args)).toEqual({ problem });
});

test("the difference of a thousand places is short", () => {
  const replaced = replaceText("a\n".repeat(1_000), { oldText: "a", newText: "b", all: true });
  expect("diff" in replaced && replaced.diff.endsWith("… and 990 more")).toBe(true);
});
