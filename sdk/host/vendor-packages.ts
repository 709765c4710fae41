import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { commonErrors } from "../errors.ts";
import { isRecord } from "../is-record.ts";
import { pluginIdPattern } from "../plugin-id.ts";
import type { PluginVendor } from "../types/vendor.ts";
import { installErrors } from "./errors.ts";
import { readRegularFile } from "./read-regular.ts";

/** Packages that a plugin has locked in its `vendor/` folder. */
interface LockedPackages {
  /** Name of each package that the plugin depends on itself, and the version that is locked; undefined: not locked. */
  direct: ReadonlyMap<string, string | undefined>;
  /** Number of packages to fetch, theirs included; fewer come where some are for other systems. */
  count: number;
  /** Changes with everything that decides what is installed. */
  hash: string;
  /** The lock file as it was read. */
  lock: Record<string, unknown>;
}

/** A plugin as far as its packages are concerned. */
interface VendorOwner {
  id: string;
  /** Folder of the plugin. */
  root: string;
  /** Channels that it contributes, by the manifest. */
  channels?: readonly string[] | undefined;
}

const MAX_BYTES = 16_777_216;
const namePattern = /^(@[\w~-][\w.~-]*\/)?[\w~-][\w.~-]{0,200}$/;
/** Conditions of an `exports` map that hold for a module which Node imports. */
const conditions = ["node", "import", "default"];

/**
 * Reads what a plugin has locked; undefined for a plugin without packages of its own.
 * @throws for files that are there and cannot be read or are no JSON objects
 */
export async function readLockedPackages(root: string): Promise<LockedPackages | undefined> {
  const manifest = await read(join(root, "vendor", "package.json"));
  if (manifest === undefined) return undefined;
  const lockFile = await read(join(root, "vendor", "package-lock.json"));
  const lock = lockFile?.value ?? {};
  const all = isRecord(lock.packages) ? lock.packages : {};
  const named = isRecord(manifest.value.dependencies) ? Object.keys(manifest.value.dependencies) : [];
  if (named.length === 0) return undefined;
  return {
    direct: new Map(named.map((name) => [name, versionOf(all, `node_modules/${name}`)])),
    count: Object.values(all).filter((locked) => isRecord(locked) && locked.integrity !== undefined).length,
    hash: createHash("sha256")
      .update(manifest.text)
      .update("\0")
      .update(lockFile?.text ?? "")
      .digest("hex")
      .slice(0, 16),
    lock,
  };
}

/**
 * Folder of the packages of all versions of one plugin, for installations whose own folder is not written to.
 * @throws {SvcError} `invalid-plugin-id`
 */
export function vendorStateFolder(stateDir: string, id: string): string {
  if (!pluginIdPattern.test(id)) throw installErrors.invalidPluginId({ plugin: id });
  return join(stateDir, "vendor", id);
}

/** Command that installs the packages of a plugin. */
export function vendorCommand({ id, channels = [] }: Pick<VendorOwner, "id" | "channels">): string {
  return channels[0] === undefined ? `svc plugins add-packages ${id}` : `svc channels add ${channels[0]}`;
}

/** Names of the packages of a plugin that are not installed in the locked version, neither in its folder nor in the state directory. */
export async function missingPackages(owner: VendorOwner, stateDir: string | undefined): Promise<string[]> {
  const locked = await readLockedPackages(owner.root);
  const missing: string[] = [];
  for (const [name, version] of locked?.direct ?? []) {
    if (locked && (await findPackage(owner, { name, version, hash: locked.hash, stateDir })) === undefined) missing.push(name);
  }
  return missing;
}

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

interface Wanted {
  name: string;
  version: string | undefined;
  hash: string;
  stateDir: string | undefined;
}

interface FoundPackage {
  folder: string;
  manifest: Record<string, unknown>;
}

async function findPackage(owner: VendorOwner, { name, version, hash, stateDir }: Wanted): Promise<FoundPackage | undefined> {
  const places = [join(owner.root, "vendor")];
  if (stateDir !== undefined) places.push(join(vendorStateFolder(stateDir, owner.id), hash));
  for (const place of places) {
    const folder = join(place, "node_modules", name);
    // A file that cannot be read is as good as missing: installing again mends it.
    const manifest = await read(join(folder, "package.json")).catch(() => undefined);
    if (manifest && version !== undefined && manifest.value.version === version) return { folder, manifest: manifest.value };
  }
  return undefined;
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

/** Version at a place of the lock; a link stands for the folder that it leads to. */
function versionOf(all: Record<string, unknown>, place: string): string | undefined {
  const locked = all[place];
  if (!isRecord(locked)) return undefined;
  const target = locked.link === true && typeof locked.resolved === "string" ? all[locked.resolved] : locked;
  return isRecord(target) && typeof target.version === "string" ? target.version : undefined;
}

/** A JSON object and its text; undefined when there is no such file. */
async function read(path: string): Promise<{ text: string; value: Record<string, unknown> } | undefined> {
  let text: string;
  try {
    text = (await readRegularFile(path, { maxBytes: MAX_BYTES })).toString("utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) throw new Error(`${path}: expected a JSON object`);
  return { text, value };
}
