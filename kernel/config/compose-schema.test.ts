import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Manifest } from "../../sdk/types/manifest.ts";
import { composeConfigSchema, coreConfigSchema, ownChannelConfig, warmConfigSchema } from "./compose-schema.ts";
import { lookupSchema } from "./lookup-schema.ts";
import { rootSchema } from "./root-schema.ts";

const manifests: Manifest[] = [
  {
    id: "weather",
    version: "1.0.0",
    svc: { api: "^1.0.0" },
    configSchema: {
      type: "object",
      properties: {
        city: { type: "string", description: "Where" },
        apiKey: { type: "string" },
        login: { type: "object", sensitive: true, properties: { user: { type: "string", description: "Who" } } },
        units: { $ref: "#/$defs/units" },
      },
      required: ["city"],
      additionalProperties: false,
      $defs: { units: { type: "object", properties: { temperature: { enum: ["C", "F"] } }, additionalProperties: false } },
    },
    reload: { hotPrefixes: ["units"], restartPrefixes: ["units.temperature"], noopPrefixes: ["city"] },
    uiHints: { city: { label: "City", placeholder: "Berlin", help: "A town" }, "channels.sky.nick": { advanced: true } },
    secrets: [{ path: "plugins.entries.weather.config.apiKey", env: ["WEATHER_KEY"] }],
    channelConfigs: {
      sky: { type: "object", properties: { nick: { type: "string" }, dmPolicy: { enum: ["open"] } }, additionalProperties: false },
      open: { type: "object" },
    },
  },
  { id: "quiet", version: "1.0.0", svc: { api: "^1.0.0" } },
];

