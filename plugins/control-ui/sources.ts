import { dirname, join } from "node:path";
import type { AssetSource } from "./assets.ts";

/** Single-file builds of the page's libraries: name in the import map, file inside the package. */
const libraries = [
  { name: "preact", packageName: "preact", file: "dist/preact.mjs", served: "preact.js" },
  { name: "preact/hooks", packageName: "preact", file: "hooks/dist/hooks.mjs", served: "preact-hooks.js" },
  { name: "htm", packageName: "htm", file: "dist/htm.mjs", served: "htm.js" },
  { name: "@preact/signals", packageName: "@preact/signals", file: "dist/signals.mjs", served: "signals.js" },
  { name: "@preact/signals-core", packageName: "@preact/signals-core", file: "dist/signals-core.mjs", served: "signals-core.js" },
  { name: "uqr", packageName: "uqr", file: "dist/index.mjs", served: "uqr.js" },
  { name: "marked", packageName: "marked", file: "lib/marked.esm.js", served: "marked.js" },
  // Its module is not minified: twice the bytes of the file for a script tag.
  { name: "uplot", packageName: "uplot", file: "dist/uPlot.iife.min.js", served: "uplot.js", end: "export default uPlot;\n" },
] as const;

/** Import map of the page, relative to its assets folder. */
export const importNames: Readonly<Record<string, string>> = {
  ...Object.fromEntries(libraries.map((l) => [l.name, `vendor/${l.served}`])),
  "svc/sdk/client": "vendor/client.js",
};

const toSheet = (name: string) => `css/${name}.css`;
const sheets = ["tokens", "base", "parts", "overlays", "markdown", "frame", "views", "chat", "memory"].map(toSheet);
/** Looks of views that nobody sees first. */
const laterSheets = [
  "channels",
  "webhooks",
  "lists",
  "logs",
  "schedule",
  "operate",
  "connect",
  "chat-extras",
  "explain",
  "config",
  "models",
  "notes",
  "charts",
  "panels",
].map(toSheet);

/** Everything the page may load, from the plugin's own folder. */
export function uiSources(pluginRoot: string): AssetSource[] {
  return [
    { kind: "folder", path: "", folder: join(pluginRoot, "public"), skip: ["index.html", ...sheets, ...laterSheets] },
    // One request instead of eight; the layers in the first sheet decide, not the order.
    { kind: "joined", path: "page.css", files: sheets.map((sheet) => join(pluginRoot, "public", sheet)) },
    { kind: "joined", path: "later.css", files: laterSheets.map((sheet) => join(pluginRoot, "public", sheet)) },
    // Emitted by the build, all modules of it in one file.
    { kind: "file", path: "vendor/client.js", candidates: [join(pluginRoot, "../../dist/sdk/client/browser.js")] },
    ...libraries.map(
      (l): AssetSource => ({
        kind: "file",
        path: `vendor/${l.served}`,
        candidates: moduleFolders(pluginRoot).map((folder) => join(folder, l.packageName, l.file)),
        ...("end" in l ? { end: l.end } : {}),
      }),
    ),
  ];
}

/** Every `node_modules` from here up: beside the product, or above it when it is installed as a dependency. */
function moduleFolders(from: string): string[] {
  const parent = dirname(from);
  return [join(from, "node_modules"), ...(parent === from ? [] : moduleFolders(parent))];
}
