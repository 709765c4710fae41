import { describe, expect, test } from "vitest";
import { unreached } from "../tools/source/reach.ts";
import { isProductCode, readRepositoryFile, readRepositoryFiles } from "../tools/source/tree.ts";

/** Names that nobody imports by an entry, each with the one who needs it all the same. */
const seams: Readonly<Record<string, string>> = {
  "sdk/config/channels.ts commonChannelKeys": "the kernel composes plugins' schemas of channels from them",
  "sdk/config/fields.ts aliasesOf": "sections of plugins are written as JSON Schema with it",
  "sdk/config/fields.ts choice": "the kernel reads sections of plugins with it, where they give other names",
  "sdk/errors.ts errorSpecsOf": "the pages of errors are written from the tables",
  "sdk/failpoint.ts setFailpoint": "tests and processes that they start",
  "sdk/internal/arrivals.ts knowsArrivals": "a plugin's lease covers a stream in both of its forms",
  "sdk/testing/wire-check.ts createFrameCheck": "tests that read the wire themselves",
  "sdk/testing/wire-check.ts failOnWireFaults": "the setup of test files that share a process",
  "sdk/worker.ts setCompiledModules": "tests, whose threads run compiled",
};

const sdk = readRepositoryFiles((path) => path.startsWith("sdk/") && path.endsWith(".ts") && isProductCode(path));
const { exports } = JSON.parse(readRepositoryFile("package.json")) as { exports: Record<string, string | Record<string, string>> };
/** Sources of everything that `package.json` publishes, the page's client included. */
const entries = Object.values(exports).flatMap((entry) =>
  typeof entry === "string" ? [] : [entry["svc:source"] ?? "", entry.browser ?? ""].filter(Boolean).map(sourceOf),
);

const isInternal = (path: string) => path.startsWith("sdk/internal/");

function sourceOf(path: string): string {
  return path.replace(/^\.\/(?:dist\/)?/, "").replace(/\.js$/, ".ts");
}

/** Names in the braces of statements. */
function namesIn(text: string, statement: RegExp): string[] {
  return [...text.matchAll(statement)]
    .flatMap(([, names = ""]) => names.split(",").map((name) => name.replace(/\btype\b/, "").trim()))
    .filter(Boolean);
}

describe("the sdk", () => {
  test("has the entries that this suite believes to be reading", () => {
    expect(entries).toEqual([
      "sdk/index.ts",
      "sdk/internal/index.ts",
      "sdk/testing/index.ts",
      "sdk/client/index.ts",
      "sdk/client/browser.ts",
    ]);
    expect(sdk.size).toBeGreaterThan(100);
  });

  test("holds nothing that no published entry needs", () => {
    expect(unreached(sdk, entries)).toEqual(Object.keys(seams).sort());
  });

  test("holds nothing outside its folder internal that only the plugins here need", () => {
    const contract = new Map([...sdk].filter(([path]) => !isInternal(path)));
    // Names that only plugins here take from a file of the contract are no finding.
    const files = unreached(contract, entries).filter((one) => !one.includes(" "));
    expect(files).toEqual([]);
  });

  test.each([
    ["the contract, without the kit of tests", (path: string) => !isInternal(path) && !path.startsWith("sdk/testing/"), 12_000],
    ["what only the plugins here share", isInternal, 3_000],
  ])("keeps the lines of %s within a budget", (_, isIn, budget) => {
    const lines = [...sdk].filter(([path]) => isIn(path)).reduce((sum, [, text]) => sum + text.split("\n").length - 1, 0);
    expect(lines).toBeGreaterThan(1_000);
    expect(lines).toBeLessThanOrEqual(budget);
  });

  test("offers nothing to the plugins here that none of them imports", () => {
    const offered = namesIn(sdk.get("sdk/internal/index.ts") ?? "", /^export \{([^}]*)\} from/gm);
    const plugins = readRepositoryFiles((path) => /^plugins\/.*\.ts$/.test(path));
    const taken = new Set(
      [...plugins.values()].flatMap((text) => namesIn(text, /^import (?:type )?\{([^}]*)\} from "svc\/sdk\/internal";/gm)),
    );
    expect(taken.size).toBeGreaterThan(40);
    expect(offered.filter((name) => !taken.has(name))).toEqual([]);
  });
});

describe("what no entry needs is found when", () => {
  const of = (files: Record<string, string>) => unreached(new Map(Object.entries(files)), ["sdk/index.ts"]);

  test.each<[string, Record<string, string>, string[]]>([
    ["nobody imports a file", { "sdk/index.ts": "", "sdk/a.ts": "export const a = 1;" }, ["sdk/a.ts"]],
    [
      "two files import each other alone",
      { "sdk/index.ts": "", "sdk/a.ts": `import "./b.ts";`, "sdk/b.ts": `import type { A } from "./a.ts";` },
      ["sdk/a.ts", "sdk/b.ts"],
    ],
    [
      "a needed file exports a name that is for others",
      { "sdk/index.ts": `export { a } from "./a.ts";`, "sdk/a.ts": "export const a = 1;\nexport function b(): void {}" },
      ["sdk/a.ts b"],
    ],
    [
      "a name is only told of",
      { "sdk/index.ts": `export { a } from "./a.ts";`, "sdk/a.ts": "/** Not `b`. */\nexport const a = 1;\nexport const b = 2;" },
      ["sdk/a.ts b"],
    ],
    [
      "a file that nobody needs is the one that takes it",
      {
        "sdk/index.ts": `export { a } from "./a.ts";`,
        "sdk/a.ts": "export const a = 1;\nexport const b = 2;",
        "sdk/c.ts": `import { b } from "./a.ts";`,
      },
      ["sdk/a.ts b", "sdk/c.ts"],
    ],
  ])("%s", (_, files, found) => {
    expect(of(files)).toEqual(found);
  });

  test.each<[string, Record<string, string>]>([
    ["a type is passed on", { "sdk/index.ts": `export type { A } from "./a.ts";`, "sdk/a.ts": "export interface A {}" }],
    ["all names are passed on", { "sdk/index.ts": `export * from "./a.ts";`, "sdk/a.ts": "export const a = 1;" }],
    ["a type is written in place", { "sdk/index.ts": `export let a: import("./a.ts").A;`, "sdk/a.ts": "export interface A {}" }],
    ["a file is imported later", { "sdk/index.ts": `await import("./a.ts");`, "sdk/a.ts": "export const a = 1;" }],
    ["a file runs in a thread", { "sdk/index.ts": `workerUrl(import.meta.url, "a.worker");`, "sdk/a.worker.ts": "" }],
    [
      "its own file uses it",
      { "sdk/index.ts": `export { a } from "./a.ts";`, "sdk/a.ts": "export interface B {}\nexport const a: B = {};" },
    ],
  ])("and not when %s", (_, files) => {
    expect(of(files)).toEqual([]);
  });
});
