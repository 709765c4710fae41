import { describe, expect, test } from "vitest";
import type { SvcConfigInput } from "../../sdk/config/root.ts";
import { crossFieldIssues, crossFieldIssuesBeside } from "./cross-field.ts";
import type { Locate } from "./place.ts";
import { rootSchema } from "./root-schema.ts";

const nowhere: Locate = () => ({ line: 1, column: 1 });
type Env = Readonly<Record<string, string | undefined>>;

const conflictsOf = (input: unknown, env: Env = {}) => crossFieldIssues(rootSchema.parse(input), "svc.json", nowhere, { env });
const brokenAt = (input: unknown, env?: Env) => conflictsOf(input, env).map((issue) => issue.path);

type Case = [rule: string, kept: SvcConfigInput, broken: SvcConfigInput, path: string];

const vision = { provider: "gemini", model: "gemini-embedding-2-preview", multimodal: { enabled: true } };
const proxied = { auth: { mode: "trusted-proxy" as const, trustedProxy: { userHeader: "X-User" } }, trustedProxies: ["10.0.0.2"] };
const hooks = { enabled: true, token: "tok-5550123" };

const cases: Case[] = [
  [
    "two secrets need a mode",
    { gateway: { auth: { mode: "token", token: "a", password: "b" } } },
    { gateway: { auth: { token: "a", password: "b" } } },
    "gateway.auth",
  ],
  ["trusted-proxy needs its proxies", { gateway: proxied }, { gateway: { ...proxied, trustedProxies: [] } }, "gateway.auth.mode"],
  [
    "trusted-proxy needs the user's header",
    { gateway: proxied },
    { gateway: { ...proxied, auth: { mode: "trusted-proxy" } } },
    "gateway.auth.mode",
  ],
  [
    "trusted-proxy takes no token",
    { gateway: proxied },
    { gateway: { ...proxied, auth: { ...proxied.auth, token: "a" } } },
    "gateway.auth.token",
  ],
  [
    "bind custom needs its address",
    { gateway: { bind: "custom", customBindHost: "10.0.0.7" } },
    { gateway: { bind: "custom" } },
    "gateway.bind",
  ],
  [
    "tailscale needs its plugin",
    { gateway: { tailscale: { mode: "serve" } }, plugins: { allow: ["tailscale"] } },
    { gateway: { tailscale: { mode: "serve" } }, plugins: { allow: ["store"] } },
    "gateway.tailscale.mode",
  ],
  [
    "tailscale needs its plugin switched on",
    { gateway: { tailscale: { mode: "off" } }, plugins: { entries: { tailscale: { enabled: false } } } },
    { gateway: { tailscale: { mode: "serve" } }, plugins: { entries: { tailscale: { enabled: false } } } },
    "gateway.tailscale.mode",
  ],
  [
    "tailscale needs bind loopback",
    { gateway: { bind: "loopback", tailscale: { mode: "serve" } } },
    { gateway: { bind: "lan", tailscale: { mode: "serve" } } },
    "gateway.tailscale.mode",
  ],
  [
    "funnel needs a password",
    { gateway: { auth: { mode: "password" }, tailscale: { mode: "funnel" } } },
    { gateway: { auth: { mode: "token" }, tailscale: { mode: "funnel" } } },
    "gateway.tailscale.mode",
  ],
  [
    "a certificate needs its key",
    { gateway: { tls: { certPath: "c", keyPath: "k" } } },
    { gateway: { tls: { certPath: "c" } } },
    "gateway.tls.certPath",
  ],
  [
    "TLS needs a certificate",
    { gateway: { tls: { enabled: true, certPath: "c", keyPath: "k" } } },
    { gateway: { tls: { enabled: true } } },
    "gateway.tls.enabled",
  ],
  ["a key needs its certificate", { gateway: {} }, { gateway: { tls: { keyPath: "k" } } }, "gateway.tls.keyPath"],
  [
    "silence is no shorter than the check interval",
    { gateway: { channelHealthCheckMinutes: 30, channelStaleEventThresholdMinutes: 30 } },
    { gateway: { channelHealthCheckMinutes: 31, channelStaleEventThresholdMinutes: 30 } },
    "gateway.channelStaleEventThresholdMinutes",
  ],
  ["hooks need a token", { hooks }, { hooks: { enabled: true } }, "hooks.token"],
  ["a blank hook token is none", { hooks }, { hooks: { enabled: true, token: "  " } }, "hooks.token"],
  [
    "hooks do not stand where the API does",
    { hooks: { ...hooks, path: "/v1-hooks" } },
    { hooks: { ...hooks, path: "/v1/hooks/" } },
    "hooks.path",
  ],
  ["hooks do not stand around a probe", { hooks: { ...hooks, path: "/in" } }, { hooks: { ...hooks, path: "/ready" } }, "hooks.path"],
  [
    "hooks and the page have paths of their own",
    { hooks, gateway: { controlUi: { basePath: "/ui" } } },
    { hooks: { ...hooks, path: "/ui" }, gateway: { controlUi: { basePath: "/ui" } } },
    "hooks.path",
  ],
  [
    "sessions of hooks are not those of the gateway's own runs",
    { hooks: { defaultSessionKey: "hook:cron:x" } },
    { hooks: { defaultSessionKey: "agent:main:Cron:x" } },
    "hooks.defaultSessionKey",
  ],
  ["hooks do not own every path", { hooks: { path: "/h" } }, { hooks: { path: "/" } }, "hooks.path"],
  [
    "the hook token is not the gateway's token",
    { hooks, gateway: { auth: { token: "another" } } },
    { hooks, gateway: { auth: { token: hooks.token } } },
    "hooks.token",
  ],
  [
    "the hook token is not the gateway's password",
    { hooks, gateway: { auth: { password: "another" } } },
    { hooks, gateway: { auth: { password: hooks.token } } },
    "hooks.token",
  ],
  [
    "the default session key is an allowed one",
    { hooks: { defaultSessionKey: "Hook:Main", allowedSessionKeyPrefixes: [" hook: "] } },
    { hooks: { defaultSessionKey: "main", allowedSessionKeyPrefixes: ["hook:"] } },
    "hooks.defaultSessionKey",
  ],
  [
    "fresh session keys are allowed ones",
    { hooks: { allowedSessionKeyPrefixes: ["orders:", "hook:"] } },
    { hooks: { allowedSessionKeyPrefixes: ["orders:"] } },
    "hooks.allowedSessionKeyPrefixes",
  ],
  [
    "only blank prefixes limit nothing",
    { hooks: { allowedSessionKeyPrefixes: ["", " "] } },
    { hooks: { allowedSessionKeyPrefixes: ["", "a:"] } },
    "hooks.allowedSessionKeyPrefixes",
  ],
  [
    "a templated session key begins with text",
    { hooks: { mappings: [{ sessionKey: "hook:{{payload.id}}" }] } },
    { hooks: { mappings: [{ sessionKey: " {{payload.key}}" }] } },
    "hooks.mappings.0.sessionKey",
  ],
  [
    "or prefixes are set",
    { hooks: { allowedSessionKeyPrefixes: ["hook:"], mappings: [{ sessionKey: "{{payload.key}}" }] } },
    { hooks: { mappings: [{ sessionKey: "{{payload.key}}" }] } },
    "hooks.mappings.0.sessionKey",
  ],
  [
    "signatures need an exact path",
    { hooks: { mappings: [{ match: { path: "gh" }, verify: { provider: "github", secret: "s" } }] } },
    { hooks: { mappings: [{ match: { source: "gh" }, verify: { provider: "github", secret: "s" } }] } },
    "hooks.mappings.0.verify",
  ],
  [
    "one path has one sender",
    { hooks: { mappings: [{ match: { path: "a" }, verify: { provider: "slack", secret: "s" } }, { match: { path: "a" } }] } },
    {
      hooks: {
        mappings: [
          { match: { path: "a" }, verify: { provider: "slack", secret: "s" } },
          { match: { path: "a" }, verify: { provider: "github", secret: "s" } },
        ],
      },
    },
    "hooks.mappings.1.verify",
  ],
  [
    "signatures need a key",
    { hooks: { mappings: [{ match: { path: "a" }, verify: { provider: "stripe", secrets: ["new", "old"] } }] } },
    { hooks: { mappings: [{ match: { path: "a" }, verify: { provider: "stripe" } }] } },
    "hooks.mappings.0.verify",
  ],
  [
    "one form of keys, not both",
    { hooks: { mappings: [{ match: { path: "a" }, verify: { provider: "stripe", secret: "a" } }] } },
    { hooks: { mappings: [{ match: { path: "a" }, verify: { provider: "stripe", secret: "a", secrets: ["b"] } }] } },
    "hooks.mappings.0.verify",
  ],
  [
    "plain signatures need their header",
    { hooks: { mappings: [{ match: { path: "a" }, verify: { provider: "hmac", secret: "s", header: "X-Sig" } }] } },
    { hooks: { mappings: [{ match: { path: "a" }, verify: { provider: "hmac", secret: "s" } }] } },
    "hooks.mappings.0.verify",
  ],
  [
    "other schemes have headers of their own",
    { hooks: { mappings: [{ match: { path: "a" }, verify: { provider: "github", secret: "s" } }] } },
    { hooks: { mappings: [{ match: { path: "a" }, verify: { provider: "github", secret: "s", header: "X-Sig" } }] } },
    "hooks.mappings.0.verify.header",
  ],
  [
    "multimodal needs the model for it",
    { agents: { defaults: { memorySearch: vision } } },
    { agents: { defaults: { memorySearch: { ...vision, model: "gemini-embedding-001" } } } },
    "agents.defaults.memorySearch.multimodal.enabled",
  ],
  [
    "multimodal needs the vendor for it",
    { agents: { defaults: { memorySearch: { ...vision, model: "google/gemini-embedding-2" } } } },
    { agents: { defaults: { memorySearch: { ...vision, provider: "openai" } } } },
    "agents.defaults.memorySearch.multimodal.enabled",
  ],
  [
    "multimodal names its vendor: detection would send the model's name to whoever has a key",
    { agents: { defaults: { memorySearch: vision } } },
    { agents: { defaults: { memorySearch: { ...vision, provider: undefined } } } },
    "agents.defaults.memorySearch.multimodal.enabled",
  ],
  [
    "multimodal of an agent names its vendor too",
    { agents: { list: [{ id: "a", memorySearch: vision }] } },
    { agents: { list: [{ id: "a", memorySearch: { ...vision, provider: "auto" } }] } },
    "agents.list.0.memorySearch.multimodal.enabled",
  ],
  [
    "multimodal without any kind of media is off",
    { agents: { defaults: { memorySearch: { ...vision, provider: "openai", multimodal: { enabled: true, modalities: [] } } } } },
    { agents: { defaults: { memorySearch: { ...vision, provider: "openai", multimodal: { enabled: true, modalities: ["image"] } } } } },
    "agents.defaults.memorySearch.multimodal.enabled",
  ],
  [
    "an agent that names a kind switches it on",
    {
      agents: {
        defaults: { memorySearch: { provider: "openai", multimodal: { enabled: true, modalities: [] } } },
        list: [{ id: "a", memorySearch: { multimodal: { modalities: [] } } }],
      },
    },
    {
      agents: {
        defaults: { memorySearch: { provider: "openai", multimodal: { enabled: true, modalities: [] } } },
        list: [{ id: "a", memorySearch: { multimodal: { modalities: ["audio"] } } }],
      },
    },
    "agents.list.0.memorySearch.multimodal.enabled",
  ],
  [
    "multimodal has no fallback",
    { agents: { defaults: { memorySearch: { ...vision, fallback: "none" } } } },
    { agents: { defaults: { memorySearch: { ...vision, fallback: "openai" } } } },
    "agents.defaults.memorySearch.multimodal.enabled",
  ],
  [
    "an agent that changes the model keeps the rule",
    { agents: { defaults: { memorySearch: vision }, list: [{ id: "a", memorySearch: { limits: { maxResults: 3 } } }] } },
    { agents: { defaults: { memorySearch: vision }, list: [{ id: "a", memorySearch: { model: "other" } }] } },
    "agents.list.0.memorySearch.multimodal.enabled",
  ],
  [
    "the second generation of gemini has three lengths",
    {
      agents: { defaults: { memorySearch: { provider: "gemini", model: "models/gemini-embedding-2-preview", outputDimensionality: 768 } } },
    },
    {
      agents: { defaults: { memorySearch: { provider: "gemini", model: "models/gemini-embedding-2-preview", outputDimensionality: 512 } } },
    },
    "agents.defaults.memorySearch.outputDimensionality",
  ],
  [
    "the model that bedrock uses unasked has three lengths",
    { agents: { defaults: { memorySearch: { provider: "bedrock", outputDimensionality: 256 } } } },
    { agents: { defaults: { memorySearch: { provider: "bedrock", outputDimensionality: 768 } } } },
    "agents.defaults.memorySearch.outputDimensionality",
  ],
  [
    "an agent's own length has to fit the model of the defaults",
    { agents: { defaults: { memorySearch: { provider: "bedrock" } }, list: [{ id: "a", memorySearch: { outputDimensionality: 512 } }] } },
    { agents: { defaults: { memorySearch: { provider: "bedrock" } }, list: [{ id: "a", memorySearch: { outputDimensionality: 513 } }] } },
    "agents.list.0.memorySearch.outputDimensionality",
  ],
  [
    "lengths of models that are not known here are left to their adapter",
    { agents: { defaults: { memorySearch: { provider: "openai", outputDimensionality: 7 } } } },
    { agents: { defaults: { memorySearch: { provider: "bedrock", model: "amazon.titan-embed-text-v2:0", outputDimensionality: 7 } } } },
    "agents.defaults.memorySearch.outputDimensionality",
  ],
  [
    "agent ids are unique",
    { agents: { list: [{ id: "a" }, { id: "b" }] } },
    { agents: { list: [{ id: "a" }, { id: "a" }] } },
    "agents.list.1.id",
  ],
  [
    "one agent is the default",
    {
      agents: {
        list: [
          { id: "a", default: true },
          { id: "b", default: false },
        ],
      },
    },
    {
      agents: {
        list: [
          { id: "a", default: true },
          { id: "b", default: true },
        ],
      },
    },
    "agents.list.1.default",
  ],
  [
    "clean-up goes below the disk budget",
    { session: { maintenance: { maxDiskBytes: "1gb", highWaterBytes: "1gb" } } },
    { session: { maintenance: { maxDiskBytes: "1gb", highWaterBytes: "1001mb" } } },
    "session.maintenance.highWaterBytes",
  ],
  [
    "a channel open to all says so twice",
    { channels: { irc: { dmPolicy: "open", allowFrom: ["*"] } } },
    { channels: { irc: { dmPolicy: "open", allowFrom: ["alice"] } } },
    "channels.irc.dmPolicy",
  ],
  [
    "so does one that is open by default",
    { channels: { defaults: { dmPolicy: "open" }, irc: { allowFrom: ["*"] } } },
    { channels: { defaults: { dmPolicy: "open" }, irc: {} } },
    "channels.irc.dmPolicy",
  ],
  [
    "and each account",
    { channels: { irc: { allowFrom: ["*"], accounts: { work: { dmPolicy: "open" } } } } },
    { channels: { irc: { allowFrom: ["*"], accounts: { work: { dmPolicy: "open", allowFrom: [] } } } } },
    "channels.irc.accounts.work.dmPolicy",
  ],
  [
    "an MCP server is a program or an address",
    { mcp: { servers: { a: { command: "srv", args: ["-v"], env: { K: "v" } }, b: { url: "https://a.example", headers: { k: "v" } } } } },
    { mcp: { servers: { a: {} } } },
    "mcp.servers.a.command",
  ],
  [
    "and not both",
    { mcp: { servers: { a: { command: "srv" } } } },
    { mcp: { servers: { a: { command: "srv", url: "https://a.example" } } } },
    "mcp.servers.a.url",
  ],
  [
    "a program has no headers",
    { mcp: { servers: { a: { command: "srv", headers: {} } } } },
    { mcp: { servers: { a: { command: "srv", headers: { k: "v" } } } } },
    "mcp.servers.a.headers",
  ],
  [
    "a program has no client of OAuth",
    { mcp: { servers: { a: { url: "https://a.example", oauth: { clientId: "c" } } } } },
    { mcp: { servers: { a: { command: "srv", oauth: { clientId: "c" } } } } },
    "mcp.servers.a.oauth",
  ],
  [
    "an address has no folder to work in",
    { mcp: { servers: { a: { url: "https://a.example" } } } },
    { mcp: { servers: { a: { url: "https://a.example", cwd: "/srv" } } } },
    "mcp.servers.a.cwd",
  ],
];

