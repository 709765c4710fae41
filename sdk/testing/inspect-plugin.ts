import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { readLooseJson } from "../../kernel/cli/loose-json.ts";
import { inspectPluginFolder } from "../../kernel/loader/discovery.ts";
import { importModule } from "../../kernel/loader/import.ts";
import { MANIFEST_FILE, parseManifest } from "../../kernel/loader/manifest.ts";
import { protocolDocument, protocolText, readProtocolDocument } from "../../kernel/loader/protocol-document.ts";
import { packageRoot } from "../../kernel/process/paths.ts";
import { amountFieldOf } from "../config/amounts.ts";
import { commonErrors, messageOf, type SvcError } from "../errors.ts";
import { toJsonSchema } from "../json-schema.ts";
import type { PluginProtocol } from "../protocol/methods/spec.ts";
import type { PluginDefinition } from "../types/context.ts";
import type { Manifest } from "../types/manifest.ts";
import type { JsonSchema } from "../types/schema.ts";
import { importBundled } from "./import-bundled.ts";

/** A plugin folder as its author sees it. Nothing of it is imported until `definition` is called. */
export interface InspectedPlugin {
  /** Absolute. */
  root: string;
  /** @throws {SvcError} `failed` with what is wrong in it */
  manifest(): Promise<Manifest>;
  /** Runs the module of the plugin; each call evaluates it anew. @throws {SvcError} `failed` */
  definition(): Promise<PluginDefinition>;
  /** Runs the module that the manifest names for its part of the protocol, and gives the text of `svc.protocol.json`; undefined without one. */
  protocol(): Promise<string | undefined>;
  readme(): Promise<string | undefined>;
  /** Returns the reason why the loader would not touch its files, with the code of the gate; undefined when it would. */
  distrust(): Promise<string | undefined>;
  /** True when it ships with this package: named by id, not by folder. */
  bundled: boolean;
}

/** @param dir folder of `svc.plugin.json`, as a path or a `file:` URL */
export function inspectPlugin(dir: string | URL): InspectedPlugin {
  const root = resolve(typeof dir === "string" && !dir.startsWith("file:") ? dir : fileURLToPath(dir));
  const isBundled = root.startsWith(join(packageRoot(), "plugins") + sep);
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
      const candidate = await inspectPluginFolder(root);
      if (candidate.entry === undefined)
        throw failed(candidate.problem?.reason ?? `entry: there is no ${own.entry ?? "index.ts or index.js"}`);
      const value = (await importOnce(candidate.entry)) as Partial<PluginDefinition> | null | undefined;
      if (typeof value?.id === "string" && typeof value.setup === "function") return value as PluginDefinition;
      throw failed("its entry has no default export made by definePlugin");
    },
    async protocol() {
      const { id, protocol } = await manifest();
      if (protocol === undefined) return undefined;
      const exported = (await importOnce(resolve(root, protocol))) as PluginProtocol | null | undefined;
      if (!exported?.methods && !exported?.events && !exported?.errors)
        throw failed(`protocol: ${protocol} has no default export with methods, events or errors`);
      try {
        const text = protocolText(protocolDocument(exported));
        readProtocolDocument(text, { plugin: id, isBundled });
        return text;
      } catch (error) {
        throw failed(messageOf(error));
      }
    },
    readme: () => readFile(join(root, "README.md"), "utf8").catch(() => undefined),
    async distrust() {
      const { problem } = await inspectPluginFolder(root);
      return problem && `${problem.code}: ${problem.reason}${problem.hint ? `; ${problem.hint}` : ""}`;
    },
    bundled: isBundled,
  };
}

/**
 * Expected `configSchema` of a definition: its config as JSON Schema, amounts with the keyword `amount`, without fields that carry no information.
 * Undefined without config.
 */
export function configSchemaOf(definition: PluginDefinition): JsonSchema | undefined {
  if (!definition.config) return undefined;
  const written = definition.config instanceof z.ZodType ? withAmounts(definition.config) : toJsonSchema(definition.config);
  const { $schema: _, "~standard": __, ...schema } = written as JsonSchema & Record<string, unknown>;
  return schema;
}

function withAmounts(config: z.ZodType): JsonSchema {
  return z.toJSONSchema(config, {
    io: "input",
    unrepresentable: "any",
    override({ zodSchema, jsonSchema }) {
      const amount = amountFieldOf(zodSchema as unknown as z.ZodType);
      if (amount) Object.assign(jsonSchema, { amount });
    },
  }) as JsonSchema;
}

/** The transpiler's cache is a folder of this process alone: a shared one could hold somebody else's code. */
async function importOnce(entry: string): Promise<unknown> {
  const stateDir = await mkdtemp(join(tmpdir(), `svc-test-cache-${process.pid}-`));
  try {
    return await importModule(entry, stateDir, { importBundled });
  } finally {
    await rm(stateDir, { recursive: true, force: true });
  }
}

function failed(message: string): SvcError {
  return commonErrors.failed({ message });
}
