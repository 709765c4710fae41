import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { expandPath } from "../../sdk/agents.ts";
import type { SvcConfig } from "../../sdk/config/root.ts";
import { SDK_API_VERSION } from "../../sdk/define.ts";
import { messageOf } from "../../sdk/errors.ts";
import { readRegularFile } from "../../sdk/internal/files/read-regular.ts";
import type { Manifest, PluginOrigin } from "../../sdk/types/manifest.ts";
import type { PluginCandidate, PluginProblem } from "../../sdk/types/plugin-candidate.ts";
import { parseJson5 } from "../config/parse-json5.ts";
import { blameText, type LoopBlame, readQuarantine } from "../operations/quarantine.ts";
import { packageRoot, runsFromDist } from "../process/paths.ts";
import { pluginIdPattern } from "../process/plugin-id.ts";
import { checkLocalImports } from "../sandbox/local-imports.ts";
import { enablementProblem } from "./enablement.ts";
import { hintFor } from "./faults.ts";
import { type InstallIndex, type InstallRecord, installedPluginsRoot, readInstallIndex } from "./install-record.ts";
import { MANIFEST_FILE, MANIFEST_MAX_BYTES, type ManifestResult, parseManifest } from "./manifest.ts";
import { mapLimited } from "./map-limited.ts";
import { checkPluginPaths, currentTrustHost, type GateRequest } from "./plugin-gate.ts";
import { resolvePrecedence } from "./precedence.ts";
import { PROTOCOL_FILE, readProtocolDocument } from "./protocol-document.ts";
import { treeIntegrity } from "./tree-integrity.ts";
import { isVersion, satisfies } from "./version.ts";

/** Folders that are read together: there may be many, and a process may have few descriptors. */
const FOLDERS_AT_ONCE = 8;

/** Code of a plugin that waits for the end of safe mode. */
export const SAFE_MODE_CODE = "safe-mode";

export interface DiscoveryRequest {
  config: SvcConfig;
  stateDir: string;
  configDir: string;
  /** Workspace of the default agent. */
  workspace: string;
  /** The gateway is in safe mode: only bundled plugins may load. */
  isSafeMode?: boolean;
  /** Only this id is looked at to the end (integrity, imports); the others are told with what their manifests say. */
  only?: string;
  /** Reads the folder of bundled plugins once per process. For tests, which start many gateways in one process. */
  reuse?: boolean | undefined;
}

/** Place where one candidate was found. */
interface Place {
  root: string;
  origin: PluginOrigin;
  scanRoot: string;
  trust: GateRequest["trust"];
  record?: InstallRecord | undefined;
}

/**
 * Finds every plugin of the four roots and decides, without running any of its code, which may load: manifest, API version, precedence,
 * trust gates, what the config says, and for those left over their integrity and local imports. Nothing is skipped silently.
 * @returns candidates in load order of their roots; of one id at most one has no `problem`
 */
export async function discoverPlugins(request: DiscoveryRequest): Promise<PluginCandidate[]> {
  const { config, stateDir } = request;
  const [index, quarantine] = await Promise.all([readIndex(stateDir), readQuarantine(stateDir)]);
  const lists = await Promise.all([
    ...config.plugins.load.paths.map((path) => readLoadPath(expandPath(path, request.configDir))),
    scan(join(request.workspace, ".svc", "plugins"), "workspace"),
    scan(installedPluginsRoot(stateDir), "global", { index: index.value, problem: index.problem }),
    request.reuse ? keptBundled() : scan(bundledRoot(), "bundled"),
  ]);
  const ranked = resolvePrecedence(lists.flat());
  return mapLimited(ranked, FOLDERS_AT_ONCE, async (candidate) => {
    if (candidate.problem) return candidate;
    const looked = request.only === undefined || request.only === candidate.id;
    const problem =
      enablementProblem(candidate, config) ??
      quarantineProblem(candidate, quarantine.get(candidate.id)) ??
      (request.isSafeMode ? safeModeProblem(candidate) : undefined) ??
      (looked ? await contentProblem(candidate, index.value) : undefined);
    return problem ? { ...candidate, entry: undefined, problem } : candidate;
  });
}

let kept: PluginCandidate[] | undefined;

/** A folder that could not be read is read again. */
async function keptBundled(): Promise<PluginCandidate[]> {
  if (kept) return kept;
  const found = await scan(bundledRoot(), "bundled");
  if (found.every(({ problem }) => problem === undefined)) kept = found;
  return found;
}

/** Finds the plugin that would load under one id now; undefined when no root holds it. */
export async function discoverOne(id: string, request: DiscoveryRequest): Promise<PluginCandidate | undefined> {
  return (await discoverPlugins({ ...request, only: id })).find((c) => c.id === id && c.problem?.code !== "duplicate-id");
}

/** Inspects a folder or file as `plugins.load.paths` would find it: manifest, API version and trust gates, whatever the config says. No code is run. */
export async function inspectPluginFolder(path: string): Promise<PluginCandidate> {
  const candidate = await readLoadPath(path);
  const problem = candidate.problem ?? (await contentProblem(candidate, { version: 1, plugins: {} }));
  return problem ? { ...candidate, problem } : candidate;
}

