import { describe, expect, test } from "vitest";
import type { SvcConfigInput } from "../../sdk/config/root.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import { pluginConfigIssues, secretPatterns } from "./plugin-config-issues.ts";
import { rootSchema } from "./root-schema.ts";

const demo: Manifest = {
  id: "demo",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  configSchema: { type: "object", properties: { size: { type: "integer" }, key: { type: "string" } }, additionalProperties: false },
  contributes: { channels: ["irc"] },
  channelConfigs: { irc: { type: "object", properties: { host: { type: "string" } }, additionalProperties: false } },
  secrets: [{ path: "key" }, { path: "channels.irc.accounts.*.pass" }],
  uiHints: { pin: { sensitive: true }, size: { label: "Size" } },
};
const bare: Manifest = { id: "bare", version: "1.0.0", svc: { api: "^1.0.0" } };
const judged = (input: SvcConfigInput) => ({
  path: "/s/svc.json",
  locate: () => ({ line: 1, column: 1 }),
  config: rootSchema.parse(input),
});
const issuesOf = async (after: SvcConfigInput, before?: SvcConfigInput) =>
  (await pluginConfigIssues([demo, bare], judged(after), before && rootSchema.parse(before))).map(({ path }) => path);
const entry = (config: Record<string, unknown>, more = {}) => ({ plugins: { entries: { demo: { config, ...more } } } });

describe("wrong is", () => {
  test.each([
    ["a value that does not fit the plugin's schema", entry({ size: "big" }), ["plugins.entries.demo.config"]],
    ["config for a plugin that takes none", { plugins: { entries: { bare: { config: { a: 1 } } } } }, ["plugins.entries.bare.config"]],
    ["a channel that nobody claims", { channels: { telepathy: {} } }, ["channels.telepathy"]],
    ["a key that the channel does not have", { channels: { irc: { hots: "x" } } }, ["channels.irc"]],
  ])("%s", async (_, config, paths) => expect(await issuesOf(config as SvcConfigInput)).toEqual(paths));

  test.each([
    ["what fits", entry({ size: 1 })],
    ["config of a plugin that is off", entry({ size: "big" }, { enabled: false })],
    ["config of a plugin that is not here", { plugins: { entries: { gone: { config: { a: 1 } } } } }],
    ["what every channel has", { channels: { irc: { enabled: true, host: "h" } } }],
  ])("not %s", async (_, config) => expect(await issuesOf(config as SvcConfigInput)).toEqual([]));
});

test("a text with a wrong unit is told before the plugin runs, with the words of the keyword", async () => {
  const keep = { amount: { unit: "ms", min: 1_000, max: 60_000 }, anyOf: [{ type: "integer" }, { type: "string" }] };
  const timed: Manifest = { ...bare, configSchema: { type: "object", properties: { keep }, additionalProperties: false } };
  const reasonsOf = async (value: unknown) => {
    const config = { plugins: { entries: { bare: { config: { keep: value } } } } };
    return (await pluginConfigIssues([timed], judged(config))).map(({ message }) => message);
  };
  const expected = 'at keep: expected a whole number of milliseconds or a text such as "30s" (1000 to 60000 milliseconds)';

  expect(await reasonsOf("30s")).toEqual([]);
  expect(await reasonsOf(1_000)).toEqual([]);
  for (const wrong of ["5 apples", "30d", 999, true]) expect(await reasonsOf(wrong), String(wrong)).toEqual([expected]);
});

test("what was wrong before does not keep another change from being written", async () => {
  const wrong = { ...entry({ size: "big" }), channels: { telepathy: {} } } as SvcConfigInput;
  expect(await issuesOf({ ...wrong, logging: { level: "warn" } }, wrong)).toEqual([]);
  expect(await issuesOf({ ...wrong, ...entry({ size: "bigger" }) }, wrong)).toEqual(["plugins.entries.demo.config"]);
});

test("secrets of plugins are named by absolute paths", () => {
  expect(secretPatterns([demo, bare])).toEqual([
    "plugins.entries.demo.config.key",
    "channels.irc.accounts.*.pass",
    "plugins.entries.demo.config.pin",
  ]);
});
