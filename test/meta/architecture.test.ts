import { describe, expect, test } from "vitest";
import {
  boundaryViolations,
  closureOf,
  graphOf,
  importCycles,
  kernelPackages,
  kernelRooms,
  type ModuleGraph,
  pluginPackages,
  roomOf,
  sharedPackages,
  targetOf,
} from "../tools/source/boundaries.ts";
import { importsOf, packageOf } from "../tools/source/imports.ts";
import { readRepositoryFile, readRepositoryFiles } from "../tools/source/tree.ts";

const sources = readRepositoryFiles((path) => /^(kernel|sdk|plugins|examples)\/.*\.(ts|js|mjs)$/.test(path) && !path.includes("/vendor/"));
const graph = graphOf(sources);
const product: ModuleGraph = new Map([...graph].filter(([path]) => !path.endsWith(".test.ts")));

/** Rules broken by a tree of one file with one import line. */
function broken(file: string, ...lines: string[]): string[] {
  return boundaryViolations(graphOf(new Map([[file, lines.join("\n")]]))).map((v) => v.rule);
}

describe("the repository", () => {
  test("has the modules this suite believes to be reading", () => {
    for (const layer of ["kernel", "sdk", "plugins"]) {
      expect([...product.keys()].filter((path) => path.startsWith(`${layer}/`)).length, layer).toBeGreaterThan(20);
    }
    const edges = [...product.values()].reduce((sum, imports) => sum + imports.length, 0);
    expect(edges).toBeGreaterThan(product.size);
  });

  test("imports only in the allowed directions", () => {
    expect(boundaryViolations(graph)).toEqual([]);
  });

  test("has no import cycle", () => {
    expect(importCycles(product)).toEqual([]);
  });

  test("names every vendor package in one plugin only", () => {
    const owners = new Map<string, string[]>();
    for (const [id, packages] of Object.entries(pluginPackages)) {
      for (const name of packages) owners.set(name, [...(owners.get(name) ?? []), id]);
    }
    const shared = [...owners].filter(([name, ids]) => ids.length > 1 && !sharedPackages.has(name));
    expect(shared).toEqual([]);
  });

  test("lists no package that the kernel has stopped using", () => {
    const imported = new Set(
      [...product].filter(([path]) => path.startsWith("kernel/")).flatMap(([, all]) => all.map((one) => packageOf(one.specifier))),
    );
    expect([...kernelPackages].filter((name) => !imported.has(name))).toEqual([]);
  });

  test("lists no vendor package that its plugin has stopped using", () => {
    const unused = Object.entries(pluginPackages).flatMap(([id, packages]) =>
      packages
        .filter((name) => ![...sources].some(([path, text]) => path.startsWith(`plugins/${id}/`) && text.includes(name)))
        .map((name) => `${id}: ${name}`),
    );
    expect(unused).toEqual([]);
  });

  test("has the rooms of the kernel that its rules name, each with a short README that names the file to read first", () => {
    const rooms = new Set([...product.keys()].filter((path) => path.startsWith("kernel/")).flatMap((path) => roomOf(path) ?? []));
    expect([...rooms].sort()).toEqual(Object.keys(kernelRooms).sort());
    for (const room of rooms) {
      const readme = readRepositoryFile(`kernel/${room}/README.md`).trimEnd().split("\n");
      expect(readme.length, room).toBeLessThanOrEqual(15);
      const entry = /^Read `([\w-]+\.ts)` first\./m.exec(readme.join("\n"))?.[1];
      expect(product.has(`kernel/${room}/${entry}`), `${room}: ${entry}`).toBe(true);
    }
  });

  test("uses every direction between rooms that its rules allow", () => {
    const used = new Set<string>();
    for (const [path, imports] of product) {
      for (const { specifier } of imports)
        if (specifier.startsWith(".")) used.add(`${roomOf(path)} → ${roomOf(targetOf(path, specifier))}`);
    }
    const allowed = Object.entries(kernelRooms).flatMap(([room, others]) => others.map((other) => `${room} → ${other}`));
    expect(allowed.filter((one) => !used.has(one))).toEqual([]);
  });

  test("gives the browser a client that needs no package at all", () => {
    const files = closureOf(graph, "sdk/client/browser.ts");
    expect(files.size).toBeGreaterThan(1);
    const bare = [...files].flatMap((file) =>
      (graph.get(file) ?? []).filter((one) => !one.typeOnly && !one.specifier.startsWith(".")).map((one) => `${file}: ${one.specifier}`),
    );
    expect(bare).toEqual([]);
  });
});

