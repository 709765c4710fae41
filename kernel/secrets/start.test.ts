import { expect, test } from "vitest";
import { rootSchema } from "../config/root-schema.ts";
import { missingStartSecret } from "./start.ts";

const missing = (path: string, config: object = {}, flags = {}) =>
  missingStartSecret(
    {
      config: rootSchema.parse(config),
      unresolved: [
        { path: "models.providers.a.apiKey", reason: "why not" },
        { path, reason: "why" },
      ],
    },
    flags,
  );
const auth = (value: object) => ({ gateway: { auth: value } });
const hooks = { hooks: { enabled: true, token: "x" } };

test.each([
  ["gateway.auth.token", {}, {}],
  ["gateway.auth.password", {}, {}],
  ["gateway.auth.token", auth({ mode: "token" }), {}],
  ["gateway.auth.password", auth({ mode: "password" }), {}],
  ["gateway.auth.password", auth({ mode: "token" }), { auth: "password" }],
  ["gateway.auth.token", auth({ mode: "token" }), { password: "p" }],
  ["gateway.auth.trustedProxy.allowUsers.0", {}, {}],
  ["gateway.auth.trustedProxy.userHeader", {}, {}],
  ["gateway.trustedProxies.0", {}, {}],
  ["hooks.token", hooks, {}],
  ["hooks.allowedAgentIds.0", hooks, {}],
  ["hooks.allowedSessionKeyPrefixes.1", hooks, {}],
  ["plugins.deny.0", {}, {}],
  ["tools.deny.2", {}, {}],
  ["agents.list.0.tools.deny.0", {}, {}],
])("no start without %s %j %j", (path, config, flags) => {
  expect(missing(path, config, flags)).toEqual({ path, reason: "why" });
});

test.each([
  ["models.providers.b.apiKey", {}, {}],
  ["gateway.auth.token", auth({ mode: "password" }), {}],
  ["gateway.auth.password", auth({ mode: "token" }), {}],
  ["gateway.auth.token", auth({ mode: "none" }), {}],
  ["gateway.auth.token", {}, { token: "t" }],
  ["gateway.auth.token", {}, { password: "p" }],
  ["gateway.auth.token", auth({ mode: "token" }), { token: "t" }],
  ["gateway.publicOrigin", {}, {}],
  ["tools.allow.0", {}, {}],
  ["plugins.entries.p.config.denylist", {}, {}],
  ["hooks.token", { hooks: { enabled: false } }, {}],
  ["hooks.mappings.0.messageTemplate", hooks, {}],
])("a start without %s %j %j", (path, config, flags) => {
  expect(missing(path, config, flags)).toBeUndefined();
});
