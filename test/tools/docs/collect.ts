import { readFileSync } from "node:fs";
import { join } from "node:path";
import JSON5 from "json5";
import type { z } from "zod";
import { coreConfigSchema } from "../../../kernel/config/compose-schema.ts";
import { type UnservedKey, unservedKeys } from "../../../kernel/config/unserved-keys.ts";
import { PROTOCOL_FILE, type ProtocolDocument, readProtocolDocument } from "../../../kernel/loader/protocol-document.ts";
import { type ErrorSpec, errorSpecsOf } from "../../../sdk/errors.ts";
import { hooks } from "../../../sdk/hooks.ts";
import { protocolEventPayloads } from "../../../sdk/protocol/event-payloads.ts";
import { type EventSpec, protocolEvents } from "../../../sdk/protocol/events.ts";
import { connectParams } from "../../../sdk/protocol/frames.ts";
import type { MethodSpec, PluginProtocol } from "../../../sdk/protocol/methods/spec.ts";
import { protocolMethods } from "../../../sdk/protocol/methods.ts";
import { protocolResults } from "../../../sdk/protocol/results.ts";
import { helloOk } from "../../../sdk/testing/hello-ok.ts";
import type { Manifest } from "../../../sdk/types/manifest.ts";
import { isProductCode, readRepositoryFile, repositoryFiles, repositoryRoot } from "../source/tree.ts";
import { chosenDetailsCodes } from "./details-codes.ts";
import type { ReferenceInput } from "./pages.ts";
import type { SchemaNode } from "./schema-rows.ts";
import { toWireSchemas } from "./wire-schemas.ts";

/**
 * Reads the values behind the reference pages: schemas, tables and manifests.
 * @param importModule loads a module of the repository; its `svc/sdk` must be the one this file imports
 * @param documents what `svc.protocol.json` of each bundled plugin holds, or is about to
 */
export async function collectReference(
  importModule: (path: string) => Promise<unknown>,
  documents = readProtocolDocuments(),
): Promise<ReferenceInput> {
  const manifests = readManifests();
  const plugins = await collectProtocols(manifests, importModule);
  const wire = collectWire(plugins);
  return {
    config: coreConfigSchema() as SchemaNode,
    unserved: mapped(Object.keys(unservedKeys), (part) => (unservedKeys[part] ?? []).map(shownKey)),
    pluginConfigs: Object.fromEntries(manifests.map((m) => [m.id, (m.configSchema ?? {}) as SchemaNode])),
    ...wire,
    methodOwners: Object.fromEntries(manifests.flatMap((m) => (m.contributes?.rpc ?? []).map((name) => [name, m.id]))),
    hooks,
    chosenDetailsCodes,
    openApi: await collectOpenApi(importModule),
    errors: [...(await collectErrors(importModule)), ...errorsOfPlugins(documents)],
  };
}

/** The document that the gateway serves with every endpoint on. */
async function collectOpenApi(importModule: (path: string) => Promise<unknown>): Promise<object> {
  const module = await importModule(join(repositoryRoot, "plugins/openai-http/openapi/document.ts"));
  return (module as { openApiDocument(): object }).openApiDocument();
}

function shownKey(entry: UnservedKey): string {
  return typeof entry === "string" ? entry : `${entry.path}: ${entry.value}`;
}

/** Methods and events of plugins. */
type Wire = Required<Omit<PluginProtocol, "errors">>;

