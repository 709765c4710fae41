import { createHash } from "node:crypto";
import { join } from "node:path";
import { readRegularFile } from "../../sdk/internal/files/read-regular.ts";
import { isRecord } from "../../sdk/is-record.ts";
import type { VendorOwner } from "../../sdk/types/installed-plugins.ts";
import { installErrors } from "./errors.ts";
import { pluginIdPattern } from "./plugin-id.ts";

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

const MAX_BYTES = 16_777_216;

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

interface Wanted {
  name: string;
  version: string | undefined;
  hash: string;
  stateDir: string | undefined;
}

/** Folder and manifest of an installed package. */
export interface FoundPackage {
  folder: string;
  manifest: Record<string, unknown>;
}

/** The package in the folder of the plugin if it fits the lock, else the one that a command installed in the state directory. */
export async function findPackage(owner: VendorOwner, { name, version, hash, stateDir }: Wanted): Promise<FoundPackage | undefined> {
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
