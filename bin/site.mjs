#!/usr/bin/env node
/** Writes the documentation as a site of plain files: `npm run site`, or `npm run site -- <folder>`. Default `site/`; what is in the folder is replaced. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { createJiti } from "jiti";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const jiti = createJiti(import.meta.url);
const { site, isPage } = await jiti.import(join(root, "test/tools/docs/site/site.ts"));
const { repositoryFiles } = await jiti.import(join(root, "test/tools/source/tree.ts"));

const folder = resolve(process.argv[2] ?? join(root, "site"));
if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(join(folder, "search-index.js"))) {
  console.error(`${folder} holds something else than a site; name an empty folder, or none`);
  process.exit(1);
}

const paths = new Set(repositoryFiles());
const pages = new Map([...paths].filter(isPage).map((path) => [path, readFileSync(join(root, path), "utf8")]));
const { files, assets } = site(pages, (path) => paths.has(path));

rmSync(folder, { recursive: true, force: true });
for (const [path, text] of files) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}
for (const path of assets) cpSync(join(root, path), join(folder, path));
for (const name of ["site.css", "search.js"]) cpSync(join(root, "test/tools/docs/site", name), join(folder, name));
console.log(`${files.size - 1} pages in ${folder}; open ${join(folder, "index.html")}`);
