import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as sdk from "svc/sdk";
import { type CodePrint, copyGeneration, readCodePrint } from "../../sdk/loader/code-tree.ts";
import { PluginFault } from "../../sdk/loader/faults.ts";
import type { PluginDefinition } from "../../sdk/types/context.ts";
import type { Candidate } from "./discovery.ts";

/** Published names and the host's own files behind them; the authoring SDK itself is handed over as an object. */
const aliases = {
  "svc/sdk/client": fileURLToPath(import.meta.resolve("svc/sdk/client")),
};

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
}

/**
 * The code of a plugin: the previous import when its bytes are the same, else a fresh one (`plugins.md` 7).
 * @throws {PluginFault} `import-failed`, `manifest-invalid`, `restart-required`, or what the module throws
 */
export async function importCode(candidate: Candidate, options: ImportOptions): Promise<LoadedCode> {
  const { previous } = options;
  const { manifest, root } = candidate;
  const entry = candidate.entry as string;
  if (isCompiledBundle(entry)) return previous ?? loaded(candidate, await importNative(entry), undefined);
  const print = await readCodePrint(root, manifest ? undefined : entry);
  if (!previous?.print) return loaded(candidate, await importFresh(entry, options), print);
  if (previous.print.packages !== print.packages) {
    throw new PluginFault("restart-required", "its packages in node_modules changed; only a restart of the gateway loads them");
  }
  if (print.own !== "" && previous.print.own === print.own) return previous;
  if (print.fresh === "purge") purgeCommonJs(root);
  if (print.fresh !== "generation" || !manifest) return loaded(candidate, await importFresh(entry, options), print);
  const target = join(options.stateDir, "cache", "gen", candidate.id, String(options.generation));
  const folder = await copyGeneration(root, target);
  return { ...loaded(candidate, await importFresh(join(folder, relative(root, entry)), options), print), folder };
}

function loaded({ manifest }: Candidate, value: unknown, print: CodePrint | undefined): LoadedCode {
  if (!isDefinition(value)) throw new PluginFault("import-failed", "its entry has no default export made by definePlugin");
  if (manifest && value.id !== manifest.id) {
    throw new PluginFault("manifest-invalid", `its code says id "${value.id}", its manifest "${manifest.id}"`);
  }
  return { definition: value, print, users: 0, refused: [] };
}

/**
 * Imports a module through jiti, which hands it the host's SDK object as `svc/sdk`, so that identities hold wherever the plugin stands on
 * disk (kernel/adr/0004).
 */
async function importFresh(file: string, { stateDir }: ImportOptions): Promise<unknown> {
  const { createJiti } = await import("jiti");
  const fsCache = join(stateDir, "cache", "jiti");
  await mkdir(fsCache, { recursive: true, mode: 0o700 });
  const jiti = createJiti(file, { moduleCache: false, fsCache, virtualModules: { "svc/sdk": sdk }, alias: aliases });
  return jiti.import(file, { default: true });
}

async function importNative(file: string): Promise<unknown> {
  return ((await import(pathToFileURL(file).href)) as { default?: unknown }).default;
}

/** Node keeps CommonJS modules by path: those of this plugin are forgotten, packages are not. */
function purgeCommonJs(root: string): void {
  const { cache } = createRequire(import.meta.url);
  for (const file of Object.keys(cache)) {
    if (file.startsWith(root) && !relative(root, file).includes("node_modules")) delete cache[file];
  }
}

/** A file under our own `dist` resolves `svc/sdk` by self-reference. */
function isCompiledBundle(file: string): boolean {
  const here = fileURLToPath(new URL("../..", import.meta.url));
  return import.meta.url.endsWith(".js") && file.startsWith(here);
}

/** True for what `definePlugin` returns, of any SDK copy. */
function isDefinition(value: unknown): value is PluginDefinition {
  const d = value as Partial<PluginDefinition> | null;
  return typeof d === "object" && d !== null && typeof d.id === "string" && typeof d.setup === "function";
}
