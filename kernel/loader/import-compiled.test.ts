import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { importCompiled } from "./import-compiled.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-compiled-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function moduleOf(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

test("a compiled module gives its default export, and is the same at the second import", async () => {
  const file = await moduleOf("plugin.mjs", "export default { id: 'demo' };");
  const first = await importCompiled(file);
  expect(first).toEqual({ id: "demo" });
  expect(await importCompiled(file)).toBe(first);
});

test("a module without a default export gives none", async () => {
  expect(await importCompiled(await moduleOf("none.mjs", "export const id = 'demo';"))).toBeUndefined();
});

test("the package that a module misses is named", async () => {
  const file = await moduleOf("lacks.mjs", 'import "no-such-package-of-anybody"; export default {};');
  await expect(importCompiled(file)).rejects.toThrow(/no-such-package-of-anybody/);
});

test("an error that a module throws comes through as it is", async () => {
  const file = await moduleOf("throws.mjs", "throw new TypeError('no such luck');");
  await expect(importCompiled(file)).rejects.toThrow(new TypeError("no such luck"));
});
