import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkLocalImports, specifiersIn } from "./local-imports.ts";

let base: string;
let root: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "svc-imports-")));
  root = join(base, "plugin");
  await write("../outside.ts", "export const a = 1;");
  await write("../data.json", "{}");
});
afterEach(() => rm(base, { recursive: true, force: true }));

async function write(path: string, content = ""): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), content);
}
const check = () => checkLocalImports(root, join(root, "index.ts"));

describe("an import that leads out is found", () => {
  test.each([
    ["as a statement", 'import { a } from "../outside.ts";'],
    ["over lines", 'import {\n  a,\n  type B,\n} from "../outside.ts";'],
    ["for its effects", 'import "../outside.ts";'],
    ["passed on", 'export * from "../outside.ts";'],
    ["without its extension", 'import { a } from "../outside";'],
    ["under its JavaScript name", 'import { a } from "../outside.js";'],
    ["called", 'const m = await import("../outside.ts");'],
    ["required", 'const m = require("../outside");'],
    ["as data", 'import data from "../data.json" with { type: "json" };'],
    ["behind a statement on the same line", 'const x = 1; import "../outside.ts";'],
    ["with a query", 'import "../outside.ts?v=2";'],
  ])("%s", async (_, source) => {
    await write("index.ts", source);
    expect(await check()).toMatchObject({
      state: "blocked",
      code: "path-escape",
      reason: expect.stringContaining('index.ts imports "../'),
    });
  });

  test("by an absolute path or a file URL", async () => {
    for (const specifier of [join(base, "outside.ts"), pathToFileURL(join(base, "outside.ts")).href]) {
      await write("index.ts", `import "${specifier}";`);
      expect((await check())?.code, specifier).toBe("path-escape");
    }
  });

  test("in a module of a module", async () => {
    await write("index.ts", 'import "./lib";');
    await write("lib/index.mjs", 'import "./deep.cjs";');
    await write("lib/deep.cjs", 'require("../../outside.ts");');
    expect(await check()).toMatchObject({ reason: 'lib/deep.cjs imports "../../outside.ts", which is outside of its folder' });
  });

  test("behind a link inside", async () => {
    await write("index.ts", 'import "./inner.ts";');
    await symlink(join(base, "outside.ts"), join(root, "inner.ts"));
    expect((await check())?.code).toBe("path-escape");
  });

  test("after more text than is looked at in one go", async () => {
    await write("index.ts", `${"const filler = 1;\n".repeat(40_000)}import "../outside.ts";`);
    expect((await check())?.code).toBe("path-escape");
  });
});

describe("nothing is said about", () => {
  test.each([
    ["its own files, in circles too", 'import "./a.ts";\nimport data from "./data.json";'],
    ["packages", 'import { z } from "zod";\nimport { definePlugin } from "svc/sdk";'],
    ["Node", 'import { join } from "node:path";'],
    ["a file that is not there: its import fails by itself", 'import "../nowhere.ts";'],
    [
      "a comment",
      '// import "../outside.ts";\n/**\n * import "../outside.ts"\n * await import("../outside.ts")\n */\nx(); // import("../outside.ts")',
    ],
    ["a text", "const s = 'see import \"../outside.ts\"';"],
  ])("%s", async (_, source) => {
    await write("index.ts", source);
    await write("a.ts", 'import "./index.ts";');
    await write("data.json", "{}");
    expect(await check()).toBeUndefined();
  });
});

test("a plugin of more than 2,000 own modules is not followed to its end", async () => {
  await write("index.ts", Array.from({ length: 2_000 }, (_, i) => `import "./m${i}.ts";`).join("\n"));
  for (let i = 0; i < 1_999; i++) await write(`m${i}.ts`);
  expect(await check()).toBeUndefined();

  await write("m1999.ts");
  expect(await check()).toMatchObject({ code: "path-escape", reason: "it has more than 2000 modules of its own" });
});

test("text made to slow a reader down does not", async () => {
  const started = performance.now();
  await specifiersIn("\nimport ".repeat(50_000));
  expect(performance.now() - started).toBeLessThan(20_000);
});

test("the part of the SDK that only plugins of svc share is refused to others, in any of their modules", async () => {
  await write("index.ts", 'import { definePlugin } from "svc/sdk";\nimport "./lib.ts";');
  await write("lib.ts", 'import { reached } from "svc/sdk/internal";');
  expect(await check()).toEqual({
    state: "blocked",
    code: "api-mismatch",
    reason: 'lib.ts imports "svc/sdk/internal", which only plugins that come with svc may use',
    hint: "use what svc/sdk exports",
  });
});
