import { describe, expect, test } from "vitest";
import type { SvcConfigInput } from "../../sdk/config/root.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import { channelIssues, knownIdsOf, riskWarnings, unknownIdWarnings } from "./known-ids.ts";
import { rootSchema } from "./root-schema.ts";

const manifest = (id: string, more: Partial<Manifest> = {}): Manifest => ({ id, version: "1.0.0", svc: { api: "^1.0.0" }, ...more });

const manifests = [
  manifest("memory-core", { slot: "memory" }),
  manifest("channel-irc", { contributes: { channels: ["irc"] } }),
  manifest("channel-xmpp", { channelConfigs: { xmpp: { type: "object" } } }),
  manifest("hook-preset-ci", { contributes: { hookPresets: ["ci"] } }),
];

describe("a section of channels", () => {
  const issuesOf = (channels: Record<string, object>) =>
    channelIssues(rootSchema.parse({ channels }), { manifests, file: "svc.json", locate: () => ({ line: 3, column: 5 }) });

  test.each(["irc", "xmpp", "defaults"])("%s is known", (id) => {
    expect(issuesOf({ [id]: {} })).toEqual([]);
  });

  test("that no plugin claims is an error with the nearest one", () => {
    expect(issuesOf({ ircc: {} })).toEqual([
      {
        path: "channels.ircc",
        code: "unknown_key",
        message: 'unknown channel "ircc"',
        hint: 'did you mean "irc"?',
        file: "svc.json",
        line: 3,
        column: 5,
      },
    ]);
  });

  test("far from all others comes with the list of those", () => {
    expect(issuesOf({ matrix: {} })).toMatchObject([{ message: 'unknown channel "matrix"; known here: defaults, irc, xmpp' }]);
  });
});

describe("an id of a plugin that is not there", () => {
  const warningsOf = (input: SvcConfigInput) => unknownIdWarnings(rootSchema.parse(input), knownIdsOf(manifests));

  test("is a warning wherever it stands", () => {
    const warnings = warningsOf({
      plugins: { entries: { gone: {}, "channel-irc": {} }, allow: ["memory-core", "gone"], deny: ["away"] },
      hooks: { presets: ["ci", "gmail", "lost"] },
    });
    expect(warnings.map((w) => w.path)).toEqual([
      "plugins.entries.gone",
      "plugins.allow.1",
      "plugins.deny.0",
      "hooks.presets.1",
      "hooks.presets.2",
    ]);
    expect(warnings[0]?.message).toBe('plugin "gone" is not installed');
  });

  test("that is nearly one that is there says so", () => {
    expect(warningsOf({ plugins: { deny: ["channel-ircc"] } })[0]?.message).toBe(
      'plugin "channel-ircc" is not installed; did you mean "channel-irc"?',
    );
  });

  test.each([
    ["memory-core", []],
    ["none", []],
    ["gone", ["plugins.slots.memory"]],
    ["channel-irc", ["plugins.slots.memory"]],
  ])("in the memory slot: %s", (memory, paths) => {
    expect(warningsOf({ plugins: { slots: { memory } } }).map((w) => w.path)).toEqual(paths);
  });
});

describe("settings that deserve a second look", () => {
  const pathsOf = (hooks: NonNullable<SvcConfigInput["hooks"]>) => riskWarnings(rootSchema.parse({ hooks })).map((w) => w.path);
  const token = "t".repeat(24);

  test.each([
    ["a short token", { token: "t".repeat(23) }, "hooks.token"],
    ["session keys from outside", { token, allowRequestSessionKey: true }, "hooks.allowRequestSessionKey"],
    ["templated session keys", { token, mappings: [{ sessionKey: "hook:{{payload.id}}" }] }, "hooks.mappings.0.sessionKey"],
    [
      "payloads without a frame",
      { token, mappings: [{ allowUnsafeExternalContent: true }] },
      "hooks.mappings.0.allowUnsafeExternalContent",
    ],
    ["transforms in the gateway", { token, transforms: { isolation: "off" as const } }, "hooks.transforms.isolation"],
  ])("%s", (_, hooks, path) => {
    expect(pathsOf({ enabled: true, ...hooks })).toEqual([path]);
    expect(pathsOf({ enabled: false, ...hooks })).toEqual([]);
  });

  test("prefixes settle the two about session keys", () => {
    const hooks = { allowRequestSessionKey: true, allowedSessionKeyPrefixes: ["hook:"], mappings: [{ sessionKey: "hook:{{payload.id}}" }] };
    expect(pathsOf({ enabled: true, token, ...hooks })).toEqual([]);
  });

  test.each([
    ["pages of every site", { controlUi: { allowedOrigins: ["https://ui.example", "*"] } }, "gateway.controlUi.allowedOrigins"],
    [
      "a Host that is believed",
      { controlUi: { dangerouslyAllowHostHeaderOriginFallback: true } },
      "gateway.controlUi.dangerouslyAllowHostHeaderOriginFallback",
    ],
    ["proxies everywhere", { trustedProxies: ["10.0.0.2", "::/0"] }, "gateway.trustedProxies"],
  ])("%s", (_, gateway, path) => {
    expect(riskWarnings(rootSchema.parse({ gateway })).map((warning) => warning.path)).toEqual([path]);
    expect(riskWarnings(rootSchema.parse({ gateway: { trustedProxies: ["10.0.0.0/8"], controlUi: { allowedOrigins: [] } } }))).toEqual([]);
  });

  test("say no secret", () => {
    expect(JSON.stringify(riskWarnings(rootSchema.parse({ hooks: { enabled: true, token: "short-canary" } })))).not.toContain("canary");
  });
});
