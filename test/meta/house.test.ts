import { describe, expect, test } from "vitest";
import { countCodeLines } from "../tools/source/code-lines.ts";
import { consoleUses, disabledTests, environmentReads, type Finding } from "../tools/source/house-rules.ts";
import { isProductCode, isTest, readRepositoryFile, readRepositoryFiles, repositoryFiles } from "../tools/source/tree.ts";

const product = readRepositoryFiles(isProductCode);
const plugins = [...new Set(repositoryFiles().flatMap((path) => /^plugins\/([^/]+)\/./.exec(path)?.[1] ?? []))];

function over(files: Map<string, string>, check: (file: string, source: string) => Finding[]): Finding[] {
  return [...files].flatMap(([path, source]) => check(path, source));
}

describe("each plugin", () => {
  test("of this release is found", () => {
    expect(plugins).toEqual(expect.arrayContaining(["agents", "memory-core", "openai-http", "store"]));
  });

  test.each(plugins)("%s has an entry, a manifest of its name, a page and a test", (id) => {
    const files = repositoryFiles().filter((path) => path.startsWith(`plugins/${id}/`));
    const missing = ["index.ts", "svc.plugin.json", "README.md"].filter((name) => !files.includes(`plugins/${id}/${name}`));
    expect(missing).toEqual([]);

    const manifest = JSON.parse(readRepositoryFile(`plugins/${id}/svc.plugin.json`)) as { id: string };
    expect(manifest.id).toBe(id);
    const tested = [...files, ...repositoryFiles().filter((path) => path.startsWith("test/") && path.includes(id))];
    expect(tested.some(isTest), "a test beside the code or under test/").toBe(true);
    expect(readRepositoryFile(`plugins/${id}/README.md`).split("\n").length).toBeGreaterThan(15);
  });

  test.each(plugins)("%s says in its entry what it contributes and nothing more", (id) => {
    expect(countCodeLines(readRepositoryFile(`plugins/${id}/index.ts`))).toBeLessThanOrEqual(60);
  });
});

describe("product code", () => {
  test("reads the environment only where it is meant to", () => {
    expect(over(product, environmentReads)).toEqual([]);
  });

  test("never writes to the console", () => {
    expect(over(product, consoleUses)).toEqual([]);
  });
});

describe("the suite", () => {
  test("skips nothing and narrows nothing", () => {
    const tests = readRepositoryFiles(isTest);
    expect(tests.size).toBeGreaterThan(20);
    expect(over(tests, disabledTests)).toEqual([]);
  });
});

describe("a breach is caught when", () => {
  test.each([
    ["code reads a variable", environmentReads, "kernel/gateway.ts", "const home = process.env.HOME;"],
    ["a plugin does outside its env.ts", environmentReads, "plugins/store/index.ts", 'const a = process.env["A"];'],
    ["code logs to the console", consoleUses, "kernel/gateway.ts", 'console.log("x");'],
    ["it does so by name", consoleUses, "plugins/store/index.ts", 'console["error"]("x");'],
    ["a test is narrowed", disabledTests, "a.test.ts", `test${"."}only("x", () => {});`],
    ["a group is left out", disabledTests, "a.test.ts", `describe${"."}skip("x", () => {});`],
    ["a table is left out", disabledTests, "a.test.ts", `test.concurrent${"."}skip("x", () => {});`],
    ["a test is a promise", disabledTests, "a.test.ts", `it${"."}todo("x");`],
    ["a test depends on the machine", disabledTests, "a.test.ts", `test${"."}skipIf(true)("x", () => {});`],
  ])("%s", (_name, check, file, source) => {
    expect(check(file, source)).toHaveLength(1);
  });

  test.each([
    ["the config reader reads it", environmentReads, "kernel/config/paths.ts", "const home = process.env.HOME;"],
    ["a plugin's env.ts reads it", environmentReads, "plugins/model-x/env.ts", "const key = process.env.KEY;"],
    ["a comment names it", environmentReads, "kernel/gateway.ts", "// process.env stays outside"],
    ["a text names it", consoleUses, "kernel/gateway.ts", 'const hint = "console.log";'],
    ["an object has such a name", consoleUses, "kernel/gateway.ts", "options.consoleLevel.length;"],
    ["a list is skipped over", disabledTests, "a.test.ts", "list.skip(2);"],
  ])("and none when %s", (_name, check, file, source) => {
    expect(check(file, source)).toEqual([]);
  });
});
