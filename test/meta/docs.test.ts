import { describe, expect, test } from "vitest";
import { collectReference, errorSpecsIn, errorTables, readManifests } from "../tools/docs/collect.ts";
import { referencePages } from "../tools/docs/pages.ts";
import { type SchemaNode, schemaRows, typeOf } from "../tools/docs/schema-rows.ts";
import { table } from "../tools/docs/table.ts";
import { callsWith, mentions, names, usesAsValue } from "../tools/source/mentions.ts";
import { isProductCode, isTest, readRepositoryFile, readRepositoryFiles, repositoryFiles } from "../tools/source/tree.ts";

const product = [...readRepositoryFiles((path) => isProductCode(path) && path.endsWith(".ts"))];
const tests = [...readRepositoryFiles((path) => isTest(path) && !path.startsWith("test/meta/"))];
const input = await collectReference((path) => import(path));
const pages = referencePages(input);
const pageText = (name: string) => pages.get(name) as string;

const camelCase = (code: string) => code.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
const without = (names: readonly string[], has: (name: string) => boolean) => names.filter((name) => !has(name));
const inProduct = (check: (source: string) => boolean, under = "") =>
  product.some(([path, source]) => path.startsWith(under) && check(source));
const inTests = (name: string) => tests.some(([, source]) => mentions(source, name));

describe("the reference", () => {
  test.each([...pages.keys()])("page %s is what the code says", (name) => {
    expect(readRepositoryFile(`sdk/docs/reference/${name}`)).toBe(pages.get(name));
  });

  test("has a row for every config key", () => {
    const paths = schemaRows(input.config).map((row) => row.path);
    expect(paths.length).toBeGreaterThan(50);
    expect(without(paths, (path) => pageText("config.md").includes(`| \`${path}\` |`))).toEqual([]);
  });
});

describe("every hook", () => {
  const hookNames = Object.keys(input.hooks);

  test("is emitted by somebody", () => {
    const emitters = ["runHook", "hooks\\.run", "bus\\.run"];
    expect(without(hookNames, (name) => inProduct((source) => callsWith(source, emitters, name)))).toEqual([]);
  });

  test("is named by a test", () => {
    expect(without(hookNames, (name) => tests.some(([, source]) => names(source, name)))).toEqual([]);
  });

  test("has a row", () => {
    expect(without(hookNames, (name) => pageText("hooks.md").includes(`| \`${name}\` |`))).toEqual([]);
  });
});

