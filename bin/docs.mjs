#!/usr/bin/env node
/**
 * Writes the reference pages in `sdk/docs/reference/` and the page of symptoms from the values in the code, the figures of the page of sizing from the last run of the bench, shell completion and manual page from the tables of commands, `sdk/api.md` from the declarations the compiler makes of it, and the
 * table of rooms in `kernel/README.md`.
 * `--check` writes nothing and ends with 1 when a page is not what the code says.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createJiti } from "jiti";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, "sdk/docs/reference");
const check = process.argv.includes("--check");

const jiti = createJiti(import.meta.url, {
  alias: { "svc/sdk/internal": join(root, "sdk/internal/index.ts"), "svc/sdk": join(root, "sdk/index.ts") },
});
/** Path below the root → what stands there, or has to. */
const wanted = new Map();
// The key tree is made of the written sections, so these come before everything that reads it.
const { collectSections } = await jiti.import(join(root, "test/tools/docs/sections.ts"));
const { sectionTypes } = await jiti.import(join(root, "test/tools/docs/section-types.ts"));
const sections = await collectSections((path) => jiti.import(path));
for (const [path, part] of Object.entries(sections)) wanted.set(path, `${JSON.stringify(part, null, 2)}\n`);
wanted.set("kernel/config/section-types.ts", sectionTypes(Object.assign({}, ...Object.values(sections))));
if (!check) for (const [path, text] of wanted) if (read(path) !== text) write(path, text);

const { collectProtocols, collectReference, readManifests } = await jiti.import(join(root, "test/tools/docs/collect.ts"));
const { referencePages } = await jiti.import(join(root, "test/tools/docs/pages.ts"));
const { protocolDocument, protocolText, PROTOCOL_FILE } = await jiti.import(join(root, "kernel/loader/protocol-document.ts"));
const { byPlugin } = await collectProtocols(readManifests(), (path) => jiti.import(path));
const documents = Object.fromEntries(Object.entries(byPlugin).map(([id, part]) => [id, protocolDocument(part)]));
const reference = await collectReference((path) => jiti.import(path), documents);
const pages = referencePages(reference);

// The plugin serves it; to make it takes longer than a request may.
wanted.set("plugins/openai-http/svc.openapi.json", pages.get("openapi.json"));

const { apiReport } = await jiti.import(join(root, "test/tools/docs/api-report.ts"));
spawnSync(process.execPath, [join(root, "bin/build.mjs"), "--if-needed"], { stdio: "ignore" });
const entries = { "svc/sdk": "index", "svc/sdk/client": "client/index", "svc/sdk/testing": "testing/index" };
const declarations = Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, `sdk/${path}.d.ts`]));

for (const [name, text] of pages) wanted.set(`sdk/docs/reference/${name}`, text);
wanted.set(
  "sdk/api.md",
  apiReport(declarations, (path) => readFileSync(join(root, "dist", path), "utf8")),
);
const { clientTypes, errorDetailsTypes } = await jiti.import(join(root, "test/tools/docs/client-types.ts"));
for (const [id, document] of Object.entries(documents)) wanted.set(`plugins/${id}/${PROTOCOL_FILE}`, protocolText(document));
wanted.set("sdk/protocol/plugin-methods.ts", clientTypes(Object.values(documents)));
wanted.set("sdk/protocol/error-details.ts", errorDetailsTypes(reference));
const { collectCommands } = await jiti.import(join(root, "test/tools/docs/commands.ts"));
const { completionScripts } = await jiti.import(join(root, "test/tools/docs/completion.ts"));
const { manPage } = await jiti.import(join(root, "test/tools/docs/man.ts"));
const commands = await collectCommands(readManifests(), (path) => jiti.import(path));
for (const [name, text] of completionScripts(commands)) wanted.set(`bin/completion/${name}`, text);
wanted.set("bin/man/svc.1", manPage({ description: JSON.parse(read("package.json")).description, commands }));
const { checkIds, collectSaid } = await jiti.import(join(root, "test/tools/docs/troubleshooting/collect.ts"));
const { troubleshootingPage } = await jiti.import(join(root, "test/tools/docs/troubleshooting/page.ts"));
const said = collectSaid(checkIds(readManifests()));
wanted.set("sdk/docs/guide/troubleshooting.md", troubleshootingPage({ said, errors: reference.errors }));
const { sizingPage } = await jiti.import(join(root, "test/tools/docs/figures.ts"));
const sizing = "sdk/docs/guide/performance-and-sizing.md";
wanted.set(sizing, sizingPage(read(sizing), read("test/bench/RESULTS.md")));
const { kernelPage } = await jiti.import(join(root, "test/tools/docs/rooms.ts"));
const { readRepositoryFiles } = await jiti.import(join(root, "test/tools/source/tree.ts"));
wanted.set("kernel/README.md", kernelPage(readRepositoryFiles((path) => path.startsWith("kernel/"))));

for (const path of [folder, join(root, "bin/completion"), join(root, "bin/man")]) mkdirSync(path, { recursive: true });
const stale = [...wanted].filter(([path, text]) => read(path) !== text).map(([path]) => path);
const leftOver = readdirSync(folder).filter((name) => !pages.has(name));

if (check) {
  for (const path of [...stale, ...leftOver.map((name) => `sdk/docs/reference/${name}`)]) {
    console.error(`${path} is not what the code says; run: npm run docs`);
  }
  process.exitCode = stale.length + leftOver.length > 0 ? 1 : 0;
} else {
  for (const path of stale) write(path, wanted.get(path));
  for (const name of leftOver) rmSync(join(folder, name));
}

function write(path, text) {
  writeFileSync(join(root, path), text);
  console.log(`wrote ${path}`);
}

function read(path) {
  try {
    return readFileSync(join(root, path), "utf8");
  } catch {
    return undefined;
  }
}
