import { readFileSync } from "node:fs";
import { join } from "node:path";
import JSON5 from "json5";
import { z } from "zod";
import { coreConfigSchema } from "../../../sdk/config/compose-schema.ts";
import { definedErrors } from "../../../sdk/errors.ts";
import { hooks } from "../../../sdk/hooks.ts";
import { protocolEvents } from "../../../sdk/protocol/events.ts";
import { protocolMethods } from "../../../sdk/protocol/methods.ts";
import type { Manifest } from "../../../sdk/types/manifest.ts";
import { isProductCode, readRepositoryFile, repositoryFiles, repositoryRoot } from "../source/tree.ts";
import type { ReferenceInput } from "./pages.ts";
import type { SchemaNode } from "./schema-rows.ts";

const toSchema = (schema: z.ZodType) => z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as SchemaNode;

/**
 * Reads the values behind the reference pages: schemas, tables and manifests.
 * @param importModule loads a module of the repository; its `svc/sdk` must be the one this file imports
 */
export async function collectReference(importModule: (path: string) => Promise<unknown>): Promise<ReferenceInput> {
  const manifests = readManifests();
  return {
    config: coreConfigSchema() as SchemaNode,
    pluginConfigs: Object.fromEntries(manifests.map((m) => [m.id, (m.configSchema ?? {}) as SchemaNode])),
    methods: Object.fromEntries(
      Object.entries(protocolMethods).map(([name, { scope, about, params }]) => [name, { scope, about, params: toSchema(params) }]),
    ),
    methodOwners: Object.fromEntries(manifests.flatMap((m) => (m.contributes?.rpc ?? []).map((name) => [name, m.id]))),
    events: protocolEvents,
    hooks,
    errors: await collectErrors(importModule),
  };
}

export function readManifests(): Manifest[] {
  return repositoryFiles()
    .filter((path) => /^plugins\/[^/]+\/svc\.plugin\.json$/.test(path))
    .map((path) => JSON5.parse(readFileSync(join(repositoryRoot, path), "utf8")) as Manifest);
}

/** Files that define error codes. */
export function errorTables(): string[] {
  return repositoryFiles().filter(
    (path) => isProductCode(path) && path.endsWith(".ts") && readRepositoryFile(path).includes("defineErrors({"),
  );
}

async function collectErrors(importModule: (path: string) => Promise<unknown>): Promise<ReferenceInput["errors"]> {
  const owners = new Map<string, string>();
  const claim = (owner: string) => {
    for (const code of definedErrors().keys()) if (!owners.has(code)) owners.set(code, owner);
  };
  claim("sdk");
  for (const path of errorTables()) {
    await importModule(join(repositoryRoot, path));
    const [layer, id] = path.split("/") as [string, string];
    claim(layer === "plugins" ? id : layer);
  }
  return [...definedErrors()].map(([code, spec]) => ({ code, owner: owners.get(code) ?? "sdk", ...spec }));
}
