import { describe, expect, test } from "vitest";
import { readRepositoryFiles } from "../tools/source/tree.ts";

const fileBudget = 500;

/** Files that are one long table; each is named here with its reason. */
const tables = new Map<string, string>([["package-lock.json", "written by npm"]]);

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
});