/** A bundled plugin is part of what people rely on: it loads again, and its record says what it did. */
function quarantineProblem({ id, origin }: PluginCandidate, blame: LoopBlame | undefined): PluginProblem | undefined {
  if (!blame || origin === "bundled") return undefined;
  return blocked("quarantined", blameText(blame), hintFor("quarantined", id) ?? "");
}

/** Whatever ended the gateway again and again, the code of third parties is the first that it can do without. */
function safeModeProblem({ id, origin }: PluginCandidate): PluginProblem | undefined {
  if (origin === "bundled") return undefined;
  return blocked(SAFE_MODE_CODE, "the gateway is in safe mode after a crash loop", hintFor(SAFE_MODE_CODE, id) ?? "");
}

/** Looks into the files of a plugin that may load: the recorded hash of an installed one, and where local imports lead. */
async function contentProblem(candidate: PluginCandidate, index: InstallIndex): Promise<PluginProblem | undefined> {
  const { id, root, origin, entry, installed } = candidate;
  if (origin === "bundled" || entry === undefined) return undefined;
  try {
    const record = installed ? index.plugins[id] : undefined;
    if (record && (await treeIntegrity(root)) !== record.integrity) {
      const hint = `reinstall it, or accept the files as they are with: svc plugins install --confirm ${id}`;
      return blocked("integrity", "its files are not those that were installed", hint);
    }
    return await checkLocalImports(root, entry);
  } catch (error) {
    return blocked("path-escape", `its files could not be checked: ${messageOf(error)}`, "make its folder readable for this user");
  }
}

async function readIndex(stateDir: string): Promise<{ value: InstallIndex; problem?: PluginProblem }> {
  try {
    return { value: await readInstallIndex(stateDir) };
  } catch (error) {
    // Nothing is trusted on the word of a damaged index; what stands there counts as dropped in by hand.
    return { value: { version: 1, plugins: {} }, problem: blocked("integrity", messageOf(error), "install the plugins again") };
  }
}

async function scan(
  scanRoot: string,
  origin: PluginOrigin,
  { index, problem }: { index?: InstallIndex; problem?: PluginProblem | undefined } = {},
): Promise<PluginCandidate[]> {
  const entries = await readdir(scanRoot, { withFileTypes: true }).catch(() => []);
  // A name with a dot is nobody's plugin: installs prepare theirs there.
  const folders = entries.filter((e) => (e.isDirectory() || e.isSymbolicLink()) && !e.name.startsWith("."));
  const found = await mapLimited(folders, FOLDERS_AT_ONCE, ({ name }) =>
    readFolder({ root: join(scanRoot, name), origin, scanRoot, trust: "scanned", record: index?.plugins[name] }),
  );
  return found.filter((c) => c !== undefined).map((c) => (problem && !c.problem ? { ...c, entry: undefined, problem } : c));
}

async function readLoadPath(path: string): Promise<PluginCandidate> {
  const isFile = moduleName.test(path) && (await stat(path).catch(() => undefined))?.isFile();
  if (isFile) return readSingleFile(path);
  const place: Place = { root: path, origin: "config", scanRoot: path, trust: "named" };
  return (await readFolder(place)) ?? unidentified(place, `no ${MANIFEST_FILE} in ${path}`);
}

async function readSingleFile(file: string): Promise<PluginCandidate> {
  const root = dirname(file);
  const source = await readRegularFile(file, { maxBytes: MANIFEST_MAX_BYTES }).then(String, () => "");
  const base = { ...identityOf(file, source), origin: "config" as const, manifest: undefined };
  const gate = await checkPluginPaths({ root, entry: file, scanRoot: root, trust: "named" }, currentTrustHost());
  return gate.ok ? { ...base, root: gate.root, entry: gate.entry } : { ...base, root, entry: undefined, problem: gate.problem };
}

/** Undefined for a folder of the product that is no plugin; elsewhere that is worth telling. */
async function readFolder(place: Place): Promise<PluginCandidate | undefined> {
  const { root, origin } = place;
  // A manifest of a release was checked where that was tested; checking all of them is some 5 % of what a command does.
  const isChecked = origin === "bundled" && runsFromDist();
  const read = await readManifest(root, isChecked);
  if (!read) return origin === "bundled" ? undefined : unidentified(place, `no ${MANIFEST_FILE} in ${root}`);
  if (!read.ok) return unidentified(place, read.reason);
  const { manifest } = read;
  const installed = origin === "global" && place.record !== undefined && basename(root) === manifest.id;
  let base = { id: manifest.id, version: manifest.version, root, origin, manifest, ...(installed ? { installed } : {}) };
  const stopped = (problem: PluginProblem): PluginCandidate => ({ ...base, entry: undefined, problem });
  if (!satisfies(SDK_API_VERSION, manifest.svc.api)) {
    const reason = `needs plugin API ${manifest.svc.api}, this gateway has ${SDK_API_VERSION}`;
    return stopped(blocked("api-mismatch", reason, "install a version of the plugin that was made for this API"));
  }
  const isBundled = origin === "bundled" || root.startsWith(bundledRoot() + sep);
  if (manifest.sections !== undefined && !isBundled) {
    const reason = `${MANIFEST_FILE}: sections: only plugins that come with svc own a section; expected configSchema, for plugins.entries.${manifest.id}.config`;
    return stopped(blocked("manifest-invalid", reason, "take the field out of the manifest"));
  }
  try {
    base = { ...base, ...(await readMethods(root, manifest, { isBundled, isChecked })) };
  } catch (error) {
    return stopped(blocked("manifest-invalid", messageOf(error), "write it again with: svc plugins build"));
  }
  const entry = await findEntry(root, manifest.entry);
  if (!entry) {
    const expected = manifest.entry ?? "index.ts or index.js";
    return stopped(
      blocked("path-escape", `its entry ${expected} is missing or outside its folder`, "compare the manifest's entry with its files"),
    );
  }
  // A bundled plugin is as trustworthy as the kernel beside it; its compiled code stands elsewhere.
  if (origin === "bundled") return { ...base, entry };
  const gate = await checkPluginPaths({ ...place, entry }, currentTrustHost());
  return gate.ok ? { ...base, root: gate.root, entry: gate.entry } : stopped(gate.problem);
}

