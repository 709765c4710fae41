import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./_cli.ts";

test("the built code is ASCII: one other character would make Node keep its whole file at two bytes a character", async () => {
  const dist = join(root, "dist");
  const all = await readdir(dist, { recursive: true });
  // What the page loads is never kept by Node, but it is built alike.
  const files = all.filter((path) => path.endsWith(".js"));
  expect(files.length).toBeGreaterThan(50);

  const texts = await Promise.all(files.map(async (path) => ({ path, bytes: await readFile(join(dist, path)) })));
  expect(texts.filter(({ bytes }) => bytes.some((byte) => byte > 0x7f)).map(({ path }) => path)).toEqual([]);
});
