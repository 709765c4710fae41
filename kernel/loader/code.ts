import { join, relative } from "node:path";
import type { PluginDefinition } from "../../sdk/types/context.ts";
import type { PluginCandidate } from "../../sdk/types/plugin-candidate.ts";
import { isolatePlugin } from "../sandbox/isolated-plugin.ts";
import { isolationProblem } from "../sandbox/isolation-support.ts";
import { type CodePrint, copyGeneration, nextGenerationFolder, readCodePrint, removeGeneration } from "./code-tree.ts";
import type { PluginEntry } from "./entry-change.ts";
import { PluginFault } from "./faults.ts";
import { readInstallIndex } from "./install-record.ts";
import { treeIntegrity } from "./tree-integrity.ts";

/** A plugin's code as it was imported once. Config changes use it again; only changed bytes are imported anew. */
export interface LoadedCode {
  readonly definition: PluginDefinition;
  /** Folder of the plugin that it was read from. */
  readonly root: string;
  /** Undefined for code that is never fresh: compiled into the product, or run in a guest that reads it itself. */
  readonly print: CodePrint | undefined;
  /** Copy it was imported from, also its `ctx.root`; removed when no instance runs from it. */
  readonly folder?: string;
  /** Instances made from it that are not gone. */
  users: number;
  /** Registrations that the guest refused at its last setup. */
  readonly refused: Array<{ code: string; message: string }>;
}

export interface ImportOptions {
  stateDir: string;
  previous: LoadedCode | undefined;
  /** Default export of a module. */
  importModule(file: string): Promise<unknown>;
  /** True for modules that are what they are until the process ends. */
  isCompiled(file: string): boolean;
}

/** Entries that were imported where they stand: Node may hold modules of theirs, whatever stands there now. */
const importedInPlace = new Set<string>();

/**
 * The code of a plugin: the previous import when its bytes are the same, else a fresh one. A plugin of the state directory always
 * runs from a copy: what was checked is what runs, and installing over it or removing it takes nothing from under a running instance.
 * @throws {PluginFault} `import-failed`, `integrity`, `manifest-invalid`, `restart-required`, or what the module throws
 */
export async function importCode(candidate: PluginCandidate, options: ImportOptions): Promise<LoadedCode> {
  const { importModule } = options;
  const { manifest, root } = candidate;
  // The same bytes in another folder are another plugin's place: what they import later is there.
  const previous = options.previous?.root === root ? options.previous : undefined;
  const entry = candidate.entry as string;
  if (options.isCompiled(entry)) return previous ?? loaded(candidate, await importModule(entry), undefined);
  const print = await readCodePrint(root, manifest ? undefined : entry);
  const isOurs = candidate.origin === "global";
  if (previous?.print) {
    const samePackages = previous.print.packages === print.packages;
    if (!samePackages && !isOurs) {
      throw new PluginFault("restart-required", "its packages in node_modules changed; only a restart of the gateway loads them");
    }
    if (samePackages && print.own !== "" && previous.print.own === print.own) return previous;
  }
  const mayBeKept = print.native && manifest && (previous?.print || (candidate.origin !== "bundled" && importedInPlace.has(entry)));
  if (!isOurs && !mayBeKept) {
    importedInPlace.add(entry);
    return loaded(candidate, await importModule(entry), print);
  }
  const folder = isOurs
    ? (await copyInstalled(candidate, options.stateDir)).folder
    : await copyGeneration(root, nextGenerationFolder(options.stateDir, candidate.id), "link");
  try {
    return { ...loaded(candidate, await importModule(join(folder, relative(root, entry))), print), folder };
  } catch (error) {
    await removeGeneration(folder);
    throw error;
  }
}

/**
 * A private copy of a plugin of the state directory, packages included; with the recorded hash, checked against the copy, when it was installed by command.
 * @throws {PluginFault} `integrity`
 */
export async function copyInstalled(
  candidate: PluginCandidate,
  stateDir: string,
): Promise<{ folder: string; integrity: string | undefined }> {
  const { id, root, installed } = candidate;
  const integrity = installed ? (await readInstallIndex(stateDir)).plugins[id]?.integrity : undefined;
  if (installed && integrity === undefined) throw new PluginFault("integrity", "it is not installed any more");
  const folder = await copyGeneration(root, nextGenerationFolder(stateDir, id), "copy");
  try {
    if (integrity !== undefined) await requireIntegrity(folder, integrity);
    return { folder, integrity };
  } catch (error) {
    await removeGeneration(folder);
    throw error;
  }
}

/**
 * Code that runs in a guest of its own; what it cannot do from there is reported as diagnostics of its instances.
 * @throws {PluginFault} `config-invalid`, `integrity`
 */
export async function isolateCode(
  candidate: PluginCandidate,
  { mode, grants = [], env = {}, stateDir }: IsolateOptions,
): Promise<LoadedCode> {
  const { id, version, manifest, origin } = candidate;
  const problem = manifest && isolationProblem(manifest, mode);
  if (problem) throw new PluginFault("config-invalid", `plugins.entries.${id}.isolation: ${problem}`);
  const copy = origin === "global" ? await copyInstalled(candidate, stateDir) : undefined;
  const { folder: root = candidate.root, integrity } = copy ?? {};
  const refused: LoadedCode["refused"] = [];
  const definition = isolatePlugin({
    id,
    version,
    root,
    mode,
    env,
    api: manifest?.svc.api ?? "*",
    entry: join(root, relative(candidate.root, candidate.entry as string)),
    // A guest reads its files again each time it starts.
    ...(integrity === undefined ? {} : { check: () => requireIntegrity(root, integrity) }),
    net: (origin === "bundled" || grants.includes("net")) && (manifest?.permissions?.includes("net") ?? false),
    stateDir,
    channels: manifest?.contributes?.channels ?? [],
    refuse: ({ code, message }) => void refused.push({ code, message }),
  });
  return { definition, root: candidate.root, print: undefined, users: 0, refused, ...(copy ? { folder: copy.folder } : {}) };
}

interface IsolateOptions {
  mode: "worker" | "process";
  grants: PluginEntry["grants"];
  env: PluginEntry["env"];
  stateDir: string;
}

/** @throws {PluginFault} `integrity` when the files below a folder are others than those of the hash */
export async function requireIntegrity(folder: string, integrity: string): Promise<void> {
  if ((await treeIntegrity(folder)) !== integrity) throw new PluginFault("integrity", "its files are not those that were installed");
}

function loaded({ id, manifest, root }: PluginCandidate, value: unknown, print: CodePrint | undefined): LoadedCode {
  if (!isDefinition(value)) throw new PluginFault("import-failed", "its entry has no default export made by definePlugin");
  if (manifest && value.id !== manifest.id) {
    throw new PluginFault("manifest-invalid", `its code says id "${value.id}", its manifest "${manifest.id}"`);
  }
  // Config, grants and precedence went by the id that stands in the text.
  if (value.id !== id)
    throw new PluginFault("manifest-invalid", `its code says id "${value.id}", its file "${id}"; write the id there as it is`);
  return { definition: value, root, print, users: 0, refused: [] };
}

/** True for what `definePlugin` returns, of any SDK copy. */
function isDefinition(value: unknown): value is PluginDefinition {
  const d = value as Partial<PluginDefinition> | null;
  return typeof d === "object" && d !== null && typeof d.id === "string" && typeof d.setup === "function";
}
