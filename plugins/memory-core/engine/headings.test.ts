import { expect, test } from "vitest";
import { headingsOf, readOutline } from "./headings.ts";

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
