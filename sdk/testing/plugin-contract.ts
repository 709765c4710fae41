import assert from "node:assert/strict";
import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { PROTOCOL_FILE } from "../../kernel/loader/protocol-document.ts";
import { satisfies } from "../../kernel/loader/version.ts";
import type { LogRecord } from "../../kernel/process/logger.ts";
import { SDK_API_VERSION } from "../define.ts";
import type { JsonObject } from "../types/common.ts";
import type { PluginDefinition } from "../types/context.ts";
import { type ContractCase, defineCases } from "./contract.ts";
import type { TestGateway } from "./gateway.ts";
import { configSchemaOf, type InspectedPlugin, inspectPlugin } from "./inspect-plugin.ts";
import { watchLeaks } from "./leaks.ts";
import { type LifeOptions, livePlugin } from "./plugin-life.ts";

/** Options for running the plugin under its contract. */
export interface PluginContractOptions {
  /** `plugins.entries.<id>.config` it is run with; default `{}`. */
  config?: JsonObject;
  env?: Record<string, string | undefined>;
  /** Time limits of its phases; default 10 s each. */
  limits?: LifeOptions["limits"];
}

const PHASE_MS = 10_000;

/** Panel as the gateway lists it. */
type PanelRow = { id: string; pluginId: string; method?: string; src?: string };

/**
 * Conformance suite of every plugin, to be called inside `describe`: manifest, API range, schema drift, two lives that leave nothing, faults that
 * stay its own, README. The plugin runs in a real gateway together with the bundled plugins it requires.
 * @param dir its folder, as a path or a `file:` URL
 */
export function pluginContract(dir: string | URL, options: PluginContractOptions = {}): void {
  defineCases(pluginCases(dir, options));
}

/** The quick ones among them: everything but its repeated lives and its faults. */
export function quickPluginCases(dir: string | URL, options: PluginContractOptions = {}): ContractCase[] {
  const plugin = inspectPlugin(dir);
  return [...staticCases(plugin), ...liveCases(plugin, options).slice(0, 1)];
}

/** The statements of `pluginContract`, for running them without a test runner. */
export function pluginCases(dir: string | URL, options: PluginContractOptions = {}): ContractCase[] {
  const plugin = inspectPlugin(dir);
  return [...staticCases(plugin), ...liveCases(plugin, options), ...faultCases(plugin, options)];
}

/** Cases that start no gateway; only the last of them runs code of the plugin, and none of its `setup`. */
function staticCases(plugin: InspectedPlugin): ContractCase[] {
  return [
    { name: "its manifest is valid", run: async () => void (await plugin.manifest()) },
    {
      name: "its API range includes this host",
      async run() {
        const { api } = (await plugin.manifest()).svc;
        assert.ok(satisfies(SDK_API_VERSION, api), `svc.api: "${api}" does not include ${SDK_API_VERSION}, the version of this host`);
      },
    },
    {
      name: "its files can be trusted",
      run: async () => {
        // Bundled plugins are trusted with the host, whose folder and file modes they share.
        if (!plugin.bundled) assert.equal(await plugin.distrust(), undefined);
      },
    },
    { name: "its README names it and each permission it asks for", run: () => checkReadme(plugin) },
    {
      name: "its entry is a definition of the manifest's id and version",
      async run() {
        const [manifest, definition] = [await plugin.manifest(), await plugin.definition()];
        assert.equal(definition.id, manifest.id, "id: the code and the manifest differ");
        assert.equal(definition.version, manifest.version, "version: the code and the manifest differ");
      },
    },
    {
      name: "its configSchema is what its config says",
      async run() {
        const [manifest, definition] = [await plugin.manifest(), await plugin.definition()];
        const wanted = configSchemaOf(definition);
        if (wanted)
          assert.deepEqual(manifest.configSchema, wanted, "configSchema differs from the config of the code; run: svc plugins build");
        else assert.deepEqual(manifest.configSchema?.properties ?? {}, {}, "configSchema has keys, the code has no config");
      },
    },
    {
      name: "its svc.protocol.json is what its protocol says",
      async run() {
        const file = join(plugin.root, PROTOCOL_FILE);
        const written = await readFile(file, "utf8").catch(() => undefined);
        assert.equal(written, await plugin.protocol(), "svc.protocol.json differs from the code; run: svc plugins build");
      },
    },
  ];
}

