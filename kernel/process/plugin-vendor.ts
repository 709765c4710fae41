import { stat } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { commonErrors } from "../../sdk/errors.ts";
import { isRecord } from "../../sdk/is-record.ts";
import type { VendorOwner } from "../../sdk/types/installed-plugins.ts";
import type { PluginVendor } from "../../sdk/types/vendor.ts";
import { type FoundPackage, findPackage, readLockedPackages, vendorCommand } from "./vendor-packages.ts";

const namePattern = /^(@[\w~-][\w.~-]*\/)?[\w~-][\w.~-]{0,200}$/;
/** Conditions of an `exports` map that hold for a module which Node imports. */
const conditions = ["node", "import", "default"];

interface VendorOptions extends VendorOwner {
  /** Undefined: only the plugin's own folder is looked into. */
  stateDir: string | undefined;
  /** Throws once the plugin has ended. */
  alive?(): void;
}

/** The packages of one plugin: those in `<root>/vendor/node_modules` if they fit the lock, else those that a command installed in the state directory. */
export function createPluginVendor(options: VendorOptions): PluginVendor {
  const resolve = async (name: string): Promise<string> => {
    options.alive?.();
    const missing = (problem: string, advice: string) => commonErrors.missingDependency({ plugin: options.id, name, problem, advice });
    const toLock = "list and lock it in vendor/package.json and vendor/package-lock.json of the plugin";
    const locked = namePattern.test(name) ? await readLockedPackages(options.root) : undefined;
    const version = locked?.direct.get(name);
    if (!locked || version === undefined) throw missing("is not locked by the plugin", toLock);
    const found = await findPackage(options, { name, version, hash: locked.hash, stateDir: options.stateDir });
    if (found === undefined) throw missing("is not installed", `run: ${vendorCommand(options)}`);
    const entry = await entryFile(found);
    if (entry === undefined) throw missing("has no module that can be imported", "lock another version of it");
    return pathToFileURL(entry).href;
  };
  return {
    resolve,
    load: async <T>(name: string) => (await import(await resolve(name))) as T,
  };
}

/** File of the package's own name. Without `exports` Node tries these names for `main`, which older packages write without an extension. */
async function entryFile({ folder, manifest }: FoundPackage): Promise<string | undefined> {
  const target = manifest.exports === undefined || manifest.exports === null ? undefined : exportedEntry(manifest.exports);
  if (manifest.exports !== undefined && manifest.exports !== null) return target === undefined ? undefined : join(folder, target);
  const main = typeof manifest.main === "string" ? manifest.main : "index.js";
  for (const name of [main, `${main}.js`, `${main}.json`, join(main, "index.js"), "index.js"]) {
    const file = join(folder, name);
    if ((await stat(file).catch(() => undefined))?.isFile()) return file;
  }
  return undefined;
}

/** The first condition that holds wins, as it does in Node. */
function exportedEntry(exports: unknown): string | undefined {
  if (typeof exports === "string") return exports;
  if (Array.isArray(exports)) return exports.map(exportedEntry).find((found) => found !== undefined);
  if (!isRecord(exports)) return undefined;
  if (Object.hasOwn(exports, ".")) return exportedEntry(exports["."]);
  return Object.keys(exports)
    .filter((key) => conditions.includes(key))
    .map((key) => exportedEntry(exports[key]))
    .find((found) => found !== undefined);
}