describe("rules between keys", () => {
  test.each(cases)("%s", (_, kept, broken, path) => {
    expect(brokenAt(kept)).toEqual([]);
    expect(conflictsOf(broken)).toMatchObject([{ path, code: "conflict", file: "svc.json", hint: expect.stringMatching(/./) }]);
  });

  test.each(["SVC_GATEWAY_TOKEN", "SVC_GATEWAY_PASSWORD"])("the hook token is not what %s says", (name) => {
    expect(brokenAt({ hooks }, { [name]: "another" })).toEqual([]);
    expect(brokenAt({ hooks }, { [name]: hooks.token })).toEqual(["hooks.token"]);
  });

  test("a secret that is only named counts as there, and is compared by its value", () => {
    const written = rootSchema.parse({
      hooks: { enabled: true, token: { source: "env", id: "HOOK" } },
      gateway: { auth: { token: "same" } },
    });
    const resolved = rootSchema.parse({ hooks: { enabled: true, token: "same" }, gateway: { auth: { token: "same" } } });
    expect(crossFieldIssues(written, "svc.json", nowhere)).toEqual([]);
    expect(crossFieldIssues(written, "svc.json", nowhere, { resolved })).toMatchObject([{ path: "hooks.token" }]);
  });

  test("no secret stands in what they say", () => {
    const all = cases.flatMap(([, , broken]) => conflictsOf(broken));
    expect(JSON.stringify(all)).not.toContain(hooks.token);
  });

  test("are told in the order of the file", () => {
    const locate: Locate = ([section]) => ({ line: section === "session" ? 2 : 9, column: 1 });
    const config = rootSchema.parse({
      gateway: { bind: "custom" },
      session: { maintenance: { maxDiskBytes: "1gb", highWaterBytes: "2gb" } },
    });
    expect(crossFieldIssues(config, "svc.json", locate).map((issue) => issue.path)).toEqual([
      "session.maintenance.highWaterBytes",
      "gateway.bind",
    ]);
  });
});

describe("beside sections that are wrong in themselves", () => {
  const told = (value: unknown) => crossFieldIssuesBeside(value, "svc.json", nowhere).map((issue) => issue.path);

  test("the rules of the others are told as well", () => {
    expect(told({ logging: { level: "loud" }, gateway: { bind: "custom" } })).toEqual(["gateway.bind"]);
  });

  test("those that need the wrong section are left out", () => {
    expect(told({ gateway: { port: -1, bind: "custom" }, hooks: { path: "/" } })).toEqual(["hooks.path"]);
    expect(told({ gateway: { port: -1, auth: { token: hooks.token } }, hooks })).toEqual([]);
  });

  test.each([[[]], ["text"], [null]])("a tree that is no object has none: %j", (value) => {
    expect(told(value)).toEqual([]);
  });
});
