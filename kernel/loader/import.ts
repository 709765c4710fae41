import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as sdk from "svc/sdk";

/** Published names and the host's own files behind them; the authoring SDK itself is handed over as an object. */
const aliases = {
  "svc/sdk/client": fileURLToPath(import.meta.resolve("svc/sdk/client")),
};

/**
 * Default export of a plugin's module. Compiled JavaScript of the package goes native; everything else through jiti, which hands it the host's
 * SDK object as `svc/sdk`, so that identities hold wherever the plugin stands on disk (kernel/adr/0004).
 */
export async function importModule(file: string, stateDir: string): Promise<unknown> {
  if (isCompiledBundle(file)) return ((await import(pathToFileURL(file).href)) as { default?: unknown }).default;
  const { createJiti } = await import("jiti");
  const fsCache = join(stateDir, "cache", "jiti");
  await mkdir(fsCache, { recursive: true, mode: 0o700 });
  const jiti = createJiti(file, { moduleCache: false, fsCache, virtualModules: { "svc/sdk": sdk }, alias: aliases });
  return jiti.import(file, { default: true });
}

/** A file under our own `dist` resolves `svc/sdk` by self-reference, and Node keeps it for the life of the process. */
export function isCompiledBundle(file: string): boolean {
  const here = fileURLToPath(new URL("../..", import.meta.url));
  return import.meta.url.endsWith(".js") && file.startsWith(here);
}
