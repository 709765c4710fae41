import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { commonErrors } from "svc/sdk";

/** Conditions of an `exports` map that hold for a module which Node imports. */
const conditions = ["node", "import", "default"];

/**
 * Finds the module of a package that a plugin owns: one installed in `<root>/vendor/node_modules` by the plugin's own lockfile, apart from the product's.
 *
 * @param root folder of the plugin, `ctx.root`
 * @param name name of the package, with its scope; not a path inside it
 * @throws {SvcError} `missing-dependency` with the command that installs it, also when the package offers no module
 */
export async function resolveOwn(root: string, name: string): Promise<URL> {
  const vendor = join(root, "vendor");
  const folder = join(vendor, "node_modules", name);
  const manifest = await readFile(join(folder, "package.json"), "utf8").then(
    (text) => JSON.parse(text) as { exports?: unknown; main?: string },
    () => undefined,
  );
  const target = manifest?.exports === undefined ? manifest && (manifest.main ?? "./index.js") : entryOf(manifest.exports);
  if (target === undefined) throw commonErrors.missingDependency({ plugin: root, name, prefix: vendor });
  return pathToFileURL(join(folder, target));
}

/** File of the package's own name in an `exports` value; the first condition that holds wins, as it does in Node. */
function entryOf(exports: unknown): string | undefined {
  if (typeof exports === "string") return exports;
  if (Array.isArray(exports)) return exports.map(entryOf).find((found) => found !== undefined);
  if (typeof exports !== "object" || exports === null) return undefined;
  const map = exports as Record<string, unknown>;
  if (Object.hasOwn(map, ".")) return entryOf(map["."]);
  return Object.keys(map)
    .filter((key) => conditions.includes(key))
    .map((key) => entryOf(map[key]))
    .find((found) => found !== undefined);
}
