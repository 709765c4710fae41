import { describe, expect, test } from "vitest";
import { countCodeLines } from "../tools/source/code-lines.ts";
import { readRepositoryFiles } from "../tools/source/tree.ts";

const kernelBudget = 3_500;
const fileBudget = 500;

/** Files that are one long table; each is named here with its reason. */
const tables = new Map<string, string>([["package-lock.json", "written by npm"]]);

describe("the budget of", () => {
  test("the kernel is kept", () => {
    const files = readRepositoryFiles((path) => path.startsWith("kernel/") && path.endsWith(".ts") && !path.endsWith(".test.ts"));
    expect(files.size).toBeGreaterThan(20);

    const total = [...files.values()].reduce((sum, source) => sum + countCodeLines(source), 0);
    expect(total).toBeLessThanOrEqual(kernelBudget);
  });

  test("every file is kept", () => {
    const files = readRepositoryFiles((path) => /\.(ts|js|mjs|css)$/.test(path) && !path.includes("/vendor/"));
    const tooLong = [...files].map(([path, source]) => ({ path, lines: source.split("\n").length - 1 }));
    expect(tooLong.filter(({ path, lines }) => lines > fileBudget && !tables.has(path))).toEqual([]);
  });

  test("a table is still needed by a file of that length", () => {
    const files = readRepositoryFiles((path) => tables.has(path));
    expect([...tables.keys()].filter((path) => (files.get(path)?.split("\n").length ?? 0) - 1 <= fileBudget)).toEqual([]);
  });
});

describe("lines of code are counted", () => {
  test.each([
    ["without blank lines", "a;\n\n  \nb;\n", 2],
    ["without line comments", "// one\na; // two\n", 1],
    ["without block comments", "/**\n * text\n */\na;\n", 1],
    ["with code beside a block comment", "a /* x\n y */;\n", 2],
    ["with text that looks like a comment", 'const a = "// no";\nconst b = `/* no\n*/`;\n', 3],
    ["with regular expressions that hold quotes", "const a = /[\"'`/]/;\n// c\nconst b = 1;\n", 2],
    ["with divisions", "const a = b / c; // d / e\nconst f = (g) / 2;\n", 2],
    ["with templates inside templates", `const a = \`\${b ? \`x // \${'y'}\` : ''}\`;\n// z\n`, 1],
    ["not at all in an empty file", "", 0],
  ])("%s", (_name, source, lines) => {
    expect(countCodeLines(source)).toBe(lines);
  });
});
