import { REDACTED_VALUE } from "svc/sdk/internal";
import { expect, test } from "vitest";
import { withAgents } from "./import-plan.ts";
import { fitConfig, mergeConfig } from "./merge-config.ts";
import { translateConfig } from "./translate-config.ts";

const channels = {
  telegram: { properties: { token: {}, allowFrom: {}, accounts: { additionalProperties: { properties: { token: {} } } } } },
  signal: { properties: { host: {}, port: {}, dmPolicy: {} } },
};
const translated = (source: Record<string, unknown>) => translateConfig(source, { channels });
const reasons = (leftOut: ReadonlyArray<{ path: string; reason: string }>) =>
  Object.fromEntries(leftOut.map(({ path, reason }) => [path, reason]));

test("names that differ are translated, and channels come switched off", () => {
  const { config, leftOut } = translated({
    channels: {
      telegram: { botToken: "t", allowFrom: [1], enabled: true, accounts: { b: { botToken: "u", proxy: "p" } }, streamMode: "x" },
      signal: { httpHost: "h", httpPort: 1, dm: { policy: "open" } },
      pigeon: {},
    },
    bindings: [{ agentId: "a", match: { channel: "telegram", guildId: "g", peer: { kind: "dm", id: "1" } } }],
    session: { idleMinutes: 9, resetByType: { dm: { mode: "idle" } } },
    env: { KEY: "v", vars: { OTHER: "w" }, COUNT: 3 },
  });

  expect(config).toEqual({
    channels: {
      telegram: { token: "t", allowFrom: [1], accounts: { b: { token: "u" } }, enabled: false },
      signal: { host: "h", port: 1, dmPolicy: "open", enabled: false },
    },
    bindings: [{ agentId: "a", match: { channel: "telegram", teamId: "g", peer: { kind: "direct", id: "1" } } }],
    session: { reset: { mode: "idle", idleMinutes: 9 }, resetByType: { direct: { mode: "idle" } } },
    env: { vars: { KEY: "v", OTHER: "w" } },
  });
  expect(Object.keys(reasons(leftOut)).sort()).toEqual([
    "config:channels.pigeon",
    "config:channels.telegram.accounts.b.proxy",
    "config:channels.telegram.enabled",
    "config:channels.telegram.streamMode",
    "config:env.COUNT",
  ]);
});

test("sections without a counterpart, workspaces elsewhere and included files are left out by name", () => {
  const { config, leftOut } = translated({
    gateway: { auth: { token: "hush-0001" } },
    logging: { level: "info", file: "/var/log/other.log" },
    wizard: {},
    agents: { defaults: { workspace: "~/w" }, list: [{ id: "A", agentDir: "/x" }] },
    models: { providers: { $include: "../../etc/passwd" }, key: REDACTED_VALUE },
    tools: JSON.parse('{"__proto__": {"allow": ["x"]}}'),
  });

  expect(config).toEqual({ agents: { defaults: {}, list: [{ id: "a" }] }, logging: { level: "info" }, models: {}, tools: {} });
  expect(Object.keys(reasons(leftOut)).sort()).toEqual([
    "config:agents.defaults.workspace",
    "config:agents.list[0].agentDir",
    "config:gateway",
    "config:logging.file",
    "config:models.key",
    "config:models.providers",
    "config:tools.__proto__",
    "config:wizard",
  ]);
  expect(JSON.stringify(leftOut)).not.toContain("hush-0001");
});

test("a value that is set stays, members of lists are joined by id, and a second merge adds nothing", () => {
  const present = {
    agents: { list: [{ id: "main", default: true, name: "Own" }] },
    channels: { irc: { enabled: true } },
    session: { dmScope: "main" },
  };
  const wanted = {
    agents: {
      list: [
        { id: "main", name: "Other", skipBootstrap: true },
        { id: "ops", default: true },
      ],
    },
    channels: { irc: { enabled: false } },
    session: { dmScope: "per-peer" },
  };

  const { config, leftOut } = mergeConfig(present, wanted);

  expect(config).toEqual({
    agents: { list: [{ id: "main", default: true, name: "Own", skipBootstrap: true }, { id: "ops" }] },
    channels: { irc: { enabled: true } },
    session: { dmScope: "main" },
  });
  expect(Object.keys(reasons(leftOut))).toEqual([
    "config:agents.list[0].name",
    "config:agents.list[id=ops].default",
    "config:session.dmScope",
  ]);
  expect(mergeConfig(config, wanted).config).toEqual(config);
});

test("additions that the checks refuse go, later members of a list first; a fault of what is here takes nothing over", async () => {
  const present = { a: 1 };
  const merged = mergeConfig(present, { list: [{ bad: 1 }, { x: 1, bad: 2 }, 7, 8], b: 2 });
  const check = async (config: Record<string, unknown>) => {
    const list = config.list as unknown[];
    const keys = list.flatMap((item, i) => (typeof item === "object" && item && "bad" in item ? [`list.${i}.bad`] : []));
    const numbers = list.flatMap((item, i) => (typeof item === "number" ? [`list.${i}`] : []));
    return [...keys, ...numbers].map((path) => ({ path, message: "no" }));
  };

  const fitted = await fitConfig(present, merged, check);

  expect(fitted.config).toEqual({ a: 1, list: [{}, { x: 1 }], b: 2 });
  expect(fitted.leftOut.map(({ path }) => path)).toEqual(["config:list.3", "config:list.2", "config:list.1.bad", "config:list.0.bad"]);
  const refused = await fitConfig(present, merged, async () => [{ path: "a", message: "no" }]);
  expect(refused).toEqual({ config: present, leftOut: [{ path: "config:a", reason: "nothing of the config was taken over: no" }] });
});

test("agents that only have conversations get an entry, and the implicit agent keeps its place", () => {
  const listOf = (wanted: object, present: object, ids: string[]) =>
    (withAgents(wanted as Record<string, unknown>, present as Record<string, unknown>, ids).agents as { list?: unknown[] } | undefined)
      ?.list;
  const of = (...ids: string[]) => ({ agents: { list: ids.map((id) => ({ id })) } });

  expect(listOf({}, {}, ["main"])).toBeUndefined();
  expect(listOf({}, {}, ["ops", "main"])).toEqual([{ id: "main" }, { id: "ops" }]);
  expect(listOf(of("ops"), {}, ["ops"])).toEqual([{ id: "ops" }, { id: "main" }]);
  expect(listOf({}, of("own"), ["ops", "own"])).toEqual([{ id: "ops" }]);
});
