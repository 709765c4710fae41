import { lstat, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copyGeneration, nextGenerationFolder, readCodePrint, removeGeneration } from "./code-tree.ts";
import { treeIntegrity } from "./tree-integrity.ts";

let root: string;
const put = async (name: string, text = "") => {
  await mkdir(join(root, name, ".."), { recursive: true });
  await writeFile(join(root, name), text);
};
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-code-"));
  await put("index.ts", "1");
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe("the print of a plugin's code", () => {
  const own = async () => (await readCodePrint(root)).own;

  test.each<[string, () => Promise<void>, boolean]>([
    ["nothing happens", async () => undefined, false],
    ["a file is written again with other bytes of the same length", () => put("index.ts", "2"), true],
    ["a file comes", () => put("deep/er/new.ts"), true],
    ["a file goes", () => rm(join(root, "index.ts")), true],
    ["a package changes", () => put("node_modules/x/index.js"), false],
    ["an editor leaves a file of its own", () => put(".index.ts.swp"), false],
  ])("changes or stays when %s", async (_, change, differs) => {
    const before = await own();
    await change();
    expect((await own()) !== before).toBe(differs);
  });

  test.each(["", "vendor/"])("tells when packages were installed in %jnode_modules", async (below) => {
    const before = (await readCodePrint(root)).packages;
    await put(`${below}node_modules/.package-lock.json`, "{}");
    expect((await readCodePrint(root)).packages).not.toBe(before);
  });

  test.each<[Record<string, string>, boolean]>([
    [{ "a.ts": "", "b.mts": "", "c.js": "" }, false],
    [{ "a.mjs": "" }, true],
    [{ "lib/a.cjs": "" }, true],
    [{ "a.js": "", "package.json": '{"type":"module"}' }, true],
    [{ "lib/a.js": "", "package.json": '{"type":"module"}', "lib/package.json": '{"type":"commonjs"}' }, false],
    [{ "a.js": "", "package.json": "not json" }, false],
  ])("knows whether Node keeps modules of %j", async (files, native) => {
    for (const [name, text] of Object.entries(files)) await put(name, text);
    expect((await readCodePrint(root)).native).toBe(native);
  });

  test("of one file does not look at its neighbours", async () => {
    const before = await readCodePrint(root, join(root, "index.ts"));
    await put("other.mjs");
    expect(await readCodePrint(root, join(root, "index.ts"))).toEqual(before);
  });
});

test("a copy has the plugin's files, links its packages where they are, and goes as a whole without them", async () => {
  await put("lib/a.mjs", "a");
  await put("node_modules/x/index.js", "x");
  await put("vendor/node_modules/y/index.js", "y");
  const target = `${root}-copy`;
  await copyGeneration(root, target, "link");
  expect(await readFile(join(target, "lib/a.mjs"), "utf8")).toBe("a");
  expect(await readFile(join(target, "vendor/node_modules/y/index.js"), "utf8")).toBe("y");
  for (const name of ["node_modules", "vendor/node_modules"]) expect((await lstat(join(target, name))).isSymbolicLink()).toBe(true);
  expect((await stat(target)).mode & 0o777).toBe(0o700);

  await removeGeneration(target);
  await expect(stat(target)).rejects.toThrow("ENOENT");
  expect(await readFile(join(root, "node_modules/x/index.js"), "utf8")).toBe("x");
});

test("a whole copy has the hash of the original, and needs nothing of it", async () => {
  await put("vendor/node_modules/y/index.js", "y");
  await symlink("y", join(root, "vendor/node_modules/z"));
  const target = `${root}-copy`;
  await copyGeneration(root, target, "copy");
  const before = await treeIntegrity(root);
  await rm(root, { recursive: true });

  expect(await treeIntegrity(target)).toBe(before);
  expect(await readFile(join(target, "vendor/node_modules/z/index.js"), "utf8")).toBe("y");
  await removeGeneration(target);
});

test("no copy of a plugin is put where one has been", () => {
  const folders = [1, 2, 3].map(() => nextGenerationFolder("/state", "some"));
  expect(new Set(folders).size).toBe(3);
});