describe("every error code", () => {
  const codes = input.errors.map((e) => e.code);

  test("is defined in a file called errors.ts", () => {
    expect(errorTables().filter((path) => !path.endsWith("/errors.ts"))).toEqual([]);
  });

  test("has a row", () => {
    expect(without(codes, (code) => pageText("errors.md").includes(`| \`${code}\` |`))).toEqual([]);
  });

  test("of a plugin is written beside its manifest", async () => {
    const tables = errorTables().filter((path) => path.startsWith("plugins/"));
    const defined = await Promise.all(
      tables.map(async (path) =>
        Object.keys(await errorSpecsIn(path, (file) => import(file))).map((code) => `${path.split("/")[1]}: ${code}`),
      ),
    );
    const written = input.errors.filter(({ owner }) => owner !== "kernel" && owner !== "sdk");
    expect(defined.flat().sort()).toEqual(written.map(({ owner, code }) => `${owner}: ${code}`).sort());
  });

  test("is used by somebody", () => {
    const isMade = (source: string, code: string) => new RegExp(`rrors\\.${camelCase(code)}\\(`).test(source);
    const isNamed = (source: string, code: string) => usesAsValue(source, code) && !source.includes("defineErrors({");
    const isUsed = (code: string) => inProduct((source) => isMade(source, code) || isNamed(source, code));
    expect(without(codes, (code) => isUsed(code))).toEqual([]);
  });

  test("stands in one table only", () => {
    expect(codes.filter((code, i) => codes.indexOf(code) !== i)).toEqual([]);
  });

  test("belongs to the layer or plugin whose file defines it", () => {
    const wrong = input.errors.filter(({ code, owner }) => {
      const folder = owner === "kernel" || owner === "sdk" ? `${owner}/` : `plugins/${owner}/`;
      return !product.some(([path, source]) => path.startsWith(folder) && path.endsWith("/errors.ts") && mentions(source, code));
    });
    expect(wrong.map(({ code }) => code)).toEqual([]);
  });

  test("is compared only where it exists", () => {
    const compared = product.flatMap(([path, source]) =>
      [...source.matchAll(/isSvcError\([^()]+, "([^"]+)"\)/g)].map((m) => ({ path, code: m[1] as string })),
    );
    expect(compared.length).toBeGreaterThan(20);
    expect(compared.filter(({ code }) => !codes.includes(code))).toEqual([]);
  });
});

describe("every code in error.details.code", () => {
  const chosenLater = Object.values(input.chosenDetailsCodes).flatMap((codes) => Object.keys(codes));
  const listed = new Set([...input.errors.flatMap((e) => e.details ?? []), ...chosenLater]);
  const chosen = product.flatMap(([path, source]) =>
    [...source.matchAll(/(?<=\bdetails: |\bnew RunFailure\()"([A-Z][A-Z_]+)"/g)].map((m) => ({ path, code: m[1] as string })),
  );

  test("has a row", () => {
    expect(chosen.length).toBeGreaterThan(20);
    expect(chosen.filter(({ code }) => !listed.has(code))).toEqual([]);
    expect(without([...listed], (code) => pageText("errors.md").includes(`| \`${code}\` |`))).toEqual([]);
  });

  test("is told by the tables of errors or chosen later, not both", () => {
    expect(input.errors.filter((e) => e.details !== undefined && chosenLater.includes(e.details))).toEqual([]);
  });

  test("that is chosen later is named by a test", () => {
    expect(without(chosenLater, inTests)).toEqual([]);
  });
});

describe("every protocol method", () => {
  const names = Object.keys(input.methods);

  test("is answered by the one that the page names", () => {
    const unanswered = without(names, (name) => {
      const owner = input.methodOwners[name];
      // The owner takes the row from its table: `methodOf(table, "notes.list")`.
      const isTaken = (source: string) => callsWith(source.replace(/\bmethodOf\(\w+,\s*/g, "methodOf("), ["methodOf"], name);
      return inProduct(isTaken, owner ? `plugins/${owner}/` : "kernel/");
    });
    expect(unanswered).toEqual([]);
  });

  test("is named by a test", () => {
    expect(without(names, inTests)).toEqual([]);
  });

  test("has a row", () => {
    expect(without(names, (name) => pageText("methods.md").includes(`| \`${name}\` |`))).toEqual([]);
  });
});

describe("every protocol event", () => {
  const names = Object.keys(input.events);

  test("is sent by somebody", () => {
    const senders = product.filter(([path]) => !/^sdk\/(protocol|client)\/|^plugins\/[^/]+\/protocol[-./]/.test(path));
    expect(without(names, (name) => senders.some(([, source]) => mentions(source.replace(/\.on\("[^"]+"/g, ".on("), name)))).toEqual([]);
  });

  test("is declared by the plugin that sends it, if a plugin does", () => {
    const declared = new Set(readManifests().flatMap((m) => m.contributes?.events ?? []));
    const undeclared = product
      .filter(([path]) => path.startsWith("plugins/"))
      .flatMap(([path, source]) =>
        names.filter((name) => callsWith(source, ["ctx\\.emit"], name) && !declared.has(name)).map((name) => `${path}: ${name}`),
      );
    expect(undeclared).toEqual([]);
  });

  test("is named by a test", () => {
    expect(without(names, inTests)).toEqual([]);
  });
});

describe("the README", () => {
  const readme = readRepositoryFile("README.md");
  const shown = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map((m) => m[1] as string).join("\n");

  test("starts with the two commands that matter", () => {
    expect(readme.split("\n").slice(0, 6)).toEqual(["# svc", "", "```sh", "npm install && npm start", "npm install && npm test", "```"]);
  });

  test("shows only commands that exist", () => {
    const known = new Set(["gateway", ...readManifests().flatMap((m) => (m.cli ?? []).map((command) => command.name))]);
    const used = [...shown.matchAll(/(?:^|\()svc ((?:[a-z]+ )?[a-z]+)/gm)].map((m) => m[1] as string);
    expect(used.length).toBeGreaterThan(2);
    expect(used.filter((name) => !known.has(name) && !known.has(name.split(" ")[0] as string))).toEqual([]);
  });
});

describe.each([
  ["README.md", 1],
  ["CONTRIBUTING.md", 30],
])("%s", (page, least) => {
  test("names only folders and files that exist", () => {
    const text = readRepositoryFile(page);
    const named = [...text.matchAll(/`((?:kernel|sdk|plugins|bin|test|examples)\/[\w./-]*)`/g)].map((m) =>
      (m[1] as string).replace(/\/$/, ""),
    );
    const isThere = (name: string) =>
      repositoryFiles().some((path) => path === name || path.startsWith(`${name}/`) || path.startsWith(`${name}-`));
    expect(named.length).toBeGreaterThan(least);
    expect(without(named, isThere)).toEqual([]);
  });

  test("links only to files that exist", () => {
    const targets = [...readRepositoryFile(page).matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map((m) =>
      (m[1] as string).replace(/\/$/, ""),
    );
    expect(targets.length).toBeGreaterThan(3);
    expect(without(targets, (target) => repositoryFiles().some((path) => path === target || path.startsWith(`${target}/`)))).toEqual([]);
  });
});

describe("a mention counts", () => {
  test.each([
    ["a call", `await ctx.runHook("memory.query", {});`, true],
    ["a call over lines", `await ctx.runHook(\n  "memory.query",\n  {});`, true],
    ["a call with a type", `ctx.runHook<"x">("memory.query", {});`, true],
    ["a comment", `// runHook("memory.query")`, false],
    ["another name that only begins so", `ctx.runHook("memory.query.more", {});`, false],
    ["the name without the call", `const a = "memory.query";`, false],
  ])("of %s", (_name, source, counts) => {
    expect(callsWith(source, ["runHook"], "memory.query")).toBe(counts);
  });

  test.each([
    ["as a string", `throw new SvcError("no-disk");`, true],
    ["in a comment", `// "no-disk"`, false],
    ["as a part of a longer one", `throw new SvcError("no-disk-left");`, false],
  ])("of a code %s", (_name, source, counts) => {
    expect(mentions(source, "no-disk")).toBe(counts);
  });

  test("of a hook in the title of a test, but not in a comment or as the beginning of another", () => {
    expect(names(`test("rpc.before may refuse", () => {});`, "rpc.before")).toBe(true);
    expect(names("// rpc.before", "rpc.before")).toBe(false);
    expect(names(`test("rpc.before.all", () => {});`, "rpc.before")).toBe(false);
  });

  test("of a code as a value only where it is no key", () => {
    expect(usesAsValue(`defineErrors({ "no-disk": { http: 500 } })`, "no-disk")).toBe(false);
    expect(usesAsValue(`throw new SvcError(full ? "no-disk" : "x");`, "no-disk")).toBe(true);
    expect(usesAsValue(`// "no-disk"`, "no-disk")).toBe(false);
  });
});

describe("a schema becomes rows", () => {
  const rows = (schema: SchemaNode) => schemaRows(schema).map((row) => `${row.path}: ${row.type}`);

  test("by the path of each value", () => {
    const schema: SchemaNode = {
      type: "object",
      properties: {
        a: { type: "object", properties: { b: { type: "integer" }, c: { type: "string" } } },
        list: { type: "array", items: { type: "object", properties: { id: { type: "string" } } } },
        map: { type: "object", additionalProperties: { type: "object", properties: { on: { type: "boolean" } } } },
        open: { type: "object", additionalProperties: true },
        empty: { type: "object", additionalProperties: {} },
      },
    };
    expect(rows(schema)).toEqual([
      "a.b: integer",
      "a.c: string",
      "list: list of object",
      "list[].id: string",
      "map.<name>.on: boolean",
      "open: object",
      "empty: object",
    ]);
  });

  test("with both forms of a choice", () => {
    const model: SchemaNode = { anyOf: [{ type: "string" }, { type: "object", properties: { primary: { type: "string" } } }] };
    expect(rows({ properties: { model } })).toEqual(["model: string or object", "model.primary: string"]);
    expect(typeOf({ enum: ["a", "b"] })).toBe('"a" or "b"');
  });

  test("with ranges, secrets and needs", () => {
    const schema: SchemaNode = {
      required: ["port"],
      properties: { port: { type: "integer", minimum: 1, maximum: 65535 }, token: { type: "string", minLength: 1, sensitive: true } },
    };
    expect(schemaRows(schema)).toMatchObject([
      { path: "port", required: true, note: "1 to 65535" },
      { path: "token", required: false, note: "secret; at least 1 character" },
    ]);
  });

  test("and a cell never breaks its table", () => {
    expect(table(["a"], [["x | y\nz"]])).toBe("| a |\n|---|\n| x \\| y z |");
  });
});