describe("a wrong import is caught when", () => {
  test.each([
    ["the kernel imports a plugin", "kernel/boot/gateway.ts", `import x from "../plugins/store/index.ts";`],
    ["the kernel imports a vendor", "kernel/boot/gateway.ts", `import Database from "better-sqlite3";`],
    ["the kernel imports a package that is not on its list", "kernel/boot/gateway.ts", `import express from "express";`],
    ["the kernel imports the command line's package elsewhere", "kernel/boot/gateway.ts", `import { Cli } from "clipanion";`],
    ["the kernel goes through the published name", "kernel/boot/gateway.ts", `import { z } from "svc/sdk";`],
    ["a room of the kernel imports one above it", "kernel/hooks/bus.ts", `import { x } from "../loader/loader.ts";`],
    ["a room of the kernel takes a type from one above it", "kernel/auth/grants.ts", `import type { X } from "../port/http.ts";`],
    ["a file stands in a room that is none", "kernel/misc/a.ts", `import { x } from "../hooks/bus.ts";`],
    ["a plugin imports the kernel", "plugins/store/index.ts", `import { x } from "../../kernel/boot/gateway.ts";`],
    ["a plugin imports the tree of the sdk", "plugins/store/index.ts", `import { x } from "../../sdk/index.ts";`],
    ["a plugin imports another", "plugins/store/index.ts", `import type { X } from "../agents/kit.ts";`],
    ["a plugin imports another later", "plugins/store/index.ts", `const x = await import("../agents/kit.ts");`],
    ["a plugin imports another's vendor", "plugins/agents/index.ts", `import Database from "better-sqlite3";`],
    ["a plugin imports zod itself", "plugins/agents/index.ts", `import { z } from "zod";`],
    ["a plugin's code imports the test kit", "plugins/agents/index.ts", `import { createTestGateway } from "svc/sdk/testing";`],
    ["a plugin's test imports another plugin", "plugins/agents/run.test.ts", `import { openStore } from "../store/open-store.ts";`],
    ["the sdk imports the kernel", "sdk/define.ts", `import { x } from "../kernel/boot/gateway.ts";`],
    ["the sdk imports a package", "sdk/define.ts", `import { H3 } from "h3";`],
    ["the contract imports what only plugins here share", "sdk/define.ts", `import { x } from "./internal/json-shape.ts";`],
    ["the sdk's types bring code", "sdk/types/tool.ts", `import { z } from "../index.ts";`],
    ["the client imports zod", "sdk/client/core.ts", `import { z } from "zod";`],
    ["an example reaches into the tree", "examples/plugin-hello/index.ts", `import { z } from "../../sdk/index.ts";`],
    ["an example imports a package", "examples/plugin-hello/index.ts", `import { z } from "zod";`],
    ["a module passes a name on", "plugins/store/index.ts", `export { x } from "../../kernel/boot/gateway.ts";`],
    ["an import is only for its effects", "plugins/store/index.ts", `import "../../kernel/errors.ts";`],
    ["an import spreads over lines", "plugins/store/index.ts", `import {\n  a,\n  type B,\n} from "../../kernel/errors.ts";`],
  ])("%s", (_name, file, line) => {
    expect(broken(file, line)).toHaveLength(1);
  });

  test.each([
    ["a plugin uses the sdk and its own files", "plugins/store/index.ts", `import { z } from "svc/sdk";\nimport { x } from "./rows.ts";`],
    ["a plugin uses its vendor", "plugins/store/native.ts", `import type Database from "better-sqlite3";`],
    ["the kernel's command line imports its package", "kernel/cli/a.ts", `import { Cli } from "clipanion/lib/advanced/index.js";`],
    ["the sdk's types use types", "sdk/types/context.ts", `import type { SvcConfig } from "../config/root.ts";`],
    ["the test kit boots the kernel", "sdk/testing/gateway.ts", `import { createGateway } from "../../kernel/boot/gateway.ts";`],
    ["a comment names a forbidden module", "plugins/store/index.ts", `// import { x } from "../../kernel/boot/gateway.ts";`],
    ["a fixture in a template does", "plugins/store/a.test.ts", 'const text = `\nimport x from "../agents/kit.ts";\n`;'],
  ])("and none when %s", (_name, file, line) => {
    expect(broken(file, line)).toEqual([]);
  });
});

describe("cycles", () => {
  const files = (entries: Record<string, string>) => graphOf(new Map(Object.entries(entries)));

  test("of two modules are found", () => {
    const found = importCycles(files({ "kernel/a.ts": `import "./b.ts";`, "kernel/b.ts": `import "./a.ts";` }));
    expect(found).toEqual([["kernel/a.ts", "kernel/b.ts", "kernel/a.ts"]]);
  });

  test("behind a tail are found without the tail", () => {
    const found = importCycles(
      files({
        "kernel/boot/start-plan.ts": `import "./a.ts";`,
        "kernel/a.ts": `import "./b.ts";`,
        "kernel/b.ts": `export * from "./a.ts";`,
      }),
    );
    expect(found).toEqual([["kernel/a.ts", "kernel/b.ts", "kernel/a.ts"]]);
  });

  test("of types alone are found too", () => {
    const found = importCycles(files({ "kernel/a.ts": `import type { B } from "./b.ts";`, "kernel/b.ts": `import "./a.ts";` }));
    expect(found).toEqual([["kernel/a.ts", "kernel/b.ts", "kernel/a.ts"]]);
  });

  test("a diamond is none", () => {
    const diamond = {
      "kernel/a.ts": `import "./b.ts";\nimport "./c.ts";`,
      "kernel/b.ts": `import "./d.ts";`,
      "kernel/c.ts": `import "./d.ts";`,
    };
    expect(importCycles(files({ ...diamond, "kernel/d.ts": "" }))).toEqual([]);
  });
});

describe("imports are read from", () => {
  test.each([
    ["named imports", `import { a, b as c } from "x";`, "x", false],
    ["default and named imports", `import a, { b } from "x";`, "x", false],
    ["a default import called type", `import type from "x";`, "x", false],
    ["type imports", `import type { A } from "x";`, "x", true],
    ["star exports", `export * from "x";`, "x", false],
    ["typed star exports", `export type * from "x";`, "x", true],
    ["calls", `const a = await import("x");`, "x", false],
    ["types in place", `let a: import("x").Name;`, "x", true],
    ["a second statement of a line", `const a = 1;import "x";`, "x", false],
  ])("%s", (_name, source, specifier, typeOnly) => {
    expect(importsOf(source)).toMatchObject([{ specifier, typeOnly }]);
  });

  test("nothing that only looks like one", () => {
    const texts = [
      'const s = "import x from y";',
      "const re = /import 'x'/;",
      "export const from = 1;\nconst a = 'x';",
      "/* import 'x' */",
    ];
    for (const text of texts) expect(importsOf(text), text).toEqual([]);
  });
});