/** Methods and events with their schemas, in one pass so that shapes they share are one. */
function collectWire(plugins: Wire): Pick<ReferenceInput, "methods" | "events" | "connect" | "shapes"> {
  const methods: Readonly<Record<string, MethodSpec>> = { ...protocolMethods, ...plugins.methods };
  const resultOf: Readonly<Record<string, z.ZodType>> = { ...protocolResults, ...plugins.results };
  const names = Object.keys(methods);
  const eventRows: Readonly<Record<string, EventSpec>> = { ...protocolEvents, ...plugins.events };
  const events = Object.keys(eventRows);
  const core: Readonly<Record<string, z.ZodType>> = protocolEventPayloads;
  const payloadOf = (name: string) => core[name] ?? plugins.events[name]?.payload;
  const params = toWireSchemas({ connect: connectParams, ...mapped(names, (name) => (methods[name] as MethodSpec).params) });
  const unshaped = [...names.filter((name) => !resultOf[name]), ...events.filter((name) => !payloadOf(name))];
  if (unshaped.length > 0) throw new Error(`no schema of the result or payload for: ${unshaped.join(", ")}`);
  const results = mapped(names, (name) => resultOf[name] as z.ZodType);
  const payloads = Object.fromEntries(events.map((name) => [`${name} event`, payloadOf(name) as z.ZodType]));
  const answers = toWireSchemas({ connect: helloOk, ...results, ...payloads });
  const of = (schemas: typeof params, name: string) => schemas.byName[name] as SchemaNode;
  return {
    methods: mapped(names, (name) => {
      const { scope, about } = methods[name] as MethodSpec;
      return { scope, about, params: of(params, name), result: of(answers, name) };
    }),
    events: mapped(events, (name) => ({ ...(eventRows[name] as EventSpec), payload: of(answers, `${name} event`) })),
    connect: { about: "says who is there; first request of every socket", params: of(params, "connect"), result: of(answers, "connect") },
    shapes: answers.named,
  };
}

/** Parts of the protocol that bundled plugins serve, in the order of their ids. */
export async function collectProtocols(
  manifests: readonly Manifest[],
  importModule: (path: string) => Promise<unknown>,
): Promise<Wire & { byPlugin: Record<string, PluginProtocol> }> {
  const byPlugin: Record<string, PluginProtocol> = {};
  for (const { id, protocol } of manifests) {
    if (protocol === undefined) continue;
    const module = (await importModule(join(repositoryRoot, "plugins", id, protocol))) as { default: PluginProtocol };
    byPlugin[id] = module.default;
  }
  const parts = Object.values(byPlugin);
  return {
    byPlugin,
    methods: Object.assign({}, ...parts.map((part) => part.methods)),
    results: Object.assign({}, ...parts.map((part) => part.results)),
    events: Object.assign({}, ...parts.map((part) => part.events)),
  };
}

function mapped<K extends string, V>(names: readonly K[], value: (name: K) => V): Record<K, V> {
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Record<K, V>;
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

/** Errors of the kernel and the SDK, from their tables. */
async function collectErrors(importModule: (path: string) => Promise<unknown>): Promise<ReferenceInput["errors"][number][]> {
  const rows: ReferenceInput["errors"][number][] = [];
  for (const path of errorTables().filter((path) => !path.startsWith("plugins/"))) {
    const specs = Object.entries(await errorSpecsIn(path, importModule));
    rows.push(
      ...specs.map(([code, { expose = {}, ...spec }]) => ({
        code,
        owner: path.split("/")[0] as string,
        ...spec,
        fields: Array.isArray(expose) ? Object.fromEntries(expose.map((name) => [name, {}])) : expose,
      })),
    );
  }
  return rows;
}

/** Specifications of the tables that a module exports, by code. */
export async function errorSpecsIn(path: string, importModule: (path: string) => Promise<unknown>): Promise<Record<string, ErrorSpec>> {
  const module = (await importModule(join(repositoryRoot, path))) as Record<string, unknown>;
  return Object.assign({}, ...Object.values(module).map((value) => errorSpecsOf(value) ?? {}));
}

function errorsOfPlugins(documents: Readonly<Record<string, ProtocolDocument>>): ReferenceInput["errors"][number][] {
  return Object.entries(documents).flatMap(([owner, { errors = {} }]) =>
    Object.entries(errors).map(([code, { details, ...row }]) => {
      const { code: name, ...fields } = (details?.properties ?? {}) as { code?: { const: string } } & Record<string, SchemaNode>;
      return { code, owner, ...row, fields, ...(name ? { details: name.const } : {}) };
    }),
  );
}

function readProtocolDocuments(): Record<string, ProtocolDocument> {
  const files = repositoryFiles().filter((path) => path.startsWith("plugins/") && path.endsWith(`/${PROTOCOL_FILE}`));
  return Object.fromEntries(
    files.map((path) => {
      const plugin = path.split("/")[1] as string;
      return [plugin, readProtocolDocument(readRepositoryFile(path), { plugin, isBundled: true })];
    }),
  );
}
