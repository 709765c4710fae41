import { expect, test } from "vitest";
import { danglingCitations } from "../tools/source/citations.ts";
import { readRepositoryFiles, repositoryFiles } from "../tools/source/tree.ts";

const cites = (path: string) =>
  (/\.(?:ts|js|mjs)$/.test(path) || /\.md$/.test(path)) &&
  !/^examples\/workspace\/|^sdk\/docs\/reference\/|^test\/bench\/RESULTS\.md$/.test(path);

test("every page and every decision that a comment or a page cites is in the repository", () => {
  const files = readRepositoryFiles(cites);
  expect(files.size).toBeGreaterThan(1_000);

  const dangling = [...files].flatMap(([path, source]) => danglingCitations(path, source, repositoryFiles()));

  expect(dangling).toEqual([]);
});

test("each decision has a number of its own, which is that of its title", () => {
  const decisions = readRepositoryFiles((path) => /^kernel\/adr\/\d/.test(path));
  expect(decisions.size).toBeGreaterThan(50);

  const numbers = [...decisions].map(([path, source]) => ({
    file: Number(path.slice(11, 15)),
    title: Number(/^# (?:ADR )?(\d+)/.exec(source)?.[1]),
  }));

  expect(numbers.filter(({ file, title }) => file !== title)).toEqual([]);
  expect(new Set(numbers.map(({ file }) => file)).size).toBe(decisions.size);
});

const paths = ["kernel/adr/0003-hooks-are-rebuilt.md", "plugins/store/README.md", "sdk/docs/reference/hooks.md"];

test.each([
  ["a page that is not there", "// See `protocol.md`."],
  ["a section of a page", "/** Bounds (`hooks.md` 10). */"],
  ["an entry of a list elsewhere", "// Counted first (R-26)."],
  ["a decision that was never taken", "// Swapped whole (kernel/adr/0099)."],
])("%s is a finding", (_name, comment) => {
  expect(danglingCitations("kernel/a.ts", `const a = 1;\n${comment}\n`, paths)).toMatchObject([{ line: 2 }]);
});

test.each([
  ["a page", "// See `plugins/store/README.md`, `README.md` and ../reference/hooks.md."],
  ["a decision", "// See ADR 0003 and kernel/adr/0003-hooks-are-rebuilt.md."],
  ["a file of an operator", "// `AGENTS.md`, `memory/2026-01-01.md`, `memory/**/*.md` and `<day>.md`."],
  ["code", 'const text = "protocol.md 3.2";'],
])("%s is none", (_name, comment) => {
  expect(danglingCitations("kernel/a.ts", comment, paths)).toEqual([]);
});
