import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as sdk from "svc/sdk";
import * as internal from "svc/sdk/internal";
import { importCompiled } from "./import-compiled.ts";

/** Root of the checkout for sources, `dist` for compiled files. */
const root = fileURLToPath(new URL("../..", import.meta.url));

/** Published names and the host's own files behind them; the authoring SDK itself is handed over as an object. */
const aliases = {
  "svc/sdk/client": fileURLToPath(import.meta.resolve("svc/sdk/client")),
};

export interface ImportModuleOptions {
  /**
   * Imports the sources of bundled plugins instead, evaluated once per process as compiled code is. For tests, which start many gateways in one process, and whose
   * runner translates those sources anyway.
   */
  importBundled?: ((file: string) => Promise<unknown>) | undefined;
}

/**
 * Imports a plugin's module through jiti and returns its default export. Compiled JavaScript of the package takes jiti's native path; everything else is
 * translated and gets the host's SDK object as `svc/sdk`, so that identities hold wherever the plugin stands on disk (kernel/adr/0004).
 */
export async function importModule(file: string, stateDir: string, { importBundled }: ImportModuleOptions = {}): Promise<unknown> {
  if (isCompiledBundle(file)) return importCompiled(file);
  if (importBundled && isBundledSource(file)) return importBundled(file);
  const { createJiti } = await import("jiti");
  const fsCache = isOwnSource(file) ? join(root, "node_modules", ".cache", "jiti") : join(stateDir, "cache", "jiti");
  await mkdir(fsCache, { recursive: true, mode: 0o700 });
  const own = isOwnSource(file) ? { "svc/sdk/internal": internal } : {};
  const jiti = createJiti(file, { moduleCache: false, fsCache, virtualModules: { ...own, "svc/sdk": sdk }, alias: aliases });
  return jiti.import(file, { default: true });
}

/** A file under our own `dist` resolves `svc/sdk` by self-reference, and Node keeps it for the life of the process. */
function isCompiledBundle(file: string): boolean {
  return import.meta.url.endsWith(".js") && file.startsWith(root);
}

/** A module that is what it is until the process ends: compiled, or imported by `importBundled`. */
export function isEvaluatedOnce(file: string, { importBundled }: ImportModuleOptions = {}): boolean {
  return isCompiledBundle(file) || (importBundled !== undefined && isBundledSource(file));
}

function isBundledSource(file: string): boolean {
  return isOwnSource(file) && file.startsWith(join(root, "plugins"));
}

/** A file of the checkout this host runs from: translated once for all its state directories, of which every test has a fresh one. */
function isOwnSource(file: string): boolean {
  return import.meta.url.endsWith(".ts") && file.startsWith(root);
}
