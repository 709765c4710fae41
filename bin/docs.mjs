#!/usr/bin/env node
/**
 * Writes the reference pages in `sdk/docs/reference/` from the values in the code.
 * `--check` writes nothing and ends with 1 when a page is not what the code says.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createJiti } from "jiti";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, "sdk/docs/reference");
const check = process.argv.includes("--check");

const jiti = createJiti(import.meta.url, { alias: { "svc/sdk": join(root, "sdk/index.ts") } });
const { collectReference } = await jiti.import(join(root, "test/tools/docs/collect.ts"));
const { referencePages } = await jiti.import(join(root, "test/tools/docs/pages.ts"));
const pages = referencePages(await collectReference((path) => jiti.import(path)));

mkdirSync(folder, { recursive: true });
const stale = [...pages].filter(([name, text]) => read(name) !== text).map(([name]) => name);
const leftOver = readdirSync(folder).filter((name) => !pages.has(name));

if (check) {
  for (const name of [...stale, ...leftOver]) console.error(`sdk/docs/reference/${name} is not what the code says; run: npm run docs`);
  process.exitCode = stale.length + leftOver.length > 0 ? 1 : 0;
} else {
  for (const name of stale) writeFileSync(join(folder, name), pages.get(name));
  for (const name of leftOver) rmSync(join(folder, name));
  for (const name of stale) console.log(`wrote sdk/docs/reference/${name}`);
}

function read(name) {
  try {
    return readFileSync(join(folder, name), "utf8");
  } catch {
    return undefined;
  }
}
