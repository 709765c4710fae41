import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, test } from "vitest";
import { pack } from "./assets.ts";
import { staticImports } from "./page.ts";

const root = join(import.meta.dirname, "public");
const MOST_BYTES = 12 * 1024;
const read = (path: string) => readFileSync(join(root, path), "utf8");
const app = read("views/app.js");
/** Entries of all views, as the page names them. */
const views = [...app.slice(0, app.indexOf("const overlays")).matchAll(/^ {2}(\w+): \(\) => .*import\("\.\/([\w/-]+\.js)"\)/gm)].map(
  ([, name, path]) => ({ name, entry: `views/${path}` }),
);

function closureOf(entry: string): Set<string> {
  const seen = new Set([entry]);
  for (const path of seen) {
    for (const one of staticImports(read(path))) if (one.startsWith(".")) seen.add(posix.join(posix.dirname(path), one));
  }
  return seen;
}

const shared = new Set(["main.js", "core/reading.js", ...filesOf("ui")].flatMap((path) => [...closureOf(path)]));

function filesOf(folder: string): string[] {
  return readdirSync(join(root, folder)).map((name) => `${folder}/${name}`);
}

/** Modules that come with the first visit of a view: neither with the page itself nor made for all views. */
function ownModules(entry: string): string[] {
  const own = [...closureOf(entry)].filter((path) => !shared.has(path));
  // Conversations are what the page is for: their state in `core/` serves several views, the limit is that of how they look, and of their texts.
  return entry.startsWith("views/chat/") ? own.filter((path) => /^(views|texts)\//.test(path)) : own;
}

test("the list of views is read from the page", () => {
  expect(views.map(({ name }) => name)).toEqual(expect.arrayContaining(["overview", "chat", "schedule", "config", "about"]));
});

test.each(views)("the view $name is at most 12 KB as it is sent; what it opens on demand comes when it is opened", async ({ entry }) => {
  const files = ownModules(entry);
  const sizes = await Promise.all(files.map(async (path) => ({ path, bytes: (await pack(Buffer.from(read(path)), "br")).length })));
  const told = sizes.sort((a, b) => b.bytes - a.bytes).map(({ path, bytes }) => `${path} ${bytes}`);
  expect(
    sizes.reduce((sum, { bytes }) => sum + bytes, 0),
    told.join(", "),
  ).toBeLessThanOrEqual(MOST_BYTES);
});
