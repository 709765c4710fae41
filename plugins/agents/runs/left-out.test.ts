import { expect, test } from "vitest";
import { LeftOut, summaryLine } from "./left-out.ts";

test("what was left out is told once, to its own session", () => {
  const leftOut = new LeftOut();
  leftOut.add("a", "one");
  leftOut.add("a", "two");

  expect(leftOut.take("b")).toBeUndefined();
  expect(leftOut.take("a")).toBe("[While you were busy, 2 messages got no answer:]\n- one\n- two");
  expect(leftOut.take("a")).toBeUndefined();
});

test("of more than twenty lines the newest are told, of the others the number", () => {
  const leftOut = new LeftOut();
  for (let i = 1; i <= 23; i++) leftOut.add("a", `m${i}`);

  const told = leftOut.take("a")?.split("\n") ?? [];
  expect(told.slice(0, 3)).toEqual(["[While you were busy, 23 messages got no answer:]", "- (3 earlier ones)", "- m4"]);
  expect(told.at(-1)).toBe("- m23");
});

test("a thousand sessions are remembered, then the oldest is forgotten", () => {
  const leftOut = new LeftOut();
  for (let i = 0; i <= 1_000; i++) leftOut.add(`s${i}`, "x");
  expect([leftOut.take("s0"), leftOut.take("s1")]).toEqual([undefined, expect.stringContaining("- x")]);
});

test("a message becomes one line of at most 160 characters that says what came with it", () => {
  expect(summaryLine({ message: " a\n  b " })).toBe("a b");
  expect(summaryLine({ message: "x".repeat(200) })).toHaveLength(160);
  expect(summaryLine({ message: "", attachments: [{ type: "text", text: "t" }] })).toBe("[1 attachment]");
});
