import { expect, test } from "vitest";
import { growth, LINEAR } from "../../../test/tools/growth.ts";
import { headingsOf, readOutline, trailAt } from "./headings.ts";

const outline = (text: string) => readOutline(text.split("\n"));

test("the trail of a passage is the headings above it, then those inside it", () => {
  const made = outline("# House\n\n## Hall\n\nrouter\n\n## Kitchen\n\n### Oven\n\nhot");
  expect(headingsOf({ startLine: 5, endLine: 5 }, made)).toBe("House > Hall");
  expect(headingsOf({ startLine: 11, endLine: 11 }, made)).toBe("House > Kitchen > Oven");
  expect(headingsOf({ startLine: 5, endLine: 9 }, made)).toBe("House > Hall > Kitchen > Oven");
});

test("a passage before the first heading has no trail", () => {
  expect(headingsOf({ startLine: 1, endLine: 1 }, outline("text\n\n# Later"))).toBe("");
});

test("the title is the first heading of level one, or the front matter's", () => {
  expect(outline("## Small\n\n# Big").title).toBe("Big");
  expect(outline('---\ntitle: "From above"\ntags: x\n---\n# Other').title).toBe("From above");
});

test("lines in code fences and front matter are no headings", () => {
  const made = outline("---\nname: x\n---\n```sh\n# comment\n```\n# Real\n~~~\n# no\n~~~~\n## Also");
  expect(made.headings.map((h) => h.trail.join("/"))).toEqual(["Real", "Real/Also"]);
});

test("underlined headings and closing marks count, hash tags do not", () => {
  expect(outline("Title\n=====\n\nPart\n----\n\n# Closed ##\n#tag").headings.map((h) => h.trail.at(-1))).toEqual([
    "Title",
    "Part",
    "Closed",
  ]);
});

test("a line of blanks that ends in a line separator does not stop the index: each line is read once", () => {
  const work = (n: number) => {
    const blanks = " ".repeat(n);
    const lines = ["---", `title: ${blanks}x${blanks}\u2028`, "---", `# ${blanks}x${blanks}\u2028`, `# ${"# ".repeat(n / 2)}x`];
    return () => readOutline(lines);
  };

  expect(growth(work, { from: 500, to: 128_000 })).toBeLessThan(LINEAR);
});

test("the trails of many passages are found without a walk over all headings", () => {
  const work = (n: number) => {
    const outline = readOutline(Array.from({ length: n }, (_, i) => `## heading ${i}`));
    return () => {
      for (let line = 1; line < n; line += 10) headingsOf({ startLine: line, endLine: line + 9 }, outline);
      for (let line = 1; line < n; line += 10) trailAt(line, outline);
    };
  };

  expect(growth(work, { from: 500, to: 64_000 })).toBeLessThan(LINEAR);
});
