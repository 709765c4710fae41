import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PluginCandidate, SvcConfig } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { vendorPackages } from "../../../test/tools/installed-plugins.ts";
import { missingOfPlugins } from "./packages.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-doctor-"));
  await mkdir(join(root, "vendor"));
  await writeFile(join(root, "vendor/package.json"), JSON.stringify({ dependencies: { dep: "1.0.0" } }));
  await writeFile(join(root, "vendor/package-lock.json"), JSON.stringify({ packages: { "node_modules/dep": { version: "1.0.0" } } }));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** Sections as a gateway parses them. */
function configOf(written: object): SvcConfig {
  const { plugins = { entries: {} }, ...shared } = written as { plugins?: object };
  return { ...parseSharedConfig(shared), plugins } as SvcConfig;
}

const lazy = { activation: ["channel:talk"], contributes: { channels: ["talk"] } };

const local = { activation: ["model:local", "embedding:local"], contributes: { modelProviders: ["local"], embeddingAdapters: ["local"] } };

test.each([
  [
    "a model provider that is configured",
    local,
    { models: { providers: { local: {} } } },
    "models.providers.local",
    "svc plugins add-packages demo",
  ],
  [
    "a model provider whose name a server has",
    local,
    { models: { providers: { local: { baseUrl: "http://127.0.0.1:1" } } } },
    undefined,
    "",
  ],
  [
    "an embedding adapter that an agent names",
    local,
    { agents: { list: [{ id: "a", memorySearch: { provider: "local" } }] } },
    "agents.list[id=a].memorySearch.provider",
    "svc plugins add-packages demo",
  ],
  ["a channel that is configured", lazy, { channels: { talk: {} } }, "channels.talk", "svc channels add talk"],
  ["a channel that is switched off", lazy, { channels: { talk: { enabled: false } } }, undefined, ""],
  ["a channel that nobody configured", lazy, {}, undefined, ""],
  ["a plugin that is loaded by its first user", { activation: ["embedding:x"] }, {}, undefined, ""],
  [
    "one with an entry in the config",
    { activation: ["embedding:x"] },
    { plugins: { entries: { demo: {} } } },
    "plugins.entries.demo",
    "svc plugins add-packages demo",
  ],
  ["a plugin that loads at the start", {}, {}, "plugins.entries.demo", "svc plugins add-packages demo"],
  ["one that is there for a service, and works without them", { optionalPackages: true, provides: ["demo@1"] }, {}, undefined, ""],
  ["one that works without them", { optionalPackages: true }, {}, "plugins.entries.demo", "svc plugins add-packages demo"],
])("the packages of %s", async (_, manifest, config, path, command) => {
  const candidate = { id: "demo", root, manifest } as unknown as PluginCandidate;
  const options = { config: configOf(config), vendor: vendorPackages(root) };
  const isOptional = "optionalPackages" in manifest;
  const found = path === undefined ? [] : [{ plugin: "demo", path, missing: ["dep"], command, isOptional }];
  expect(await missingOfPlugins([candidate], options)).toEqual(found);
  const problem = { state: "disabled" as const, code: "not-enabled" as const, reason: "r" };
  expect(await missingOfPlugins([{ ...candidate, problem }], options)).toEqual([]);
});

test("the packages of a plugin whose service a model in use wants", async () => {
  const runtime = { id: "demo", root, manifest: { activation: ["service:demo@1"], provides: ["demo@1"] } } as unknown as PluginCandidate;
  const user = { id: "user", root: join(root, "none"), manifest: { ...local, requires: ["demo@1?"] } } as unknown as PluginCandidate;
  const found = (config: object) => missingOfPlugins([runtime, user], { config: configOf(config), vendor: vendorPackages(root) });
  expect(await found({ models: { providers: { local: {} } } })).toMatchObject([{ plugin: "demo", path: "models.providers.local" }]);
  expect(await found({})).toEqual([]);
});
