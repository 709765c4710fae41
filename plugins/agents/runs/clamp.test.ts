import { wrapExternal } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { growth, LINEAR } from "../../../test/tools/growth.ts";
import { clampText, ResultClamp } from "./clamp.ts";
import { textTokens } from "./tokens.ts";

const call = { name: "look", args: {}, hasOffset: false };
const lines = (n: number, text = "some words") => Array.from({ length: n }, (_, i) => `${i + 1} ${text}`).join("\n");

describe("a long result", () => {
  test("keeps its beginning, its end and a note of the sizes", () => {
    const text = clampText(lines(10_000), 1_000_000, call);
    expect(Buffer.byteLength(text)).toBeLessThan(52_000);
    expect(text).toMatch(/^1 some words\n2 some words\n/);
    expect(text).toMatch(/\n\[… \d+ KB of 155 KB and 10000 lines left out; ask for a smaller part to read the rest …\]\n/);
    expect(text.endsWith("\n10000 some words")).toBe(true);
  });

  test("of a tool with an offset says where the rest begins", () => {
    const text = clampText(lines(10_000), 1_000_000, { ...call, args: { offset: 101 }, hasOffset: true });
    const last = Number(/(\d+) some words\n\n?\[…/.exec(text)?.[1]);
    expect(text).toContain(`use offset=${100 + last + 1} to read on`);
  });

  test("has 2,000 lines at most", () => {
    const text = clampText("x\n".repeat(9_000), 1_000_000, call);
    expect(text.split("\n").length).toBeLessThan(2_010);
  });

  test("of a program keeps more of its end", () => {
    const parts = (name: string) => clampText(lines(10_000), 1_000_000, { ...call, name }).split(/\[….*…\]/);
    const [head = "", tail = ""] = parts("exec");
    expect(head.length).toBeLessThan(tail.length);
    expect((parts("look")[0] ?? "").length).toBeGreaterThan((parts("look")[1] ?? "").length);
  });

  test("keeps the frames of what stands in it: both its parts are closed", () => {
    const text = clampText(wrapExternal(lines(10_000), { source: "Web" }), 1_000_000, call);
    const markers = [...text.matchAll(/<<<(END_)?EXTERNAL_UNTRUSTED_CONTENT/g)].map(([, end]) => (end ? "end" : "begin"));
    expect(markers).toEqual(markers.map((_, i) => (i % 2 === 0 ? "begin" : "end")));
    expect(markers.length).toBeGreaterThan(0);
  });

  test.each([
    ["one line", "word ".repeat(60_000)],
    ["encoded data", "a1B2".repeat(60_000)],
    ["letters of three bytes", "记忆".repeat(60_000)],
  ])("of %s fits its budget", (_name, text) => {
    expect(textTokens(clampText(text, 2_000, call))).toBeLessThan(2_200);
  });

  test("is cut in time that grows with it", () => {
    const work = (n: number) => {
      const text = "x\n".repeat(n);
      return () => clampText(text, 5_000, call);
    };
    expect(growth(work, { from: 20_000, to: 1_280_000 })).toBeLessThan(LINEAR);
  });
});

test("results of one turn take half of the room together, and a quarter each", () => {
  const clamp = new ResultClamp(8_000);
  const sizes = [1, 2, 3].map(() => {
    const [part] = clamp.clamp({ content: [{ type: "text", text: lines(10_000) }] }, call).content;
    return part?.type === "text" ? textTokens(part.text) : 0;
  });
  expect(sizes[0]).toBeLessThan(2_100);
  expect(sizes[2]).toBeLessThan(400);
});

test("a short result and a picture stay as they are", () => {
  const result = {
    content: [
      { type: "text" as const, text: "short" },
      { type: "image" as const, mimeType: "image/png", data: "AAAA" },
    ],
  };
  expect(new ResultClamp(8_000).clamp(result, call)).toEqual(result);
});
