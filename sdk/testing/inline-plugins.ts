import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MANIFEST_FILE } from "../../kernel/loader/manifest.ts";
import type { PluginDefinition } from "../types/context.ts";
import type { Manifest } from "../types/manifest.ts";

/** A plugin that stands in the test itself: the real loader loads it from a folder made for it. Without a manifest it may register anything. */
export interface InlinePlugin {
  // biome-ignore lint/suspicious/noExplicitAny: a definition of any config type
  definition: PluginDefinition<any>;
  manifest?: Manifest;
}

const registry = Symbol.for("svc.testing.inline-plugins");
let made = 0;

/** Folders (or single files) for `plugins.load.paths`, and the way to remove them. */
export async function writeInlinePlugins(plugins: readonly InlinePlugin[]): Promise<{ paths: string[]; remove(): Promise<void> }> {
  if (plugins.length === 0) return { paths: [], remove: async () => undefined };
  const root = await mkdtemp(join(tmpdir(), `svc-test-inline-${process.pid}-`));
  const keys: string[] = [];
  const paths: string[] = [];
  for (const plugin of plugins) {
    const key = `${process.pid}-${++made}`;
    keys.push(key);
    definitions().set(key, plugin.definition);
    paths.push(await writeInline(root, key, plugin));
  }
  return {
    paths,
    async remove() {
      forget(keys);
      await rm(root, { recursive: true, force: true });
    },
  };
}

function forget(keys: readonly string[]): void {
  const known = definitions();
  for (const key of keys) known.delete(key);
  if (known.size === 0) delete (globalThis as { [registry]?: unknown })[registry];
}

async function writeInline(root: string, key: string, { definition, manifest }: InlinePlugin): Promise<string> {
  const code = `export default globalThis[Symbol.for(${JSON.stringify(registry.description)})].get(${JSON.stringify(key)});\n`;
  if (!manifest) {
    const file = join(root, `${definition.id}.mjs`);
    await writeFile(file, code);
    return file;
  }
  const folder = join(root, definition.id);
  await mkdir(folder);
  await writeFile(join(folder, MANIFEST_FILE), JSON.stringify({ ...manifest, entry: "index.mjs" }));
  await writeFile(join(folder, "index.mjs"), code);
  return folder;
}

/** Reached from the written module, which may be evaluated in another module graph of this process. */
function definitions(): Map<string, PluginDefinition> {
  const global = globalThis as { [registry]?: Map<string, PluginDefinition> };
  global[registry] ??= new Map();
  return global[registry];
}
