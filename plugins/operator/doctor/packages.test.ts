import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PluginCandidate } from "svc/sdk";
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

const lazy = { activation: ["channel:talk"], contributes: { channels: ["talk"] } };

test.each([
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
])("the packages of %s", async (_, manifest, config, path, command) => {
  const candidate = { id: "demo", root, manifest } as unknown as PluginCandidate;
  const options = { config: parseSharedConfig(config), vendor: vendorPackages(root) };
  const found = path === undefined ? [] : [{ plugin: "demo", path, missing: ["dep"], command }];
  expect(await missingOfPlugins([candidate], options)).toEqual(found);
  const problem = { state: "disabled" as const, code: "not-enabled" as const, reason: "r" };
  expect(await missingOfPlugins([{ ...candidate, problem }], options)).toEqual([]);
});
