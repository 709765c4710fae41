import { describe, expect, test } from "vitest";
import { countCodeLines } from "../tools/source/code-lines.ts";
import {
  consoleUses,
  defaultExports,
  disabledTests,
  emptyMatches,
  environmentReads,
  type Finding,
  literalSpreads,
  moduleMocks,
  plainFileWrites,
  shapelessFiles,
  undocumentedExports,
  unfinishedMarks,
  wallClockDurations,
} from "../tools/source/house-rules.ts";
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

  test("watches folders in one place, in the thread of the notes, which loads no SDK, and for the engine beside the gateway", () => {
    const watching = [...product].filter(([, source]) => /import \{[^}]*\bwatch(File)?\b[^}]*\} from "node:fs(\/promises)?"/.test(source));
    expect(watching.map(([path]) => path)).toEqual([
      "kernel/process/folder-watches.ts",
      "plugins/memory-core/engine/watcher.ts",
      "plugins/memory-sidecar/collection-watcher.ts",
    ]);
  });

  test("never writes to the console", () => {
    expect(over(product, consoleUses)).toEqual([]);
  });

  test("spreads no object literal into a literal", () => {
    expect(over(product, literalSpreads)).toEqual([]);
  });

  test("is exported by name, entries excepted", () => {
    expect(over(product, defaultExports)).toEqual([]);
  });

  test("writes files whole or not at all", () => {
    expect(over(product, plainFileWrites)).toEqual([]);
  });

  test("measures durations by the monotonic clock", () => {
    expect(over(product, wallClockDurations)).toEqual([]);
  });
});

