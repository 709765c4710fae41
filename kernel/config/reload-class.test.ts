import { describe, expect, test } from "vitest";
import { reloadClassOf } from "./reload-class.ts";

/** Columns R of the key tree and the table of actions, prefix by prefix. */
const table: Array<[path: string, reload: string, prefix: string]> = [
  ["gateway.port", "restart", "gateway"],
  ["gateway.bind", "restart", "gateway"],
  ["gateway.auth.mode", "restart", "gateway"],
  ["gateway.auth.token", "hot", "gateway.auth.token"],
  ["gateway.auth.password", "hot", "gateway.auth.password"],
  ["gateway.auth.rateLimit.windowMs", "hot", "gateway.auth.rateLimit"],
  ["gateway.auth.trustedProxy.userHeader", "hot", "gateway.auth.trustedProxy"],
  ["gateway.auth.allowTailscale", "hot", "gateway.auth.allowTailscale"],
  ["gateway.trustedProxies", "hot", "gateway.trustedProxies"],
  ["gateway.allowRealIpFallback", "hot", "gateway.allowRealIpFallback"],
  ["gateway.publicOrigin", "hot", "gateway.publicOrigin"],
  ["gateway.controlUi.allowedOrigins", "hot", "gateway.controlUi.allowedOrigins"],
  ["gateway.controlUi.enabled", "restart", "gateway"],
  ["gateway.controlUi.basePath", "restart", "gateway"],
  ["gateway.http.endpoints.models.enabled", "hot", "gateway.http"],
  ["gateway.tools.deny", "hot", "gateway.tools"],
  ["gateway.tls.certPath", "restart", "gateway"],
  ["gateway.tailscale.mode", "restart", "gateway"],
  ["gateway.remote.url", "none", "gateway.remote"],
  ["gateway.reload.mode", "none", "gateway.reload"],
  ["gateway.shutdown.drainMs", "none", "gateway.shutdown"],
  ["gateway.channelHealthCheckMinutes", "hot", "gateway.channelHealthCheckMinutes"],
  ["hooks.mappings", "hot", "hooks"],
  ["hooks.token", "hot", "hooks"],
  ["agents.list", "hot", "agents.list"],
  ["agents.list[id=ops]", "hot", "agents.list"],
  ["agents.list[id=ops].name", "hot", "agents.list"],
  ["agents.list[id=ops].heartbeat.every", "hot", "agents.list[id=ops].heartbeat"],
  ["agents.list[0].memorySearch.model", "hot", "agents.list[0].memorySearch"],
  ["agents.defaults.heartbeat.every", "hot", "agents.defaults.heartbeat"],
  ["agents.defaults.memorySearch.query.minScore", "hot", "agents.defaults.memorySearch"],
  ["agents.defaults.model", "hot", "agents.defaults.model"],
  ["agents.defaults.model.primary", "hot", "agents.defaults.model"],
  ['agents.defaults.models["a/b"].alias', "hot", "agents.defaults.models"],
  ["agents.defaults.workspace", "hot", "agents.defaults.workspace"],
  ["agents.defaults.timeoutSeconds", "none", "agents.defaults"],
  ["agents.defaults.tools.deny", "none", "agents.defaults"],
  ["memory.backend", "hot", "memory"],
  ['models.providers["my.vendor"].apiKey', "hot", "models"],
  ["session.scope", "none", "session"],
  ["messages.queue.mode", "none", "messages"],
  ["bindings", "none", "bindings"],
  ["tools.allow", "none", "tools"],
  ["commands.restart", "none", "commands"],
  ["meta.lastTouchedAt", "none", "meta"],
  ["cron.enabled", "hot", "cron"],
  ["logging.level", "hot", "logging"],
  ["diagnostics.enabled", "hot", "diagnostics"],
  ["diagnostics.otel.endpoint", "plugin", "diagnostics.otel"],
  ["diagnostics.prometheus.enabled", "plugin", "diagnostics.prometheus"],
  ["secrets.providers.vault.path", "hot", "secrets"],
  ["plugins.enabled", "restart", "plugins"],
  ["plugins.allow", "restart", "plugins"],
  ["plugins.slots.memory", "restart", "plugins"],
  ["plugins.load.paths", "restart", "plugins"],
  ["plugins.reload.watch", "none", "plugins.reload"],
  ["plugins.entries.irc.config.nick", "plugin", "plugins.entries.irc"],
  ["plugins.entries.irc", "plugin", "plugins.entries.irc"],
  ["channels.irc.nick", "channel", "channels.irc"],
  ["channels.irc.accounts.work.nick", "channel", "channels.irc.accounts.work"],
  ["channels.defaults.dmPolicy", "channel", "channels.defaults"],
  ["env.vars.A", "restart", "env"],
  ["nobody.knows.this", "restart", ""],
  ["gateway.nobody.knows.this", "restart", "gateway"],
];

describe("the longest prefix decides what a live change does", () => {
  test.each(table)("%s: %s by %j", (path, reload, prefix) => {
    expect(reloadClassOf(path)).toMatchObject({ reload, prefix });
  });

  test("and says so in words", () => {
    const actionOf = (path: string) => reloadClassOf(path).action;
    expect(actionOf("hooks.path")).toBe("rebuild the webhook ingress");
    expect(actionOf("gateway.auth.token")).toBe("close sockets that used the old secret");
    expect(actionOf("channels.defaults.dmPolicy")).toBe("restart all running channels, staggered");
    expect(actionOf("channels.irc.accounts.a")).toBe("restart that account");
    expect(actionOf("session.scope")).toBe("swap only");
    expect(actionOf("gateway.port")).toBe("restart the gateway");
  });
});

describe("the owner of what is replaced", () => {
  test.each([
    ["plugins.entries.irc.enabled", { plugin: "irc" }],
    ["diagnostics.otel.enabled", { plugin: "diagnostics-otel" }],
    ["diagnostics.prometheus.enabled", { plugin: "diagnostics-prometheus" }],
    ["channels.irc.nick", { channel: "irc" }],
    ["channels.irc.accounts.work.nick", { channel: "irc", account: "work" }],
    ["channels.irc.accounts", { channel: "irc" }],
  ])("%s: %j", (path, owner) => {
    const { plugin, channel, account } = reloadClassOf(path);
    expect({ plugin, channel, account }).toEqual({ plugin: undefined, channel: undefined, account: undefined, ...owner });
  });

  test.each(["gateway.port", "channels.defaults.dmPolicy", "plugins.allow"])("%s has none", (path) => {
    expect(Object.keys(reloadClassOf(path)).sort()).toEqual(["action", "prefix", "reload"]);
  });
});
