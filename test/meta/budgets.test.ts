import { describe, expect, test } from "vitest";
import { functionLengths } from "../tools/source/functions.ts";
import { isProductCode, readRepositoryFiles } from "../tools/source/tree.ts";

const fileBudget = 500;

/** Files that are one long table; each is named here with its reason. */
const tables = new Map<string, string>([["package-lock.json", "written by npm"]]);

const functionBudget = 80;

describe("the budget of", () => {
  test("every file is kept", () => {
    const files = readRepositoryFiles((path) => /\.(ts|js|mjs|css)$/.test(path) && !path.includes("/vendor/"));
    const tooLong = [...files].map(([path, source]) => ({ path, lines: source.split("\n").length - 1 }));
    expect(tooLong.filter(({ path, lines }) => lines > fileBudget && !tables.has(path))).toEqual([]);
  });

  test("a table is still needed by a file of that length", () => {
    const files = readRepositoryFiles((path) => tables.has(path));
    expect([...tables.keys()].filter((path) => (files.get(path)?.split("\n").length ?? 0) - 1 <= fileBudget)).toEqual([]);
  });

  test("every function of the product is kept", () => {
    const long = [...readRepositoryFiles(isProductCode)].flatMap(([path, source]) =>
      functionLengths(source).flatMap(({ name, lines }) => (lines > functionBudget ? [`${path} ${name}`] : [])),
    );
    expect(long).toEqual([]);
  });

  test("a function is measured from its first line to its last, by its own name or that of what it is assigned to", () => {
    const source = "export function a() {\n  const b = () => {\n    return 1;\n  };\n}\nclass C {\n  #d(): void {\n  }\n}\n";
    expect(functionLengths(source)).toEqual([
      { name: "a", line: 1, lines: 5 },
      { name: "b", line: 2, lines: 3 },
      { name: "d", line: 7, lines: 2 },
    ]);
  });
});
