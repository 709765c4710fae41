import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, writeFileAtomic } from "svc/sdk";
import { installErrors } from "../errors.ts";
import { runNpm } from "./npm.ts";

interface LockedPackage {
  integrity?: unknown;
  link?: unknown;
  resolved?: unknown;
  dev?: unknown;
  peer?: unknown;
  inBundle?: unknown;
}

/** Folders of a plugin that may have packages of their own. */
const packageFolders = ["", "vendor"];

/**
 * Installs what a plugin's `package.json` (and that of its `vendor/`) lists under `dependencies`, exactly as its lockfile says and checked against the
 * hashes there, without running any script. Nothing happens, and npm is not needed, when nothing is listed.
 * @throws {SvcError} `plugin-lockfile-missing`, `npm-failed`
 */
export async function installDependencies(
  folder: string,
  options: { spec: string; env: Readonly<Record<string, string | undefined>>; signal: AbortSignal; onStart(): void },
): Promise<void> {
  for (const below of packageFolders) {
    const root = join(folder, below);
    // Settings inside the package could send npm to another registry.
    await rm(join(root, ".npmrc"), { force: true });
    const reason = await lockProblem(root);
    if (reason === "nothing") continue;
    if (reason !== undefined) throw installErrors.pluginLockfileMissing({ spec: options.spec, reason });
    options.onStart();
    await installInto(root, options);
  }
}

/** A folder beside the plugin's files in which npm sees what is to be installed, and nothing of what its author had for development. */
const STAGING = ".svc-install";

async function installInto(
  root: string,
  options: { env: Readonly<Record<string, string | undefined>>; signal: AbortSignal },
): Promise<void> {
  const staging = join(root, STAGING);
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging);
  try {
    const { devDependencies: _, ...manifest } = (await readJson(join(root, "package.json"))) ?? {};
    const lock = (await readLock(root)) ?? {};
    await writeFileAtomic(join(staging, "package.json"), JSON.stringify(manifest));
    await writeFileAtomic(
      join(staging, "package-lock.json"),
      JSON.stringify({ ...lock, packages: withoutDevelopment(asObject(lock.packages)) }),
    );
    await runNpm(["ci", "--omit=dev", "--omit=peer", "--no-bin-links"], { cwd: staging, ...options });
    await rm(join(root, "node_modules"), { recursive: true, force: true });
    await rename(join(staging, "node_modules"), join(root, "node_modules")).catch((error: NodeJS.ErrnoException) => {
      // Every package was an optional one for another system.
      if (error.code !== "ENOENT") throw error;
    });
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** A link for development, such as that to the author's own host, leads to a folder that is not here. */
function withoutDevelopment(packages: Record<string, unknown>): Record<string, unknown> {
  const { devDependencies: _, ...own } = asObject(packages[""]);
  const needed = Object.entries(packages).filter(([path]) => path !== "" && !isForDevelopment(packages, path));
  return { "": own, ...Object.fromEntries(needed) };
}

function isForDevelopment(packages: Record<string, unknown>, path: string): boolean {
  const locked: LockedPackage = asObject(packages[path]);
  if (locked.dev === true) return true;
  return locked.link === true && typeof locked.resolved === "string" && asObject(packages[locked.resolved]).dev === true;
}

/**
 * Finds out whether packages can be installed as they were locked: `nothing` = no dependencies; undefined = a lockfile with a hash for each; else what is wrong.
 * @param options.innerLinks accepts links to folders below this one, which stand for packages that are left out
 */
export async function lockProblem(root: string, { innerLinks = false } = {}): Promise<string | undefined> {
  const manifest = await readJson(join(root, "package.json"));
  if (manifest === undefined) return "nothing";
  const listed = { ...asObject(manifest.dependencies), ...asObject(manifest.optionalDependencies) };
  if (Object.keys(listed).length === 0) return "nothing";
  const lock = await readLock(root);
  if (lock === undefined) return "there is no lockfile";
  const all = asObject(lock.packages);
  const packages = Object.entries(all).flatMap(([path, locked]): Array<[string, LockedPackage]> => {
    return path === "" || isForDevelopment(all, path) ? [] : [[path, asObject(locked)]];
  });
  if (packages.length === 0) return "its lockfile names no packages";
  const linked = new Set(packages.flatMap(([, p]) => (innerLinks && isInnerLink(p) ? [p.resolved as string] : [])));
  const isFolder = ([path, p]: [string, LockedPackage]) => linked.has(path) || (innerLinks && isInnerLink(p));
  const loose = packages.find(
    (one) => !isFolder(one) && (one[1].link === true || !(one[1].integrity || one[1].dev || one[1].peer || one[1].inBundle)),
  );
  return loose && `its lockfile has no integrity hash for ${loose[0]}`;
}

function isInnerLink({ link, resolved }: LockedPackage): boolean {
  return link === true && typeof resolved === "string" && !/^[/\\]|:|(^|[/\\])\.\.([/\\]|$)/.test(resolved);
}

async function readLock(root: string): Promise<Record<string, unknown> | undefined> {
  return (await readJson(join(root, "npm-shrinkwrap.json"))) ?? (await readJson(join(root, "package-lock.json")));
}

async function readJson(path: string): Promise<Record<string, unknown> | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch {
    return undefined; // not there
  }
  try {
    return asObject(JSON.parse(text));
  } catch (error) {
    throw installErrors.archiveRefused({ archive: path, reason: messageOf(error) }, { cause: error });
  }
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
