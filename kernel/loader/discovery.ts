import { access, readdir, readFile, realpath } from "node:fs/promises";
import { basename, dirname, extname, join, resolve, sep } from "node:path";
import JSON5 from "json5";
import { expandPath } from "../../sdk/agents.ts";
import type { SvcConfig } from "../../sdk/config/root.ts";
import { SDK_API_VERSION } from "../../sdk/define.ts";
import { messageOf } from "../../sdk/errors.ts";
import { packageRoot, runsFromDist } from "../../sdk/host/paths.ts";
import { MANIFEST_FILE, type ManifestResult, parseManifest, satisfies } from "../../sdk/manifest.ts";
import type { Manifest, PluginOrigin } from "../../sdk/types/manifest.ts";

/** One plugin as found on disk; `problem` says why it will not load. */
export interface Candidate {
  id: string;
  version: string;
  root: string;
  origin: PluginOrigin;
  /** Module to import; undefined with a problem. */
  entry: string | undefined;
  /** Undefined for a single file named in `plugins.load.paths`: its identity comes from its code. */
  manifest: Manifest | undefined;
  problem?: { state: "blocked" | "disabled" | "failed"; code: string; reason: string };
}

/** Who wins when two roots hold the same id; smaller is stronger. */
const precedence: Record<PluginOrigin, number> = { config: 1, bundled: 3, workspace: 4, global: 5 };

/** Finds every plugin of the four roots; nothing is skipped silently. */
export async function discoverPlugins(options: {
  config: SvcConfig;
  stateDir: string;
  configDir: string;
  workspace: string;
}): Promise<Candidate[]> {
  const { config } = options;
  const found: Candidate[] = [];
  for (const path of config.plugins.load.paths) found.push(await fromLoadPath(expandPath(path, options.configDir)));
  found.push(...(await scan(join(options.workspace, ".svc", "plugins"), "workspace")));
  found.push(...(await scan(join(options.stateDir, "plugins"), "global")));
  found.push(...(await scan(bundledRoot(), "bundled")));
  const ranked = found.sort((a, b) => precedence[a.origin] - precedence[b.origin] || a.id.localeCompare(b.id));
  const winners = new Map<string, Candidate>();
  return ranked.map((candidate) => {
    const winner = winners.get(candidate.id);
    if (winner)
      return { ...candidate, problem: { state: "blocked", code: "duplicate-id", reason: `the ${winner.origin} plugin of this id wins` } };
    winners.set(candidate.id, candidate);
    return candidate.problem ? candidate : { ...candidate, ...enablement(candidate, config) };
  });
}

/** Root of the bundled plugins' manifests and assets, in both modes. */
export function bundledRoot(): string {
  return join(packageRoot(), "plugins");
}

/** Module file of a bundled plugin: compiled code stands under `dist` with the same path. */
export function codePath(file: string): string {
  const root = packageRoot();
  if (!runsFromDist() || !file.startsWith(bundledRoot() + sep)) return file;
  return join(root, "dist", file.slice(root.length + 1)).replace(/\.ts$/, ".js");
}

async function scan(root: string, origin: PluginOrigin): Promise<Candidate[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
  const folders = entries.filter((e) => e.isDirectory()).map((e) => join(root, e.name));
  const found = await Promise.all(folders.map((folder) => fromFolder(folder, origin)));
  return found.filter((c): c is Candidate => c !== undefined);
}

async function fromLoadPath(path: string): Promise<Candidate> {
  if (/^\.[cm]?[jt]s$/.test(extname(path))) {
    const id = basename(path).replace(/\.[cm]?[jt]s$/, "");
    return { id, version: "0.0.0", root: dirname(path), origin: "config", entry: path, manifest: undefined };
  }
  return (
    (await fromFolder(path, "config")) ?? failed(path, "config", { code: "manifest-invalid", reason: `no svc.plugin.json in ${path}` })
  );
}

async function fromFolder(root: string, origin: PluginOrigin): Promise<Candidate | undefined> {
  const read = await readManifest(root);
  if (!read) return undefined;
  if (!read.ok) return failed(root, origin, { code: "manifest-invalid", reason: read.reason });
  const { manifest } = read;
  const base = { id: manifest.id, version: manifest.version, root, origin, manifest };
  if (!satisfies(SDK_API_VERSION, manifest.svc.api)) {
    const reason = `needs plugin API ${manifest.svc.api}, this gateway has ${SDK_API_VERSION}`;
    return { ...base, entry: undefined, problem: { state: "blocked", code: "api-mismatch", reason } };
  }
  const entry = await resolveEntry(root, manifest.entry);
  if (!entry)
    return {
      ...base,
      entry: undefined,
      problem: { state: "blocked", code: "path-escape", reason: "its entry is missing or outside its folder" },
    };
  return { ...base, entry };
}

function failed(root: string, origin: PluginOrigin, problem: { code: string; reason: string }): Candidate {
  return {
    id: basename(root),
    version: "0.0.0",
    root,
    origin,
    entry: undefined,
    manifest: undefined,
    problem: { state: "blocked", ...problem },
  };
}

/** The entry file, inside the root after resolving links. */
async function resolveEntry(root: string, entry: string | undefined): Promise<string | undefined> {
  for (const name of entry ? [entry] : ["index.ts", "index.js"]) {
    const file = codePath(resolve(root, name));
    try {
      await access(file);
      const realRoot = await realpath(file.startsWith(root) ? root : dirname(file));
      if ((await realpath(file)).startsWith(realRoot + sep)) return file;
    } catch {
      // not there: the next name, and then the caller says what is missing
    }
  }
  return undefined;
}

function enablement(candidate: Candidate, config: SvcConfig): Pick<Candidate, "problem"> {
  const { plugins } = config;
  const off = (state: "blocked" | "disabled", code: string, reason: string) => ({ problem: { state, code, reason } });
  if (!plugins.enabled) return off("disabled", "not-enabled", "plugins.enabled is false");
  if (plugins.deny.includes(candidate.id)) return off("blocked", "denied", "listed in plugins.deny");
  if (plugins.allow && !plugins.allow.includes(candidate.id)) return off("blocked", "not-allowed", "not listed in plugins.allow");
  const slot = candidate.manifest?.slot;
  if (slot && plugins.slots[slot] !== candidate.id)
    return off("disabled", "slot-taken", `plugins.slots.${slot} names "${plugins.slots[slot]}"`);
  const byOrigin = candidate.origin === "config" || (candidate.origin === "bundled" && candidate.manifest?.enabledByDefault === true);
  const enabled = plugins.entries[candidate.id]?.enabled ?? byOrigin;
  return enabled ? {} : off("disabled", "not-enabled", `plugins.entries.${candidate.id}.enabled is not true`);
}

/** `svc.plugin.json` of a folder (comments and trailing commas allowed); undefined when there is none. */
async function readManifest(root: string): Promise<ManifestResult | undefined> {
  try {
    return parseManifest(JSON5.parse(await readFile(join(root, MANIFEST_FILE), "utf8")));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : { ok: false, reason: `${MANIFEST_FILE}: ${messageOf(error)}` };
  }
}
