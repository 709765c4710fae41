import { expect, test } from "vitest";
import { isActiveSecret, secretOwner } from "./owner.ts";

const tree = { agents: { list: [{ id: "ops" }, {}] } };

test.each([
  ["gateway.auth.token", "gateway.auth"],
  ["gateway.auth.password", "gateway.auth"],
  ["gateway.remote.token", "gateway.remote"],
  ["hooks.token", "hooks.token"],
  ["hooks.mappings.0.verify.secret", "hooks"],
  ["models.providers.acme.apiKey", "models.providers.acme"],
  ["models.providers.acme.headers.X-Key", "models.providers.acme"],
  ["channels.irc.password", "channels.irc"],
  ["channels.irc.accounts.work.password", "channels.irc.accounts.work"],
  ["plugins.entries.weather.config.keys.0", "plugins.entries.weather"],
  ["agents.defaults.memorySearch.remote.apiKey", "agents.defaults.memorySearch"],
  ["agents.list.0.memorySearch.remote.apiKey", "agents.list[id=ops].memorySearch"],
  ["agents.list.1.memorySearch.remote.apiKey", "agents.list[1].memorySearch"],
  ["diagnostics.otel.headers.X", "diagnostics.otel"],
])("the secret at %s is needed by %s", (path, owner) => {
  expect(secretOwner(parts(path), tree)).toBe(owner);
});

test.each([
  ["of a plugin", "plugins.entries.p.config.key", {}, true],
  ["of a plugin that is switched on", "plugins.entries.p.config.key", { plugins: { entries: { p: { enabled: true } } } }, true],
  ["of a plugin that is switched off", "plugins.entries.p.config.key", { plugins: { entries: { p: { enabled: false } } } }, false],
  ["of a plugin that is denied", "plugins.entries.p.config.key", { plugins: { deny: ["p"] } }, false],
  ["of a plugin while there are none", "plugins.entries.p.config.key", { plugins: { enabled: false } }, false],
  ["of a channel", "channels.irc.password", { channels: { irc: {} } }, true],
  ["of a channel that is switched off", "channels.irc.password", { channels: { irc: { enabled: false } } }, false],
  ["of an account of a channel that is switched off", "channels.irc.accounts.a.password", { channels: { irc: { enabled: false } } }, false],
  [
    "of an account that is switched off",
    "channels.irc.accounts.a.password",
    { channels: { irc: { accounts: { a: { enabled: false } } } } },
    false,
  ],
  ["of the account beside it", "channels.irc.accounts.b.password", { channels: { irc: { accounts: { a: { enabled: false } } } } }, true],
  ["of hooks that are switched on", "hooks.token", { hooks: { enabled: true } }, true],
  ["of hooks", "hooks.token", {}, false],
  ["of a remote gateway, in a client", "gateway.remote.token", { gateway: { mode: "remote" } }, true],
  ["of a remote gateway, in a gateway", "gateway.remote.token", { gateway: { mode: "local" } }, false],
  ["of the mode in use", "gateway.auth.token", { gateway: { auth: { mode: "token" } } }, true],
  ["of the other mode", "gateway.auth.password", { gateway: { auth: { mode: "token" } } }, false],
  ["of an open gateway", "gateway.auth.token", { gateway: { auth: { mode: "none" } } }, false],
  ["while no mode is named", "gateway.auth.password", { gateway: { auth: {} } }, true],
  ["of a model provider", "models.providers.acme.apiKey", {}, true],
])("a secret %s is asked for: %s %j → %s", (_, path, config, isAsked) => {
  expect(isActiveSecret(parts(path), config)).toBe(isAsked);
});

function parts(path: string): Array<string | number> {
  return path.split(".").map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}