/** The manifest of a folder; undefined when there is none. */
async function readManifest(root: string, isChecked: boolean): Promise<ManifestResult | undefined> {
  try {
    const bytes = await readRegularFile(join(root, MANIFEST_FILE), { maxBytes: MANIFEST_MAX_BYTES, followLink: false });
    const content = parseJson5(bytes.toString("utf8").replace(/^\uFEFF/, ""));
    return isChecked ? { ok: true, manifest: content as Manifest } : parseManifest(content);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : { ok: false, reason: `${MANIFEST_FILE}: ${messageOf(error)}` };
  }
}

/** Methods and events that the plugin's built file lists. @throws {Error} when the manifest announces them and the file is missing or wrong */
async function readMethods(
  root: string,
  manifest: Manifest,
  { isBundled, isChecked }: { isBundled: boolean; isChecked: boolean },
): Promise<Pick<PluginCandidate, "methods" | "events">> {
  if (manifest.protocol === undefined) return {};
  const read = readRegularFile(join(root, PROTOCOL_FILE), { maxBytes: MANIFEST_MAX_BYTES, followLink: false });
  const bytes = await read.catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${PROTOCOL_FILE} ${error.code === "ENOENT" ? "is missing" : messageOf(error)}`);
  });
  const { methods, events } = readProtocolDocument(bytes.toString("utf8"), { plugin: manifest.id, isBundled, isChecked });
  return { methods, ...(events ? { events } : {}) };
}

/** The entry file that is there. The manifest's checks keep its name inside the folder; where links lead is the gate's business. */
async function findEntry(root: string, entry: string | undefined): Promise<string | undefined> {
  for (const name of entry ? [entry] : ["index.ts", "index.js"]) {
    const file = codePath(resolve(root, name));
    if (await stat(file).catch(() => undefined)) return file;
  }
  return undefined;
}

/** Root of the bundled plugins' manifests and assets, in both modes. */
export function bundledRoot(): string {
  return join(packageRoot(), "plugins");
}

/** Module file of a bundled plugin: compiled code stands under `dist` with the same path. */
function codePath(file: string): string {
  const root = packageRoot();
  if (!runsFromDist() || !file.startsWith(bundledRoot() + sep)) return file;
  return join(root, "dist", file.slice(root.length + 1)).replace(/\.ts$/, ".js");
}

function unidentified({ root, origin }: Place, reason: string): PluginCandidate {
  const problem = blocked("manifest-invalid", reason, `see what a ${MANIFEST_FILE} needs with: svc plugins validate <folder>`);
  return { id: basename(root), version: "0.0.0", root, origin, entry: undefined, manifest: undefined, problem };
}

function blocked(code: PluginProblem["code"], reason: string, hint: string): PluginProblem {
  return { state: "blocked", code, reason, hint };
}

/** Pattern of the module names allowed in `plugins.load.paths`. */
const moduleName = /\.[cm]?[jt]s$/;

/** The part of a source in which `definePlugin` says who the plugin is. */
const HEAD = 4_096;

/**
 * Id and version that a plugin of one file gives to `definePlugin`, read from its text because they must be known before any of its code runs. The loader
 * compares them with what the code then says. Without literals there: the file's name and 0.0.0.
 */
export function identityOf(file: string, source: string): { id: string; version: string } {
  const at = source.search(/\bdefinePlugin\s*(?:<[^<>]*>\s*)?\(\s*\{/);
  const head = at === -1 ? "" : source.slice(at, at + HEAD);
  const id = /\bid\s*:\s*["'`]([^"'`\n]+)["'`]/.exec(head)?.[1];
  const version = /\bversion\s*:\s*["'`]([^"'`\n]+)["'`]/.exec(head)?.[1];
  return {
    id: id !== undefined && pluginIdPattern.test(id) ? id : basename(file).replace(moduleName, ""),
    version: version !== undefined && isVersion(version) ? version : "0.0.0",
  };
}
