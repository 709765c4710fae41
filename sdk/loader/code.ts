import { join, relative } from "node:path";
import type { PluginDefinition } from "../types/context.ts";
import type { PluginCandidate } from "../types/plugin-candidate.ts";
import { type CodePrint, copyGeneration, readCodePrint } from "./code-tree.ts";
import { PluginFault } from "./faults.ts";

/** A plugin's code as it was imported once. Config changes use it again; only changed bytes are imported anew. */
export interface LoadedCode {
  readonly definition: PluginDefinition;
  /** Undefined for code that is never fresh: compiled into the product, or run in a guest that reads it itself. */
  readonly print: CodePrint | undefined;
  /** Copy it was imported from; removed when no instance runs from it. */
  readonly folder?: string;
  /** Instances made from it that are not gone. */
  users: number;
  /** What a guest could not register at its last setup. */
  readonly refused: Array<{ code: string; message: string }>;
}

export interface ImportOptions {
  stateDir: string;
  previous: LoadedCode | undefined;
  /** Number of this import, for the name of a copy. */
  generation: number;
  /** Default export of a module. */
  importModule(file: string): Promise<unknown>;
  /** True for modules that are what they are until the process ends. */
  isCompiled(file: string): boolean;
}

/**
 * The code of a plugin: the previous import when its bytes are the same, else a fresh one (`plugins.md` 7).
 * @throws {PluginFault} `import-failed`, `manifest-invalid`, `restart-required`, or what the module throws
 */
export async function importCode(candidate: PluginCandidate, options: ImportOptions): Promise<LoadedCode> {
  const { previous, importModule } = options;
  const { manifest, root } = candidate;
  const entry = candidate.entry as string;
  if (options.isCompiled(entry)) return previous ?? loaded(candidate, await importModule(entry), undefined);
  const print = await readCodePrint(root, manifest ? undefined : entry);
  if (!previous?.print) return loaded(candidate, await importModule(entry), print);
  if (previous.print.packages !== print.packages) {
    throw new PluginFault("restart-required", "its packages in node_modules changed; only a restart of the gateway loads them");
  }
  if (print.own !== "" && previous.print.own === print.own) return previous;
  if (!print.native || !manifest) return loaded(candidate, await importModule(entry), print);
  const folder = await copyGeneration(root, join(options.stateDir, "cache", "gen", candidate.id, String(options.generation)));
  return { ...loaded(candidate, await importModule(join(folder, relative(root, entry))), print), folder };
}

function loaded({ id, manifest }: PluginCandidate, value: unknown, print: CodePrint | undefined): LoadedCode {
  if (!isDefinition(value)) throw new PluginFault("import-failed", "its entry has no default export made by definePlugin");
  if (manifest && value.id !== manifest.id) {
    throw new PluginFault("manifest-invalid", `its code says id "${value.id}", its manifest "${manifest.id}"`);
  }
  // Config, grants and precedence went by the id that stands in the text.
  if (value.id !== id)
    throw new PluginFault("manifest-invalid", `its code says id "${value.id}", its file "${id}"; write the id there as it is`);
  return { definition: value, print, users: 0, refused: [] };
}

/** True for what `definePlugin` returns, of any SDK copy. */
function isDefinition(value: unknown): value is PluginDefinition {
  const d = value as Partial<PluginDefinition> | null;
  return typeof d === "object" && d !== null && typeof d.id === "string" && typeof d.setup === "function";
}