const composed = composeConfigSchema(manifests);
const lookup = (path: string) => lookupSchema(composed, path, manifests);
const takes = (value: unknown) => z.fromJSONSchema(composed.schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(value).success;

describe("the composed schema", () => {
  test("is JSON Schema 2020-12 of the file as written", () => {
    expect(composed.schema.$schema).toBe("https://json-schema.org/draft/2020-12/schema");
    expect(composed.schema.required).toBeUndefined();
    expect(JSON.parse(JSON.stringify(composed.schema))).toEqual(composed.schema);
  });

  test.each([
    ["an empty file", {}, true],
    ["amounts as text", { gateway: { shutdown: { drainMs: "20s" } } }, true],
    ["references to secrets", { gateway: { auth: { token: { source: "env", id: "A" } } } }, true],
    ["an unknown key", { gateway: { prot: 1 } }, false],
    ["an entry of a plugin that is not there", { plugins: { entries: { gone: { config: { any: 1 } } } } }, true],
    ["a plugin's own config", { plugins: { entries: { weather: { enabled: true, config: { city: "Oslo" } } } } }, true],
    ["a plugin's own config with an unknown key", { plugins: { entries: { weather: { config: { city: "Oslo", town: 1 } } } } }, false],
    ["a plugin without config", { plugins: { entries: { quiet: { config: { any: 1 } } } } }, false],
    ["a channel with its own and common keys", { channels: { sky: { nick: "svc", enabled: true } } }, true],
    ["a key that is not part of this release", { meta: { lastTouchedVersion: "1" } }, false],
    ["a value that is not part of this release", { models: { mode: "replace" } }, false],
    ["a channel with an unknown key", { channels: { sky: { nik: "svc" } } }, false],
    ["a channel whose plugin narrows a common key", { channels: { sky: { dmPolicy: "pairing" } } }, false],
    ["accounts with a channel's key of another type", { channels: { sky: { accounts: { work: { nick: 5 } } } } }, false],
    ["a channel whose plugin leaves it open", { channels: { open: { any: 1 } } }, true],
    ["accounts with the channel's keys", { channels: { sky: { accounts: { work: { nick: "svc", enabled: false } } } } }, true],
  ])("judges %s", (_, value, expected) => {
    expect(takes(value)).toBe(expected);
  });

  test("is the same when its sections were made one by one", async () => {
    await warmConfigSchema();
    const whole = z.toJSONSchema(rootSchema, { io: "input", unrepresentable: "any" });
    expect(Object.keys(coreConfigSchema().properties ?? {})).toEqual(Object.keys(whole.properties ?? {}));
    expect(coreConfigSchema()).toMatchObject({ $schema: whole.$schema, type: "object", additionalProperties: false });
    const plain = JSON.stringify(coreConfigSchema().properties?.bindings, (key, value) =>
      key === "notInRelease" || key === "not" ? undefined : value,
    );
    expect(JSON.parse(plain)).toEqual(whole.properties?.bindings);
  });

  test("leaves the input alone", () => {
    const before = structuredClone(manifests);
    composeConfigSchema(manifests);
    expect(manifests).toEqual(before);
  });
});

describe("hints for forms", () => {
  test("come from the key tree", () => {
    expect(composed.uiHints["gateway.auth.token"]).toMatchObject({ label: "Token", sensitive: true });
    expect(composed.uiHints["gateway.http.maxBodyBytes"]).toMatchObject({
      label: "Max body bytes",
      help: expect.stringContaining("request body"),
    });
    expect(composed.uiHints["models.providers.*.apiKey"]).toMatchObject({ sensitive: true });
    expect(composed.uiHints["gateway.auth.rateLimit.windowMs"]).toMatchObject({ advanced: true });
  });

  test("come from manifests, which win", () => {
    expect(composed.uiHints["plugins.entries.weather.config.city"]).toEqual({ label: "City", help: "A town", placeholder: "Berlin" });
    expect(composed.uiHints["plugins.entries.weather.config.apiKey"]).toMatchObject({ sensitive: true });
    expect(composed.uiHints["channels.sky.nick"]).toMatchObject({ advanced: true });
  });

  test("say nothing about what a reference to a secret is made of", () => {
    const below = (path: string) => Object.keys(composed.uiHints).filter((other) => other.startsWith(`${path}.`));
    expect(below("gateway.auth.token")).toEqual([]);
    expect(below("plugins.entries.weather.config.login")).toEqual([]);
  });
});

describe("a look-up", () => {
  test("of the root names the sections", () => {
    const root = lookup("");
    expect(root?.reloadKind).toBe("restart");
    expect(root?.children.map((child) => child.key)).toEqual(expect.arrayContaining(["gateway", "hooks", "agents", "channels", "env"]));
    expect(root?.schema.properties).toBeUndefined();
  });

  test("of a section names its keys with type and need", () => {
    const children = lookup("gateway")?.children ?? [];
    expect(children).toContainEqual({ key: "port", path: "gateway.port", type: "integer", required: false, hasChildren: false });
    expect(children).toContainEqual({ key: "auth", path: "gateway.auth", type: "object", required: false, hasChildren: true });
    expect(lookup("gateway.auth")?.children).toContainEqual({
      key: "token",
      path: "gateway.auth.token",
      type: "string | object",
      required: false,
      hasChildren: false,
    });
  });

  test("of a key gives its schema, class and hint", () => {
    expect(lookup("gateway.port")).toEqual({
      path: "gateway.port",
      schema: expect.objectContaining({ type: "integer", minimum: 1, maximum: 65_535, default: 18_789 }),
      reloadKind: "restart",
      hint: expect.objectContaining({ label: "Port" }),
      children: [],
    });
  });

  test.each([
    ["gateway.auth.token", "hot"],
    ["session.scope", "none"],
    ["channels.sky", "hot"],
    ["plugins.entries.weather", "hot"],
    ["plugins.entries.weather.config.city", "none"],
    ["plugins.entries.weather.config.units", "hot"],
    ["plugins.entries.weather.config.units.temperature", "restart"],
    ["plugins.entries.weather.config.apiKey", "hot"],
  ])("says of %s: %s", (path, kind) => {
    expect(lookup(path)?.reloadKind).toBe(kind);
  });

  test.each([
    ["agents.list.0.model", "primary"],
    ["agents.list[id=ops].memorySearch", "query"],
    ['models.providers["my.vendor"]', "baseUrl"],
    ["models.providers.*", "baseUrl"],
    ["plugins.entries.weather.config.units", "temperature"],
    ["plugins.entries.gone", "config"],
    ["channels.sky", "nick"],
    ["channels.unknown", "dmPolicy"],
    ["bindings.0.match", "channel"],
  ])("goes through lists, maps and references: %s has %s", (path, key) => {
    expect(lookup(path)?.children.map((child) => child.key)).toContain(key);
  });

  test("of a map offers any name", () => {
    expect(lookup("models.providers")?.children).toEqual([
      { key: "*", path: "models.providers.*", type: "object", required: false, hasChildren: true },
    ]);
  });

  test.each(["gateway.prot", "nobody", "gateway.port.deeper", "plugins.entries.weather.config.town", "gateway.constructor"])(
    "of %s finds nothing",
    (path) => {
      expect(lookup(path)).toBeUndefined();
    },
  );
});

describe("the body of a channel", () => {
  test("that the plugin's schema judges is what the plugin owns or names", () => {
    const own = { type: "object", properties: { nick: {}, dmPolicy: {} } };
    const body = { nick: "svc", dmPolicy: "open", groupPolicy: "open", accounts: {}, other: 1 };
    expect(ownChannelConfig(body, own)).toEqual({ nick: "svc", dmPolicy: "open", other: 1 });
  });
});

describe("definitions of a plugin's schema", () => {
  const tree = {
    type: "object",
    properties: { left: { $ref: "#" }, right: { $ref: "#" }, leaf: { $ref: "#/$defs/leaf" } },
    $defs: { leaf: { type: "object", properties: { text: { type: "string", description: "Here" }, next: { $ref: "#/$defs/leaf" } } } },
  };
  const both = composeConfigSchema(["one", "two"].map((id) => ({ id, version: "1.0.0", svc: { api: "^1.0.0" }, configSchema: tree })));

  test("move to the whole under names of their own", () => {
    expect(Object.keys(both.schema.$defs ?? {}).sort()).toEqual(["plugin.one", "plugin.one.leaf", "plugin.two", "plugin.two.leaf"]);
  });

  test("may refer to themselves", () => {
    expect(lookupSchema(both, "plugins.entries.one.config.left.right.leaf.next.text")?.schema.type).toBe("string");
    expect(both.uiHints["plugins.entries.one.config.leaf.text"]).toMatchObject({ help: "Here" });
  });
});
