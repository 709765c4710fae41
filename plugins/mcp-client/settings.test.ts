import type { SvcConfig } from "svc/sdk";
import { expect, test } from "vitest";
import { isOffered, secretsOf, serverSettings } from "./settings.ts";

type Server = SvcConfig["mcp"]["servers"][string];

const common = { args: [], env: {}, headers: {}, tools: { deny: [] }, approval: "writes" as const, timeoutSeconds: 120, startSeconds: 30 };
const settingsOf = (server: Partial<Server>) =>
  serverSettings("x", { servers: { x: { ...common, ...server } as Server }, secret: (path) => `value of ${path}`, cwd: "/state" });

test("a program gets its secrets as environment, and the folder of the plugin to work in", () => {
  expect(settingsOf({ command: "srv", args: ["-v"], env: { KEY: "__SVC_REDACTED__" } })).toMatchObject({
    kind: "stdio",
    command: "srv",
    args: ["-v"],
    env: { KEY: "value of mcp.servers.x.env.KEY" },
    cwd: "/state",
    protocol: "legacy",
    timeoutMs: 120_000,
    startMs: 30_000,
  });
});

test("an address gets its secrets as headers, and is asked for the newer revision", () => {
  const settings = settingsOf({ url: "https://mcp.example/mcp", headers: { "x-key": "__SVC_REDACTED__" } });
  expect(settings).toMatchObject({ kind: "http", headers: { "x-key": "value of mcp.servers.x.headers.x-key" }, protocol: "auto" });
  expect(settingsOf({ url: "https://mcp.example/mcp", protocol: "legacy" }).protocol).toBe("legacy");
});

test("a client that was registered by hand has its name and, where it was given one, its secret", () => {
  const url = "https://mcp.example/mcp";
  expect(settingsOf({ url, oauth: { clientId: "svc-1", clientSecret: "__SVC_REDACTED__" } })).toMatchObject({
    oauth: { clientId: "svc-1", clientSecret: "value of mcp.servers.x.oauth.clientSecret" },
  });
  const servers = { x: { ...common, url, oauth: { clientId: "svc-1" } } as Server };
  const settings = serverSettings("x", { servers, secret: () => undefined, cwd: "/" });
  expect(settings).toMatchObject({ oauth: { clientId: "svc-1" } });
  expect(settingsOf({ url })).not.toHaveProperty("oauth");
  expect(secretsOf(settingsOf({ url, oauth: { clientId: "svc-1" } }))).toEqual([
    "value of mcp.servers.x.oauth.clientSecret",
    "of mcp.servers.x.oauth.clientSecret",
  ]);
});

test("secrets are the values of six characters and more, with and without the scheme before them", () => {
  const servers = { x: { ...common, url: "https://a.example", headers: { Authorization: "", short: "" } } as Server };
  const values: Record<string, string> = { "mcp.servers.x.headers.Authorization": "Bearer abcdef", "mcp.servers.x.headers.short": "abc" };
  expect(secretsOf(serverSettings("x", { servers, secret: (path) => values[path], cwd: "/" }))).toEqual(["Bearer abcdef", "abcdef"]);
});

test.each<[string, string[] | undefined, string[], boolean]>([
  ["read", undefined, [], true],
  ["read", ["read"], [], true],
  ["read", ["r*d", "x"], [], true],
  ["read", ["write"], [], false],
  ["read", [], [], false],
  ["read", ["*"], ["re*"], false],
  ["read", undefined, ["*a*"], false],
  ["read", undefined, ["reader"], true],
])("tool %s with allow %j and deny %j: %s", (tool, allow, deny, isThere) => {
  expect(isOffered(tool, { allow, deny })).toBe(isThere);
});
