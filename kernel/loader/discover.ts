import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { expandPath } from "../../sdk/agents.ts";
import type { SvcConfig } from "../../sdk/config/root.ts";
import { SDK_API_VERSION } from "../../sdk/define.ts";
import { messageOf } from "../../sdk/errors.ts";
import { type InstallIndex, type InstallRecord, installedPluginsRoot, readInstallIndex } from "../../sdk/host/install-record.ts";
import { readRegularFile } from "../../sdk/host/read-regular.ts";
import { pluginIdPattern } from "../../sdk/plugin-id.ts";
import { treeIntegrity } from "../../sdk/trust/tree-integrity.ts";
import type { Manifest, PluginOrigin } from "../../sdk/types/manifest.ts";
import type { PluginCandidate, PluginProblem } from "../../sdk/types/plugin-candidate.ts";
import { blameText, type LoopBlame, readQuarantine } from "../operations/quarantine.ts";
import { checkLocalImports } from "../sandbox/local-imports.ts";
import { enablementProblem } from "./enablement.ts";
import { hintFor } from "./faults.ts";
import { MANIFEST_FILE, MANIFEST_MAX_BYTES, type ManifestResult, parseManifest } from "./manifest.ts";
import { checkPluginPaths, currentTrustHost, type GateRequest, type TrustHost } from "./plugin-gate.ts";
import { PROTOCOL_FILE, readProtocolDocument } from "./protocol-document.ts";
import { isVersion, satisfies } from "./version.ts";

/** Code of a plugin that waits for the end of safe mode. */
export const SAFE_MODE_CODE = "safe-mode";

/** Facts about the installation that discovery needs. Paths are absolute. */
export interface DiscoveryHost {
  /** Folder of the bundled plugins' manifests and assets. */
  bundledRoot: string;
  /** Module that runs for a source file of a bundled plugin; other files are their own. */
  codePath(file: string): string;
  /** Reader of JSON with comments. */
  parseText(text: string): unknown;
  /** Default: this process. */
  trust?: TrustHost;
}

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
export async function discover(request: DiscoveryRequest, host: DiscoveryHost): Promise<PluginCandidate[]> {
  const { config, stateDir } = request;
  const [index, quarantine] = await Promise.all([readIndex(stateDir), readQuarantine(stateDir)]);
  const lists = await Promise.all([
    ...config.plugins.load.paths.map((path) => readLoadPath(expandPath(path, request.configDir), host)),
    scan(join(request.workspace, ".svc", "plugins"), "workspace", { host }),
    scan(installedPluginsRoot(stateDir), "global", { host, index: index.value, problem: index.problem }),
    scan(host.bundledRoot, "bundled", { host }),
  ]);
  const ranked = resolvePrecedence(lists.flat());
  return Promise.all(
    ranked.map(async (candidate) => {
      if (candidate.problem) return candidate;
      const looked = request.only === undefined || request.only === candidate.id;
      const problem =
        enablementProblem(candidate, config) ??
        quarantineProblem(candidate, quarantine.get(candidate.id)) ??
        (request.isSafeMode ? safeModeProblem(candidate) : undefined) ??
        (looked ? await contentProblem(candidate, index.value) : undefined);
      return problem ? { ...candidate, entry: undefined, problem } : candidate;
    }),
  );
}

/** One folder as it would be found in `plugins.load.paths`: manifest, API version and trust gates, whatever the config says. */
export async function inspectFolder(root: string, host: DiscoveryHost): Promise<PluginCandidate> {
  const candidate = await readLoadPath(root, host);
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
  { host, index, problem }: { host: DiscoveryHost; index?: InstallIndex; problem?: PluginProblem | undefined },
): Promise<PluginCandidate[]> {
  const entries = await readdir(scanRoot, { withFileTypes: true }).catch(() => []);
  // A name with a dot is nobody's plugin: installs prepare theirs there.
  const folders = entries.filter((e) => (e.isDirectory() || e.isSymbolicLink()) && !e.name.startsWith("."));
  const found = await Promise.all(
    folders.map(({ name }) =>
      readFolder({ root: join(scanRoot, name), origin, scanRoot, trust: "scanned", record: index?.plugins[name] }, host),
    ),
  );
  return found.filter((c) => c !== undefined).map((c) => (problem && !c.problem ? { ...c, entry: undefined, problem } : c));
}

async function readLoadPath(path: string, host: DiscoveryHost): Promise<PluginCandidate> {
  const isFile = moduleName.test(path) && (await stat(path).catch(() => undefined))?.isFile();
  if (isFile) return readSingleFile(path, host);
  const place: Place = { root: path, origin: "config", scanRoot: path, trust: "named" };
  return (await readFolder(place, host)) ?? unidentified(place, `no ${MANIFEST_FILE} in ${path}`);
}

async function readSingleFile(file: string, host: DiscoveryHost): Promise<PluginCandidate> {
  const root = dirname(file);
  const source = await readRegularFile(file, { maxBytes: MANIFEST_MAX_BYTES }).then(String, () => "");
  const base = { ...identityOf(file, source), origin: "config" as const, manifest: undefined };
  const gate = await checkPluginPaths({ root, entry: file, scanRoot: root, trust: "named" }, host.trust ?? currentTrustHost());
  return gate.ok ? { ...base, root: gate.root, entry: gate.entry } : { ...base, root, entry: undefined, problem: gate.problem };
}