describe("the published surface", () => {
  test("says of each export what it is for", () => {
    const sections = [...readRepositoryFile("sdk/api.md").matchAll(/^## (sdk\/\S+)\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm)];
    const published = new Map(sections.map(([, file, text]) => [file as string, new Set(text?.match(/(?<=^export .*)\b[\w$]+/gm))]));
    expect(published.size).toBeGreaterThan(40);
    const found = over(
      readRepositoryFiles((path) => published.has(path)),
      undocumentedExports,
    );
    expect(found.filter(({ file, text }) => published.get(file)?.has(text))).toEqual([]);
  });
});

describe("the repository", () => {
  test("marks nothing as unfinished", () => {
    const texts = readRepositoryFiles((path) => /\.(?:ts|m?js|css|html|md)$/.test(path) && !path.includes("/vendor/"));
    expect(over(texts, unfinishedMarks)).toEqual([]);
  });

  test("has no file without an idea of its own", () => {
    expect(shapelessFiles(repositoryFiles().filter((path) => !/\/(?:vendor|fixtures)\//.test(path)))).toEqual([]);
  });
});

describe("the suite", () => {
  test("skips nothing and narrows nothing", () => {
    const tests = readRepositoryFiles(isTest);
    expect(tests.size).toBeGreaterThan(20);
    expect(over(tests, disabledTests)).toEqual([]);
  });

  test("replaces no module, and matches texts by what can fail", () => {
    const tests = readRepositoryFiles(isTest);
    expect(over(tests, moduleMocks)).toEqual([]);
    expect(over(tests, emptyMatches)).toEqual([]);
  });
});

describe("a breach is caught when", () => {
  test.each([
    ["code reads a variable", environmentReads, "kernel/boot/gateway.ts", "const home = process.env.HOME;"],
    ["a plugin does outside its env.ts", environmentReads, "plugins/store/index.ts", 'const a = process.env["A"];'],
    ["code logs to the console", consoleUses, "kernel/boot/gateway.ts", 'console.log("x");'],
    ["it does so by name", consoleUses, "plugins/store/index.ts", 'console["error"]("x");'],
    ["a literal is spread into a literal", literalSpreads, "kernel/boot/gateway.ts", "const a = { ...{ b, c }, d };"],
    ["a test is narrowed", disabledTests, "a.test.ts", `test${"."}only("x", () => {});`],
    ["a group is left out", disabledTests, "a.test.ts", `describe${"."}skip("x", () => {});`],
    ["a table is left out", disabledTests, "a.test.ts", `test.concurrent${"."}skip("x", () => {});`],
    ["a test is a promise", disabledTests, "a.test.ts", `it${"."}todo("x");`],
    ["a module is exported without a name", defaultExports, "sdk/errors.ts", "export default function make() {}"],
    ["a module is exported so by a list", defaultExports, "plugins/store/reader.ts", "export { read as default };"],
    ["a file is written in place", plainFileWrites, "kernel/config/write.ts", "await writeFile(path, text);"],
    ["a file is written in place at once", plainFileWrites, "plugins/store/index.ts", "appendFileSync(path, text);"],
    ["a limit is a time of day", wallClockDurations, "sdk/jobs.ts", "const deadline = Date.now() + 5;"],
    ["an age is one", wallClockDurations, "sdk/jobs.ts", "if (since < Date.now()) stop();"],
    ["something is left for later", unfinishedMarks, "README.md", `A TO${"DO"} of mine.`],
    ["code names an issue", unfinishedMarks, "sdk/jobs.ts", `// see issue ${"#"}12`],
    ["an export is not explained", undocumentedExports, "sdk/a.ts", "/** One. */\nexport const a = 1;\nexport interface B {\n}"],
    ["a test replaces a module", moduleMocks, "a.test.ts", 'vi.mock("./b.ts");'],
    ["a text is matched by nothing", emptyMatches, "a.test.ts", "expect(a).toMatchObject({ b: [f(1), { c: /d,e/i }] });"],
    ["a test depends on the machine", disabledTests, "a.test.ts", `test${"."}skipIf(true)("x", () => {});`],
  ])("%s", (_name, check, file, source) => {
    expect(check(file, source)).toHaveLength(1);
  });

  test.each([
    ["the config reader reads it", environmentReads, "kernel/config/paths.ts", "const home = process.env.HOME;"],
    ["a plugin's env.ts reads it", environmentReads, "plugins/model-x/env.ts", "const key = process.env.KEY;"],
    ["a comment names it", environmentReads, "kernel/boot/gateway.ts", "// process.env stays outside"],
    ["what is spread depends on something", literalSpreads, "kernel/boot/gateway.ts", "const a = { ...(b ? { b } : {}) };"],
    ["a text names it", consoleUses, "kernel/boot/gateway.ts", 'const hint = "console.log";'],
    ["an object has such a name", consoleUses, "kernel/boot/gateway.ts", "options.consoleLevel.length;"],
    ["a list is skipped over", disabledTests, "a.test.ts", "list.skip(2);"],
    ["an entry is exported without a name", defaultExports, "plugins/store/index.ts", "export default definePlugin({});"],
    ["a command is", defaultExports, "plugins/store/cli/store-status.ts", "export default defineCommand({});"],
    ["a command writes through its context", plainFileWrites, "plugins/store/cli/a.ts", "await cli.writeFile(path, text);"],
    ["a time is kept for display", wallClockDurations, "sdk/jobs.ts", "const at = Date.now();"],
    ["a clock is made", wallClockDurations, "sdk/jobs.ts", "const now = () => Date.now();"],
    ["the age of a file is asked", wallClockDurations, "sdk/jobs.ts", "if (Date.now() - mtimeMs > 5) stop();"],
    ["an export is explained over more lines", undocumentedExports, "sdk/a.ts", "/**\n * One.\n */\nexport const a = 1;"],
    ["a text is matched by a matcher", emptyMatches, "a.test.ts", "expect(a).toMatchObject({ b: expect.stringMatching(/c/) });"],
    ["a quotient is matched", emptyMatches, "a.test.ts", "expect(a).toMatchObject({ b: c / d, e: f / g });"],
  ])("and none when %s", (_name, check, file, source) => {
    expect(check(file, source)).toEqual([]);
  });
});

test.each([
  [["sdk/utils.ts", "plugins/store/helpers.ts", "sdk/loader/index.ts", "plugins/agents/tools/index.ts"], 4],
  [["sdk/index.ts", "sdk/testing/index.ts", "plugins/store/index.ts", "kernel/process/paths.ts"], 0],
])("of %j, %i have no idea of their own", (paths, count) => {
  expect(shapelessFiles(paths)).toHaveLength(count);
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
