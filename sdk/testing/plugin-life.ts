import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readLooseJson } from "../../kernel/cli/loose-json.ts";
import { MANIFEST_FILE, parseManifest } from "../../kernel/loader/manifest.ts";
import type { LogRecord } from "../../kernel/process/logger.ts";
import { packageRoot } from "../../kernel/process/paths.ts";
import type { JsonObject } from "../types/common.ts";
import type { PluginDefinition } from "../types/context.ts";
import type { Manifest } from "../types/manifest.ts";
import type { PluginRecord } from "../types/plugin-record.ts";
import { eventually } from "./eventually.ts";
import { createTestGateway, type TestGateway } from "./gateway.ts";
import type { InlinePlugin } from "./inline-plugins.ts";
import type { InspectedPlugin } from "./inspect-plugin.ts";

/** Options for running a plugin for a check. */
export interface LifeOptions {
  /** `plugins.entries.<id>.config`. */
  config: JsonObject;
  env?: Record<string, string | undefined>;
  /** Runs in place of the plugin's own definition, under its manifest. */
  instead?: (own: PluginDefinition) => PluginDefinition;
  limits?: { setupTimeoutMs?: number; startTimeoutMs?: number; stopTimeoutMs?: number };
}

/** Runs one plugin (and the bundled ones it requires) in a gateway of its own, from boot to stop. */
export async function livePlugin(
  plugin: InspectedPlugin,
  options: LifeOptions,
  during: (life: { gateway: TestGateway; record: PluginRecord }) => Promise<void>,
): Promise<{ logs: LogRecord[] }> {
  const manifest = await plugin.manifest();
  const own = await toRun(plugin, manifest, options.instead);
  const entry = {
    enabled: true,
    config: options.config,
    grants: manifest.permissions ?? [],
    ...(options.limits ? { limits: options.limits } : {}),
  };
  const gateway = await createTestGateway({
    plugins: [...(await companionsOf(manifest)), own],
    config: { plugins: { entries: { [manifest.id]: entry } } },
    ...(options.env ? { env: options.env } : {}),
  });
  try {
    const record = await eventually(() => {
      const found = gateway.gateway.plugins().find((p) => p.id === manifest.id && p.code !== "duplicate-id");
      return found && found.state !== "loading" && found.state !== "ready" ? found : undefined;
    }, 35_000);
    await during({ gateway, record });
  } finally {
    await gateway.close();
  }
  return { logs: gateway.logs };
}

/** Prepares the plugin for the gateway: where it is on disk, or its definition in a folder created for it. A lazy one is started at once there. */
async function toRun(plugin: InspectedPlugin, manifest: Manifest, instead: LifeOptions["instead"]): Promise<string | InlinePlugin> {
  const lazy = Array.isArray(manifest.activation);
  if (!instead && !lazy) return plugin.bundled ? manifest.id : plugin.root;
  const own = await plugin.definition();
  // Its methods are declared under `contributes.rpc`; their table and its sections stand in the plugin's own folder.
  const { protocol: _, sections: __, ...declared } = manifest;
  return { definition: withRoot(instead ? instead(own) : own, plugin.root), manifest: { ...declared, activation: "startup" } };
}

/** Bundled plugins that must run beside it: what it depends on and who provides what it requires. */
async function companionsOf(manifest: Manifest): Promise<string[]> {
  const all = await bundledManifests();
  const wanted = new Set<string>();
  const add = (one: Manifest) => {
    const services = (one.requires ?? []).filter((service) => !service.endsWith("?"));
    const providers = all.filter((other) => other.provides?.some((service) => services.includes(service)));
    for (const other of [...providers, ...all.filter((m) => Object.hasOwn(one.dependencies ?? {}, m.id))]) {
      if (wanted.has(other.id) || other.id === manifest.id) continue;
      wanted.add(other.id);
      add(other);
    }
  };
  add(manifest);
  return [...wanted];
}

async function bundledManifests(): Promise<Manifest[]> {
  const root = join(packageRoot(), "plugins");
  const folders = (await readdir(root, { withFileTypes: true })).filter((e) => e.isDirectory());
  const read = await Promise.all(folders.map(({ name }) => readLooseJson(join(root, name, MANIFEST_FILE)).catch(() => undefined)));
  return read.flatMap((value) => {
    const parsed = parseManifest(value);
    return parsed.ok ? [parsed.manifest] : [];
  });
}

/** A definition that stands in the test is loaded from a folder made for it; its assets stay where they are. */
function withRoot(definition: PluginDefinition, root: string): PluginDefinition {
  return { ...definition, setup: (ctx) => definition.setup(Object.create(ctx, { root: { value: root } })) };
}
