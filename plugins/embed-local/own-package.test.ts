import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resolveOwn } from "./own-package.ts";

let root: string;
beforeAll(async () => {
  root = join(await mkdtemp(join(tmpdir(), "svc-own-")), "a plugin with ümlauts");
});
afterAll(() => rm(join(root, ".."), { recursive: true, force: true }));

async function install(name: string, manifest: object, file: string): Promise<void> {
  const folder = join(root, "vendor/node_modules", name);
  await mkdir(join(folder, file, ".."), { recursive: true });
  await writeFile(join(folder, "package.json"), JSON.stringify({ name, type: "module", ...manifest }));
  await writeFile(join(folder, file), "export const where = import.meta.url;");
}

test.each([
  [
    "conditions that hold, the first of them",
    { exports: { ".": { require: "./no.cjs", types: "./no.d.ts", node: { import: "./lib/a.js" } } } },
    "lib/a.js",
  ],
  ["exports without paths", { exports: { browser: "./no.js", import: "./b.js" } }, "b.js"],
  ["exports that are one file", { exports: "./c.js", main: "./no.js" }, "c.js"],
  ["a list of exports", { exports: [{ browser: "./no.js" }, "./d.js"] }, "d.js"],
  ["main", { main: "lib/e.js" }, "lib/e.js"],
  ["nothing", {}, "index.js"],
])("a package with %s is found in the plugin's vendor folder", async (_, manifest, file) => {
  await install("@scope/own", manifest, file);
  const expected = pathToFileURL(join(root, "vendor/node_modules/@scope/own", file)).href;
  expect((await resolveOwn(root, "@scope/own")).href).toBe(expected);
  await rm(join(root, "vendor/node_modules/@scope/own/package.json"));
});

test("its module is evaluated where it stands", async () => {
  await install("whole", { exports: "./index.js" }, "index.js");
  const { href } = await resolveOwn(root, "whole");
  expect(((await import(href)) as { where: string }).where).toBe(pathToFileURL(join(root, "vendor/node_modules/whole/index.js")).href);
});

test("a package that is not there is a missing-dependency with the command that installs it", async () => {
  const error = { code: "missing-dependency", message: expect.stringContaining(`run: npm ci --prefix ${join(root, "vendor")}`) };
  await expect(resolveOwn(root, "absent")).rejects.toMatchObject(error);
  await install("types-only", { exports: { ".": { types: "./index.d.ts" } } }, "index.d.ts");
  await expect(resolveOwn(root, "types-only")).rejects.toMatchObject({ code: "missing-dependency" });
});
