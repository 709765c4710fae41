import { expect, test } from "vitest";
import type { ManifestReload } from "../../sdk/types/manifest.ts";
import { entryChange, type PluginEntry } from "./entry-change.ts";

const reload: ManifestReload = { noopPrefixes: ["level"], restartPrefixes: ["port"], hotPrefixes: ["level.deep"] };

test.each<[string, PluginEntry, PluginEntry, ReturnType<typeof entryChange>]>([
  ["nothing", { config: { a: 1 } }, { config: { a: 1 } }, "none"],
  ["no config and an empty one", {}, { config: {} }, "none"],
  ["its config", { config: { a: 1 } }, { config: { a: 2 } }, "config"],
  ["its first config", {}, { config: { a: 1 } }, "config"],
  ["what the manifest calls no matter", {}, { config: { level: "x" } }, "none"],
  ["what is hot below that", {}, { config: { level: { deep: 1 } } }, "config"],
  ["what needs a restart, among others", {}, { config: { port: 1, a: 1 } }, "restart"],
  ["its grants", {}, { grants: ["net"] }, "replace"],
  ["its variables", { env: { A: "1" } }, { env: { A: "2" } }, "replace"],
  ["its isolation", {}, { isolation: "worker" }, "replace"],
  ["its limits and hooks, which are read at use", {}, { limits: { stopTimeoutMs: 100 }, hooks: { timeoutMs: 5 } } as PluginEntry, "none"],
])("a change of %s asks for what it needs", (_, prev, next, expected) => {
  expect(entryChange("demo", prev, next, reload)).toBe(expected);
});
