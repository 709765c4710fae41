import { join } from "node:path";
import { expect, test } from "vitest";
import { loadAssets } from "./assets.ts";
import { bootModules, staticImports } from "./page.ts";
import { importNames, uiSources } from "./sources.ts";

const pluginRoot = import.meta.dirname;

test.each([
  ['import { a } from "./a.js";', ["./a.js"]],
  ['import a, { b as c } from "./a.js";\nimport "./b.js";', ["./a.js", "./b.js"]],
  ['import {\n  a,\n  b,\n} from "./a.js";', ["./a.js"]],
  ['import*as a from"x";import{b}from"@y/z";', ["x", "@y/z"]],
  ['export { a } from "./a.js";\nexport * from "./b.js";', ["./a.js", "./b.js"]],
  ['const a = () => import("./lazy.js");', []],
  ['// from "./no.js"\nconst x = "import y";', []],
  ['export const from = "./no.js";', []],
])("static imports of %j", (code, wanted) => {
  expect(staticImports(code)).toEqual(wanted);
});

test("the preload list holds what the entry imports, libraries and client included, and no view", async () => {
  const assets = await loadAssets(uiSources(pluginRoot));

  const boot = bootModules(assets, importNames);

  expect(boot[0]).toBe("main.js");
  expect(boot).toContain("vendor/preact.js");
  expect(boot).toContain("vendor/client.js");
  expect(boot).not.toContain("vendor/marked.js");
  expect(boot.filter((path) => /views\/(chat|overview|sessions|about)/.test(path))).toEqual([]);
});

test("every module of the page finds what it imports", async () => {
  const assets = await loadAssets(uiSources(pluginRoot));

  for (const path of assets.paths.filter((p) => p.endsWith(".js"))) {
    for (const specifier of staticImports(assets.get(path)?.text ?? "")) {
      const target = specifier.startsWith(".") ? join(path, "..", specifier) : importNames[specifier];
      expect(assets.paths, `${path} imports ${specifier}`).toContain(target);
    }
  }
});

test("the build id changes with any content", async () => {
  const all = await loadAssets(uiSources(pluginRoot));
  const fewer = await loadAssets(uiSources(pluginRoot).slice(0, -1));

  expect(all.buildId).toMatch(/^[\w-]{12}$/);
  expect(fewer.buildId).not.toBe(all.buildId);
  expect((await loadAssets(uiSources(pluginRoot))).buildId).toBe(all.buildId);
});

test("a file is compressed once for every instance of the plugin, in each encoding", async () => {
  const first = await loadAssets(uiSources(pluginRoot));
  const later = await loadAssets(uiSources(pluginRoot));

  for (const encoding of ["br", "gzip"] as const) {
    const bytes = await first.get("main.js")?.body(encoding);
    expect(await later.get("main.js")?.body(encoding)).toBe(bytes);
    expect(await later.get("page.css")?.body(encoding)).not.toBe(bytes);
  }
  expect(await later.get("main.js")?.body("br")).not.toEqual(await later.get("main.js")?.body("gzip"));
});
