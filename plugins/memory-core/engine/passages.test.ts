import { expect, test } from "vitest";
import { passagesOf } from "./passages.ts";

const options = { path: "memory/note.md", chunking: { tokens: 400, overlap: 80 } };

/** Characters that the rows of a file hold beside its text. */
function beside(text: string): number {
  const { list, pathWords } = passagesOf(text, options);
  return list.reduce((sum, { heading, trail }) => sum + heading.length + trail.length + pathWords.length, 0);
}

test.each([
  ["one heading", (size: number) => `# ${"word ".repeat(size / 5)}`],
  ["a title of front matter", (size: number) => `---\ntitle: ${"x".repeat(size)}\n---\n${"word ".repeat(size / 5)}`],
  [
    "headings inside one another",
    (size: number) => [1, 2, 3, 4, 5, 6].map((n) => `${"#".repeat(n)} ${"word ".repeat(size / 30)}`).join("\n"),
  ],
])("a file that is %s fills the index with no more than a few times its size", (_name, write) => {
  const text = write(400_000);

  expect(beside(text)).toBeLessThan(4 * text.length);
});

test("passages behind more headings than anybody writes have no trail, and those before them theirs", () => {
  const lines = Array.from({ length: 10_100 }, (_, i) => `# heading ${i}`);
  const { list } = passagesOf(lines.join("\n"), { ...options, chunking: { tokens: 32, overlap: 0 } });

  expect(list.find(({ trail }) => trail !== "")?.trail).toBe("heading 0");
  expect(list.some(({ trail }) => trail.startsWith("heading 999"))).toBe(true);
  expect(list.at(-1)).toMatchObject({ trail: "", heading: "" });
});
