import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, SvcError } from "svc/sdk";
import "../errors.ts";
import { runNpm } from "./npm.ts";

interface LockedPackage {
  integrity?: unknown;
  link?: unknown;
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
    if (reason !== undefined) throw new SvcError("plugin-lockfile-missing", { spec: options.spec, reason });
    options.onStart();
    await runNpm(["ci", "--omit=dev", "--omit=peer", "--no-bin-links"], { cwd: root, env: options.env, signal: options.signal });
  }
}

/** `nothing` = no dependencies; undefined = a lockfile with a hash for each; else what is wrong. */
async function lockProblem(root: string): Promise<string | undefined> {
  const manifest = await readJson(join(root, "package.json"));
  if (manifest === undefined) return "nothing";
  const listed = { ...asObject(manifest.dependencies), ...asObject(manifest.optionalDependencies) };
  if (Object.keys(listed).length === 0) return "nothing";
  const lock = (await readJson(join(root, "npm-shrinkwrap.json"))) ?? (await readJson(join(root, "package-lock.json")));
  if (lock === undefined) return "there is no lockfile";
  const packages = Object.entries(asObject(lock.packages)).flatMap(([path, locked]): Array<[string, LockedPackage]> => {
    return path === "" ? [] : [[path, asObject(locked)]];
  });
  if (packages.length === 0) return "its lockfile names no packages";
  const loose = packages.find(([, p]) => p.link === true || !(p.integrity || p.dev || p.peer || p.inBundle));
  return loose && `its lockfile has no integrity hash for ${loose[0]}`;
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
    throw new SvcError("archive-refused", { archive: path, reason: messageOf(error) }, { cause: error });
  }
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
