import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { readLooseJson } from "../../kernel/cli/loose-json.ts";
import type { Candidate } from "../../kernel/loader/discovery.ts";
import { importCode } from "../../kernel/loader/import.ts";
import { SvcError } from "../errors.ts";
import { packageRoot, runsFromDist } from "../host/paths.ts";
import { toJsonSchema } from "../json-schema.ts";
import { MANIFEST_FILE, parseManifest } from "../manifest.ts";
import type { PluginDefinition } from "../types/context.ts";
import type { Manifest } from "../types/manifest.ts";
import type { JsonSchema } from "../types/schema.ts";

/** A plugin folder as its author sees it. Nothing of it is imported until `definition` is called. */
export interface InspectedPlugin {
  /** Absolute. */
  root: string;
  /** @throws {SvcError} `failed` with what is wrong in it */
  manifest(): Promise<Manifest>;
  /** Runs the module of the plugin; each call evaluates it anew. @throws {SvcError} `failed` */
  definition(): Promise<PluginDefinition>;
  readme(): Promise<string | undefined>;
  /** It ships with this package: named by id, not by folder. */
  bundled: boolean;
}

/** @param dir folder of `svc.plugin.json`, as a path or a `file:` URL */
export function inspectPlugin(dir: string | URL): InspectedPlugin {
  const root = resolve(typeof dir === "string" && !dir.startsWith("file:") ? dir : fileURLToPath(dir));
  const manifest = async () => {
    let value: unknown;
    try {
      value = await readLooseJson(join(root, MANIFEST_FILE));
    } catch (error) {
      throw failed(`${MANIFEST_FILE}: ${error instanceof Error ? error.message : String(error)}`);
    }
    const parsed = parseManifest(value);
    if (!parsed.ok) throw failed(parsed.reason);
    return parsed.manifest;
  };
  return {
    root,
    manifest,
    async definition() {
      const own = await manifest();
      const { id, version } = own;
      return importOnce({ id, version, root, origin: "config", entry: await entryOf(root, own), manifest: own });
    },
    readme: () => readFile(join(root, "README.md"), "utf8").catch(() => undefined),
    bundled: root.startsWith(join(packageRoot(), "plugins") + sep),
  };
}

/** What `configSchema` has to say for a definition: its config as JSON Schema, without the fields that say nothing. Undefined without config. */
export function configSchemaOf(definition: PluginDefinition): JsonSchema | undefined {
  if (!definition.config) return undefined;
  const { $schema: _, "~standard": __, ...schema } = toJsonSchema(definition.config) as JsonSchema & Record<string, unknown>;
  return schema;
}

async function entryOf(root: string, manifest: Manifest): Promise<string> {
  for (const name of manifest.entry ? [manifest.entry] : ["index.ts", "index.js"]) {
    const file = resolve(root, name);
    const inside = relative(root, file);
    if (inside.startsWith("..") || isAbsolute(inside)) throw failed(`entry: expected a path inside the plugin's folder, got "${name}"`);
    const code = codeFile(file);
    const found = await readFile(code).then(
      () => true,
      () => false,
    );
    if (found) return code;
  }
  throw failed(`entry: there is no ${manifest.entry ?? "index.ts or index.js"}`);
}

/** The transpiler's cache is a folder of this process alone: a shared one could hold somebody else's code. */
async function importOnce(candidate: Candidate): Promise<PluginDefinition> {
  const stateDir = await mkdtemp(join(tmpdir(), `svc-test-cache-${process.pid}-`));
  try {
    return (await importCode(candidate, { stateDir, previous: undefined, generation: 1 })).definition;
  } finally {
    await rm(stateDir, { recursive: true, force: true });
  }
}

/** Bundled code stands compiled under `dist` with the same path. */
function codeFile(file: string): string {
  const root = packageRoot();
  if (!runsFromDist() || !file.startsWith(join(root, "plugins") + sep)) return file;
  return join(root, "dist", file.slice(root.length + 1)).replace(/\.ts$/, ".js");
}

function failed(message: string): SvcError {
  return new SvcError("failed", { message });
}
