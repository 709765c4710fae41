import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import type { Disposable } from "../../sdk/types/common.ts";
import { watchTree } from "./watch-tree.ts";

let root: string;
let watcher: Disposable | undefined;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-watch-"));
  await mkdir(join(root, "lib"));
  await mkdir(join(root, "node_modules"));
});
afterEach(async () => {
  await watcher?.dispose();
  await rm(root, { recursive: true, force: true });
});

test("many changes at a time are told once", async () => {
  let told = 0;
  watcher = watchTree(root, 200, () => told++);
  for (let i = 0; i < 20; i++) await writeFile(join(root, `file-${i}.ts`), "");
  expect(told).toBe(0);
  await eventually(() => told === 1);
});

test("changes in folders below are told, also in those that came later", async () => {
  let told = 0;
  watcher = watchTree(root, 5, () => told++);
  for (const folder of ["lib", "new"]) {
    await mkdir(join(root, folder), { recursive: true });
    await eventually(async () => {
      const before = told;
      await writeFile(join(root, folder, "deep.ts"), String(before));
      await eventually(() => told > before, 100);
      return true;
    });
  }
});

test("packages and editors' own files are nobody's change, and nothing is told after the end", async () => {
  let told = 0;
  watcher = watchTree(root, 10, () => told++);
  await writeFile(join(root, "node_modules", "x.js"), "");
  await writeFile(join(root, ".index.ts.swp"), "");
  await writeFile(join(root, "index.ts~"), "");
  await writeFile(join(root, "seen.ts"), "");
  await eventually(() => told === 1);

  await watcher.dispose();
  await writeFile(join(root, "late.ts"), "");
  const other = watchTree(root, 10, () => (told = 100));
  await writeFile(join(root, "later.ts"), "");
  await eventually(() => told === 100);
  await other.dispose();
});