/** Undefined for a folder of the product that is no plugin; elsewhere that is worth telling. */
async function readFolder(place: Place, host: DiscoveryHost): Promise<PluginCandidate | undefined> {
  const { root, origin } = place;
  const read = await readManifest(root, host);
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
  const isBundled = origin === "bundled" || root.startsWith(host.bundledRoot + sep);
  if (manifest.sections !== undefined && !isBundled) {
    const reason = `${MANIFEST_FILE}: sections: only plugins that come with svc own a section; expected configSchema, for plugins.entries.${manifest.id}.config`;
    return stopped(blocked("manifest-invalid", reason, "take the field out of the manifest"));
  }
  try {
    base = { ...base, ...(await readMethods(root, manifest, isBundled)) };
  } catch (error) {
    return stopped(blocked("manifest-invalid", messageOf(error), "write it again with: svc plugins build"));
  }
  const entry = await findEntry(root, manifest.entry, host);
  if (!entry) {
    const expected = manifest.entry ?? "index.ts or index.js";
    return stopped(
      blocked("path-escape", `its entry ${expected} is missing or outside its folder`, "compare the manifest's entry with its files"),
    );
  }
  // A bundled plugin is as trustworthy as the kernel beside it; its compiled code stands elsewhere.
  if (origin === "bundled") return { ...base, entry };
  const gate = await checkPluginPaths({ ...place, entry }, host.trust ?? currentTrustHost());
  return gate.ok ? { ...base, root: gate.root, entry: gate.entry } : stopped(gate.problem);
}

/** The manifest of a folder; undefined when there is none. */
async function readManifest(root: string, host: DiscoveryHost): Promise<ManifestResult | undefined> {
  try {
    const bytes = await readRegularFile(join(root, MANIFEST_FILE), { maxBytes: MANIFEST_MAX_BYTES, followLink: false });
    return parseManifest(host.parseText(bytes.toString("utf8").replace(/^\uFEFF/, "")));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : { ok: false, reason: `${MANIFEST_FILE}: ${messageOf(error)}` };
  }
}

/** Methods and events that the plugin's built file lists. @throws {Error} when the manifest announces them and the file is missing or wrong */
async function readMethods(root: string, manifest: Manifest, isBundled: boolean): Promise<Pick<PluginCandidate, "methods" | "events">> {
  if (manifest.protocol === undefined) return {};
  const read = readRegularFile(join(root, PROTOCOL_FILE), { maxBytes: MANIFEST_MAX_BYTES, followLink: false });
  const bytes = await read.catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${PROTOCOL_FILE} ${error.code === "ENOENT" ? "is missing" : messageOf(error)}`);
  });
  const { methods, events } = readProtocolDocument(bytes.toString("utf8"), { plugin: manifest.id, isBundled });
  return { methods, ...(events ? { events } : {}) };
}

/** The entry file that is there. The manifest's checks keep its name inside the folder; where links lead is the gate's business. */
async function findEntry(root: string, entry: string | undefined, host: DiscoveryHost): Promise<string | undefined> {
  for (const name of entry ? [entry] : ["index.ts", "index.js"]) {
    const file = host.codePath(resolve(root, name));
    if (await stat(file).catch(() => undefined)) return file;
  }
  return undefined;
}

function unidentified({ root, origin }: Place, reason: string): PluginCandidate {
  const problem = blocked("manifest-invalid", reason, `see what a ${MANIFEST_FILE} needs with: svc plugins validate <folder>`);
  return { id: basename(root), version: "0.0.0", root, origin, entry: undefined, manifest: undefined, problem };
}

function blocked(code: PluginProblem["code"], reason: string, hint: string): PluginProblem {
  return { state: "blocked", code, reason, hint };
}

/** Rank of a root when two hold the same id; smaller is stronger. A file dropped into a workspace can never stand in for a bundled plugin. */
function originRank({ origin, installed }: Pick<PluginCandidate, "origin" | "installed">): number {
  if (origin === "config") return 1;
  if (origin === "global") return installed ? 2 : 5;
  return origin === "bundled" ? 3 : 4;
}

/**
 * Candidates in load order of their roots (rank, then id; of two config paths the first named one), every loser blocked with the winner's
 * name. One whose id is only guessed, because its manifest cannot be read, beats nobody.
 */
export function resolvePrecedence(found: readonly PluginCandidate[]): PluginCandidate[] {
  const ranked = found.toSorted((a, b) => originRank(a) - originRank(b) || compare(a.id, b.id));
  const winners = new Map<string, PluginCandidate>();
  return ranked.map((candidate) => {
    if (candidate.problem?.code === "manifest-invalid") return candidate;
    const winner = winners.get(candidate.id);
    if (winner) return { ...candidate, problem: duplicateOf(winner) };
    winners.set(candidate.id, candidate);
    return candidate;
  });
}

/** Name of a root in messages. */
function originLabel({ origin, installed }: Pick<PluginCandidate, "origin" | "installed">): string {
  return origin === "global" && installed ? "installed" : origin;
}

function duplicateOf(winner: PluginCandidate): NonNullable<PluginCandidate["problem"]> {
  return {
    state: "blocked",
    code: "duplicate-id",
    reason: `the ${originLabel(winner)} plugin of this id wins (${winner.root})`,
    hint: "remove one of the two, or give it another id",
  };
}

/** By code units: the same order in every locale. */
function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
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
