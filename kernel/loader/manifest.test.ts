import { describe, expect, test } from "vitest";
import { parseManifest } from "./manifest.ts";

const good = { id: "demo", version: "1.0.0", svc: { api: "^1.0.0" } };
const full = {
  ...good,
  $schema: "./manifest.schema.json",
  version: "1.0.0-rc.1",
  entry: "src/index.ts",
  name: "Demo",
  description: "Shows every field",
  homepage: "https://demo.example/plugin",
  configSchema: { type: "object", properties: { prefix: { type: "string", default: "> " } }, additionalProperties: false },
  channelConfigs: { irc: { type: "object", properties: { host: { type: "string" } }, required: ["host"] } },
  contributes: { channels: ["irc"], rpc: ["demo.run"], cli: ["demo run"], events: ["demo"] },
  permissions: ["hooks.conversation", "exec"],
  dependencies: { store: ">=0.1.0 <2" },
  after: ["agents"],
  provides: ["demo@1"],
  requires: ["store@2", "memory@1?"],
  slot: "memory",
  activation: ["channel:irc", "rpc:demo.*", "cli:demo"],
  enabledByDefault: false,
  reload: { hotPrefixes: ["prefix"], restartPrefixes: [], noopPrefixes: ["note"], exclusive: true, restartOnServiceChange: ["store@2"] },
  secrets: [{ path: "channels.irc.accounts.*.password", env: ["IRC_PASSWORD"] }],
  uiHints: { prefix: { label: "Prefix", help: "Before each line", sensitive: false, placeholder: "> ", advanced: true } },
  cli: [{ name: "demo run", description: "Run it", module: "cli/run.ts" }],
  deprecated: "use another one",
};

test("three fields make a manifest", () => {
  expect(parseManifest(good)).toEqual({ ok: true, manifest: good });
});

test("every field of the table is kept as it stands", () => {
  expect(parseManifest(full)).toEqual({ ok: true, manifest: full });
});

describe("a manifest is refused with the field that is wrong when", () => {
  test.each([
    ["it is no object", [], "expected object"],
    ["it has no id", { ...good, id: undefined }, "id: "],
    ["its id has capitals", { ...good, id: "Demo" }, "id: expected 2 to 48 lower-case letters"],
    ["its id is a path", { ...good, id: "../x" }, "id: expected 2 to 48"],
    ["its id is one letter", { ...good, id: "a" }, "id: expected 2 to 48"],
    ["its id has 49 characters", { ...good, id: "a".repeat(49) }, "id: expected 2 to 48"],
    ["its id begins with a digit", { ...good, id: "1st" }, "id: expected 2 to 48"],
    ["its id is the gateway's own", { ...good, id: "kernel" }, "id: this id is reserved"],
    ["its version is none", { ...good, version: "1" }, 'version: expected a version such as "1.0.0", got "1"'],
    ["it does not say which API it needs", { id: "demo", version: "1.0.0" }, "svc: "],
    ["its API range is none", { ...good, svc: { api: "latest" } }, 'svc.api: expected a version range such as "^1.0.0", got "latest"'],
    ["it has a key nobody knows", { ...good, permision: [] }, 'permision: unknown key "permision"; did you mean "permissions"?'],
    ["it has a key nobody knows below", { ...good, svc: { api: "*", ap: 1 } }, 'svc.ap: unknown key "ap"; did you mean "api"?'],
    ["it has a key that is like none", { ...good, colour: 1 }, 'colour: unknown key "colour"; known here: $schema, id, version, svc'],
    ["it asks for an unknown permission", { ...good, permissions: ["root"] }, "permissions.0: expected one of hooks.conversation"],
    ["it contributes an unknown kind", { ...good, contributes: { tool: ["x"] } }, 'unknown key "tool"; did you mean "tools"?'],
    ["a command's module is absolute", { ...good, cli: [{ name: "x", description: "", module: "/x.ts" }] }, "cli.0.module: "],
    ["a command's module is on a drive", { ...good, cli: [{ name: "x", description: "", module: "C:\\x.ts" }] }, "cli.0.module: "],
    ["a command's module is outside", { ...good, cli: [{ name: "x", description: "", module: "a/../../x.ts" }] }, "cli.0.module: "],
    ["a command's name is no command", { ...good, cli: [{ name: "--x", description: "", module: "x.ts" }] }, "cli.0.name: "],
    ["its home page is a script", { ...good, homepage: "javascript:alert(1)" }, "homepage: "],
    [
      "its config is no object",
      { ...good, configSchema: { type: "string" } },
      'configSchema: expected a JSON Schema with "type": "object"',
    ],
    [
      "its config schema is none",
      { ...good, configSchema: { type: "object", properties: { a: { type: "strng" } } } },
      "configSchema: not a JSON",
    ],
    [
      "an amount has a unit that is none",
      { ...good, configSchema: { type: "object", properties: { a: { amount: { unit: "weeks" } } } } },
      'configSchema.a.amount: expected an object such as {"unit": "ms", "min": 0, "max": 60000}',
    ],
    ["a channel's schema is none", { ...good, channelConfigs: { irc: { type: "no" } } }, "channelConfigs.irc: not a JSON Schema"],
    ["it depends on no range", { ...good, dependencies: { store: "new" } }, "dependencies.store: expected a version range"],
    ["it depends on no plugin", { ...good, dependencies: { "../x": "*" } }, "dependencies.../x: "],
    ["it provides a service without version", { ...good, provides: ["store"] }, "provides.0: expected a service with its major version"],
    ["it may do without what it provides", { ...good, provides: ["store@2?"] }, "provides.0: "],
    ["it requires nonsense", { ...good, requires: ["store"] }, "requires.0: expected a service such as"],
    ["it wants an unknown slot", { ...good, slot: "disk" }, "slot: "],
    ["nothing activates it", { ...good, activation: [] }, "activation: "],
    ["an activation is of no kind", { ...good, activation: ["moon:full"] }, "activation.0: expected what loads it"],
    ["a reload rule is unknown", { ...good, reload: { hot: ["a"] } }, 'unknown key "hot"'],
    ["a secret has no path", { ...good, secrets: [{ path: "token" }] }, "secrets.0.path: expected a config path"],
    [
      "a secret's variable is none",
      { ...good, secrets: [{ path: "a.b", env: ["A B"] }] },
      "secrets.0.env.0: expected the name of an environ",
    ],
    ["a hint is unknown", { ...good, uiHints: { a: { lable: "x" } } }, 'uiHints.a.lable: unknown key "lable"; did you mean "label"?'],
    ["its deprecation says nothing", { ...good, deprecated: "" }, "deprecated: "],
  ])("%s", (_, value, reason) => {
    expect(parseManifest(value)).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  });
});