function liveCases(plugin: InspectedPlugin, given: PluginContractOptions): ContractCase[] {
  const options = lifeOptions(given);
  /** Log of the life that the first case has looked at: the first of the two that the second case wants. */
  let firstLife: LogRecord[] | undefined;
  return [
    {
      name: "it loads and registers only what it declares",
      run: async () => {
        const { logs } = await livePlugin(plugin, options, async ({ gateway, record }) => {
          assert.equal(record.state, "active", `it is ${record.state}: ${record.code ?? ""} ${record.reason ?? ""}`);
          assert.deepEqual(record.diagnostics, []);
          await checkPanels(plugin, gateway, record.id);
        });
        firstLife = logs;
      },
    },
    {
      name: "two lives leave nothing behind",
      async run() {
        const first = firstLife ?? (await livePlugin(plugin, options, async () => undefined)).logs;
        const watch = watchLeaks();
        const second = await livePlugin(plugin, options, async () => undefined);
        const { id } = await plugin.manifest();
        assert.deepEqual(complaintsOf([...first, ...second.logs], id), []);
        await watch.assertNone();
      },
    },
  ];
}

function faultCases(plugin: InspectedPlugin, given: PluginContractOptions): ContractCase[] {
  const options = lifeOptions(given);
  const survives = async (instead: (own: PluginDefinition) => PluginDefinition, code: string) => {
    const watch = watchLeaks();
    await livePlugin(plugin, { ...options, instead, limits: { ...options.limits, startTimeoutMs: 300 } }, async ({ gateway, record }) => {
      assert.deepEqual([record.state, record.code], ["failed", code], `got ${record.state}: ${record.reason ?? ""}`);
      assert.equal((await gateway.fetch("/healthz")).status, 200);
    });
    await watch.assertNone();
  };
  return [
    { name: "a throw at the end of its setup is contained and undone", run: () => survives(throwingAfter, "setup-failed") },
    { name: "a start that hangs is contained and undone", run: () => survives(hangingAfter, "start-timeout") },
    {
      name: "a config it does not know is refused, and the gateway goes on",
      async run() {
        const { configSchema } = await plugin.manifest();
        if (configSchema && configSchema.additionalProperties !== false) return;
        await livePlugin(plugin, { ...options, config: { ...options.config, "no-such-key": true } }, async ({ gateway, record }) => {
          assert.deepEqual([record.state, record.code], ["failed", "config-invalid"]);
          assert.equal((await gateway.fetch("/healthz")).status, 200);
        });
      },
    },
  ];
}

function lifeOptions({ config = {}, env, limits }: PluginContractOptions): LifeOptions {
  const phases = { setupTimeoutMs: PHASE_MS, startTimeoutMs: PHASE_MS, ...limits };
  return { config, limits: phases, ...(env ? { env } : {}) };
}

function throwingAfter(own: PluginDefinition): PluginDefinition {
  return {
    ...own,
    async setup(ctx) {
      await own.setup(ctx);
      throw new Error("a fault made by the contract");
    },
  };
}

function hangingAfter(own: PluginDefinition): PluginDefinition {
  return {
    ...own,
    async setup(ctx) {
      const life = (await own.setup(ctx)) ?? {};
      return { ...life, start: () => new Promise<void>(() => undefined) };
    },
  };
}

/** Complaints of the gateway about a plugin that did not end properly. */
function complaintsOf(logs: readonly LogRecord[], id: string): string[] {
  const named = logs.filter((record) => record.message.includes(`"${id}"`));
  return named.filter(({ fields, message }) => fields?.code === "leak" || /left behind|did not finish/.test(message)).map((r) => r.message);
}

/** Its panels answer what the page can draw, unless they say themselves why they do not, and the pages of its frames are there. */
async function checkPanels(plugin: InspectedPlugin, gateway: TestGateway, id: string): Promise<void> {
  const { descriptors } = await gateway.rpc<{ descriptors: PanelRow[] }>("plugins.uiDescriptors");
  for (const panel of descriptors.filter(({ pluginId }) => pluginId === id)) {
    if (panel.method === undefined) {
      const page = join(plugin.root, "panel", panel.src ?? "");
      const isThere = await lstat(page).then(
        (found) => found.isFile(),
        () => false,
      );
      assert.ok(isThere, `panel "${panel.id}": there is no file panel/${panel.src}`);
    } else {
      const refusal = await gateway.rpc(panel.method).then(
        () => undefined,
        (error: Error) => error,
      );
      assert.ok(!/answered (what cannot be drawn|more than)|did not answer within/.test(refusal?.message ?? ""), refusal?.message);
    }
  }
}

async function checkReadme(plugin: InspectedPlugin): Promise<void> {
  const [manifest, text] = [await plugin.manifest(), await plugin.readme()];
  assert.ok(text, "README.md: there is none");
  assert.ok(
    text.includes(manifest.id) || (manifest.name !== undefined && text.includes(manifest.name)),
    `README.md does not name ${manifest.id}`,
  );
  const silent = (manifest.permissions ?? []).filter((permission) => !text.includes(permission));
  assert.deepEqual(silent, [], "README.md does not say what these permissions are for");
}
