import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { isProductCode, readRepositoryFiles } from "../tools/source/tree.ts";
import { root } from "./_cli.ts";

/** Path → bytes of all code of the build. What the page loads is never kept by Node, but it is built alike. */
async function builtCode(): Promise<Map<string, Buffer>> {
  const dist = join(root, "dist");
  const files = (await readdir(dist, { recursive: true })).filter((path) => path.endsWith(".js"));
  return new Map(await Promise.all(files.map(async (path) => [path, await readFile(join(dist, path))] as const)));
}

test("the built code is ASCII: one other character would make Node keep its whole file at two bytes a character", async () => {
  const files = await builtCode();
  expect(files.size).toBeGreaterThan(50);
  expect([...files].filter(([, bytes]) => bytes.some((byte) => byte > 0x7f)).map(([path]) => path)).toEqual([]);
});

test("the built code has no failpoint: neither a call nor what it calls", async () => {
  const calling = [...readRepositoryFiles(isProductCode)].filter(([, text]) => /import \{[^}]*\breached\b/.test(text));
  const calls = calling.flatMap(([path, text]) => [...text.matchAll(/^(.*)\breached\((.*)$/gm)].map((match) => ({ path, line: match[0] })));
  // `bin/join.mjs` takes out lines: each call has one of its own.
  expect(calls.filter(({ line }) => !/^\s*await reached\((?:"[\w.-]+"|`[^`]+`)\);$/.test(line))).toEqual([]);
  const points = calls.flatMap(({ line }) => /[\w-]*\.[\w-]+(?=["`]\);$)/.exec(line)?.[0] ?? []);
  expect(points).toEqual(expect.arrayContaining(["config.after-lock", ".after-fsync", "hooks.before-accept", "messaging.after-send"]));

  const names = [...points, "setFailpoint", "armFailpoints"];
  const left = [...(await builtCode())].flatMap(([path, bytes]) =>
    names.filter((name) => bytes.includes(name)).map((name) => `${path}: ${name}`),
  );
  expect(left).toEqual([]);
});

test("no code decodes a text only to see whether that throws: the build takes the call for one without effect, and drops it", () => {
  const bare = [...readRepositoryFiles(isProductCode)].flatMap(([path, text]) =>
    [...text.matchAll(/^\s*(?:void )?(?:de|en)codeURI(?:Component)?\(.*\);$/gm)].map(([line]) => `${path}: ${line.trim()}`),
  );
  expect(bare).toEqual([]);
});

describe("what is read at a start", () => {
  test.each([
    ["the SDK of plugins and their commands", "port", ["sdk/index.js", "sdk/internal/index.js"]],
    ["what commands do with the config and with plugins", "port", ["config-file", "found-plugins", "installed-plugins", "compose-schema"]],
    ["a gateway", "h3", ["assemble", "gateway-run"]],
  ])("%s: nothing of %s", async (_, absent, names) => {
    const files = new Map([...(await builtCode())].map(([path, bytes]) => [path, bytes.toString()]));
    const modules = { port: "// kernel/port/http.ts", h3: "// node_modules/h3/" }[absent] ?? "";
    expect([...files.values()].some((text) => text.includes(modules))).toBe(true);

    const entries = names.map((name) => (files.has(name) ? name : importedLater(files, name)));

    expect(readWith(files, entries).filter((path) => files.get(path)?.includes(modules))).toEqual([]);
  });
});

/** File that the program imports when it needs a module; the files of earlier builds may lie beside it. */
function importedLater(files: ReadonlyMap<string, string>, name: string): string {
  const reached = readWith(files, ["kernel/bin.js"], /(?:from|import)\(? ?"(\.[^"]+)"/g);
  return reached.find((path) => path.replace(/^.*\/|-[\w-]{8}\.js$/g, "") === name) ?? `no file for ${name}`;
}

/** These files and what they import, as Node reads them before the first line of theirs runs. */
function readWith(
  files: ReadonlyMap<string, string>,
  entries: readonly string[],
  imports = /^(?:import|export)\b.*? ?"(\.[^"]+)";$/gm,
): string[] {
  const reached = new Set(entries);
  for (const path of reached) {
    const text = files.get(path);
    expect(text, path).toBeDefined();
    for (const [, way = ""] of text?.matchAll(imports) ?? []) if (way.endsWith(".js")) reached.add(join(dirname(path), way));
  }
  return [...reached];
}
