import { describe, expect, test } from "vitest";
import { budgetedMethods } from "../../kernel/port/write-budget.ts";
import { connectParams, helloNumbers, limits, requestFrame } from "../../sdk/protocol/frames.ts";
import type { ProtocolMethod } from "../../sdk/protocol/methods.ts";
import { allEvents, allMethods } from "../tools/protocol-tables.ts";

/** The tables of the protocol, written out a second time: a change of the code's tables changes the contract with clients and must be meant. */

const words = (text: string) => text.trim().split(/\s+/);

describe("the scope of every method", () => {
  const table = {
    read: words(`health status system-presence last-heartbeat logs.tail gateway.identity.get config.get config.schema config.schema.lookup
      channels.status models.list agents.list agent.identity.get agents.files.list agents.files.get tools.catalog tools.effective plugins.list
      plugins.inspect plugins.uiDescriptors sessions.list sessions.describe sessions.preview sessions.resolve sessions.subscribe
      sessions.unsubscribe sessions.messages.subscribe sessions.messages.unsubscribe chat.history cron.list cron.status cron.get cron.runs
      memory.search memory.status doctor.memory.status doctor.memory.dreamDiary`),
    write: words(`agent agent.wait chat.send chat.abort send wake tools.invoke sessions.create sessions.send sessions.abort sessions.patch
      doctor.memory.backfillDreamDiary doctor.memory.resetDreamDiary doctor.memory.resetGroundedShortTerm
      doctor.memory.repairDreamingArtifacts doctor.memory.dedupeDreamDiary`),
    approvals: ["exec", "plugin"].flatMap((kind) =>
      ["request", "get", "list", "waitDecision", "resolve"].map((verb) => `${kind}.approval.${verb}`),
    ),
    pairing: words(`device.pair.list device.pair.approve device.pair.reject device.pair.remove device.pair.rename device.token.rotate
      device.token.revoke messaging.pairing.list messaging.pairing.approve messaging.pairing.reject`),
    admin: words(`config.set config.apply config.patch secrets.reload secrets.resolve set-heartbeats system-event chat.inject sessions.reset
      sessions.delete sessions.compact agents.create agents.update agents.delete agents.files.set channels.start channels.stop channels.logout
      cron.add cron.update cron.remove cron.run exec.approvals.get exec.approvals.set memory.index memory.prepare memory.reset plugins.setEnabled
      plugins.reload gateway.restart.request gateway.restart gateway.exitSafeMode`),
  };
  const named = new Map(Object.entries(table).flatMap(([scope, names]) => names.map((name) => [name, scope] as const)));
  const own = Object.entries(allMethods);

  test("is that of the contract", () => {
    const differing = own.filter(([name, { scope }]) => named.has(name) && named.get(name) !== scope);
    expect(differing.map(([name, { scope }]) => `${name}: ${scope}`)).toEqual([]);
    expect(own.filter(([name]) => named.has(name)).length).toBeGreaterThan(70);
  });

  test("of those the contract does not name is the weakest that their answer allows", () => {
    const added = own.filter(([name]) => !named.has(name)).map(([name, { scope }]) => `${name}: ${scope}`);
    const due =
      words(`audit.list audit.verify channels.login device.pair.invite device.pair.uninvite commands.list gateway.doctor mcp.status mcp.reconnect mcp.served mcp.login.start mcp.login.finish mcp.logout mcp.revoke memory.dreaming.status memory.dreaming.candidates memory.dreaming.preview
      memory.dreaming.run memory.dreaming.promote memory.dreaming.backfill memory.dreaming.repair memory.get memory.files.get memory.files.set plugins.dev plugins.install plugins.uninstall sessions.cleanup messaging.pairing.revoke messaging.queue.drop messaging.queue.list messaging.queue.retry
      webhooks.list webhooks.recent webhooks.show webhooks.retry webhooks.drop webhooks.test models.status models.test models.set usage.summary usage.sessions sessions.explain sessions.fork sessions.branches runs.replay`);
    const readable = words(
      "commands.list usage.summary usage.sessions mcp.status mcp.served memory.dreaming.status memory.dreaming.candidates memory.dreaming.preview memory.get memory.files.get models.status messaging.queue.list webhooks.list webhooks.recent webhooks.show sessions.explain sessions.branches",
    );
    const writable = words(
      "models.test runs.replay sessions.fork messaging.queue.drop messaging.queue.retry webhooks.retry webhooks.drop webhooks.test",
    );
    const scopeOf = (name: string) => {
      if (/^(messaging\.pairing\.revoke|device\.pair\.(un)?invite)$/.test(name)) return "pairing";
      return readable.includes(name) ? "read" : writable.includes(name) ? "write" : "admin";
    };
    expect(added.sort()).toEqual(due.map((name) => `${name}: ${scopeOf(name)}`).sort());
  });

  test("what belongs to parts that are not there is not half there", () => {
    const families = [/^doctor\.memory\.(?!status$)/];
    const present = families.filter((family) => own.some(([name]) => family.test(name)));
    expect(present).toEqual([]);
  });
});

describe("events", () => {
  const everybody = words("connect.challenge tick shutdown health heartbeat");
  const readers = words(
    "presence cron config.changed plugins.changed models.changed memory.progress agent chat sessions.changed session.message session.tool",
  );
  const rules: Array<[string, (name: string) => boolean]> = [
    ["none", (name) => everybody.includes(name)],
    ["read", (name) => readers.includes(name)],
    ["approvals", (name) => /^(exec|plugin)\.approval\./.test(name)],
    ["pairing", (name) => /^((device|node)\.pair|messaging\.pairing)\./.test(name)],
  ];

  test("reach those whom the contract names", () => {
    const told = Object.entries(allEvents).map(([name, { scope }]) => `${name}: ${scope}`);
    const due = Object.keys(allEvents).map((name) => `${name}: ${rules.find(([, is]) => is(name))?.[0] ?? "admin"}`);
    expect(told).toEqual(due);
  });

  test("reach nodes only after they subscribed, for health and heartbeat", () => {
    const asked = Object.entries(allEvents).filter(([, spec]) => "nodes" in spec);
    expect(asked.map(([name]) => name).sort()).toEqual(["health", "heartbeat"]);
  });

  test("are skipped for a slow client where the contract says so, and nowhere else", () => {
    const skipped = Object.entries(allEvents).filter(([, { droppable }]) => droppable);
    const due = (name: string) =>
      words(
        "tick presence health heartbeat cron sessions.changed config.changed plugins.changed models.changed memory.progress plugins.progress",
      ).includes(name) || /\.(requested|resolved)$/.test(name);
    expect(skipped.map(([name]) => name)).toEqual(Object.keys(allEvents).filter(due));
  });
});

test("the budget of writes holds for the methods of the contract", () => {
  const due =
    words(`config.set config.apply config.patch secrets.reload plugins.setEnabled plugins.reload plugins.install plugins.uninstall cron.add cron.update cron.remove
    cron.run agents.create agents.update agents.delete gateway.restart.request`);
  expect([...budgetedMethods].filter((name) => !due.includes(name))).toEqual([]);
  expect(due.filter((name) => Object.hasOwn(allMethods, name) && !budgetedMethods.has(name))).toEqual([]);
});

test("the numbers are those of section 19, and hello-ok tells them", () => {
  expect(limits).toMatchObject({
    ...{ handshakeTimeoutMs: 15_000, maxSilentPerAddress: 32, maxSilent: 256 },
    ...{ maxPreauthPayload: 64 * 1024, maxPayload: 25 * 1024 * 1024, maxBufferedBytes: 50 * 1024 * 1024 },
    ...{ tickIntervalMs: 30_000, pingIntervalMs: 25_000, healthCacheMs: 60_000 },
    ...{ maxInFlightPerConnection: 64, maxInFlight: 512, maxQueued: 256, maxBadFrames: 20, badFrameWindowMs: 60_000 },
    ...{ idempotencyTtlMs: 300_000, idempotencyMax: 1_000, presenceTtlMs: 300_000, presenceMax: 200, requestTimeoutMs: 30_000 },
    ...{ attachmentMaxBytes: 20 * 1024 * 1024, imageMaxBytes: 6 * 1024 * 1024 },
  });
  expect(helloNumbers).toEqual({
    policy: {
      maxPayload: 26_214_400,
      maxBufferedBytes: 52_428_800,
      tickIntervalMs: 30_000,
      attachments: { maxBytes: 20_971_520, maxImageBytes: 6_291_456 },
    },
    limits: { maxPreauthPayload: 65_536, handshakeTimeoutMs: 15_000, idempotencyTtlMs: 300_000, idempotencyMax: 1_000 },
  });
});

describe("a bound of a param holds at the limit and not one past it:", () => {
  const text = (length: number) => "x".repeat(length);
  const say = { sessionKey: "main", message: "m", idempotencyKey: "k" };
  const question = { title: "t", description: "d" };
  const rows: Array<[ProtocolMethod, string, Record<string, unknown>, taken: unknown[], refused: unknown[]]> = [
    ...(["agent", "chat.send"] as const).map((name): (typeof rows)[number] => [
      name,
      "idempotencyKey",
      name === "agent" ? { message: "m" } : say,
      [text(1), text(256)],
      ["", text(257)],
    ]),
    ["sessions.send", "idempotencyKey", { key: "main", message: "m" }, [text(1), text(256)], ["", text(257)]],
    ["sessions.create", "idempotencyKey", {}, [text(1), text(256)], ["", text(257)]],
    ["sessions.fork", "idempotencyKey", { key: "main", seq: 1 }, [text(1), text(256)], ["", text(257)]],
    ["sessions.fork", "seq", { key: "main" }, [1, Number.MAX_SAFE_INTEGER], [0, 1.5]],
    ["tools.invoke", "idempotencyKey", { name: "n" }, [text(1), text(256)], ["", text(257)]],
    ["plugins.setEnabled", "idempotencyKey", { pluginId: "p", enabled: true }, [text(1), text(256)], ["", text(257)]],
    ["agent", "message", { idempotencyKey: "k" }, ["m"], [""]],
    ["chat.send", "sessionKey", say, [text(512)], [text(513)]],
    ["chat.send", "message", say, [""], []],
    ["chat.send", "queueMode", say, ["steer", "followup", "collect", "interrupt"], ["later"]],
    ["chat.history", "limit", { sessionKey: "main" }, [1, 1_000], [0, 1_001, 1.5]],
    ["chat.inject", "label", { sessionKey: "main", message: "m" }, [text(100)], [text(101)]],
    ["sessions.patch", "label", { key: "main" }, [text(512), null], [text(513), " "]],
    ["sessions.preview", "maxChars", { keys: ["main"] }, [20], [19]],
    ["sessions.patch", "sendPolicy", { key: "main" }, ["allow", "deny", null], ["ask"]],
    ["sessions.patch", "groupActivation", { key: "main" }, ["mention", "always", null], ["never"]],
    ["sessions.list", "sortBy", {}, ["updatedAt", "lastInteractionAt"], ["key"]],
    ["sessions.reset", "reason", { key: "main" }, ["new", "reset"], ["old"]],
    ["sessions.explain", "newest", { sessionKey: "main" }, [1, 50], [0, 51]],
    ["sessions.explain", "maxChars", { runId: "r" }, [100, 1_000_000], [99, 1_000_001]],
    ["sessions.explain", "sessionKey", { runId: "r" }, [], ["main"]],
    ["runs.replay", "timeoutMs", { runId: "r", model: "m" }, [1_000, 1_800_000], [999, 1_800_001]],
    ["runs.replay", "model", { runId: "r" }, [text(256)], ["", text(257)]],
    ["config.patch", "replacePaths", { raw: "{}" }, [Array(256).fill("a")], [Array(257).fill("a")]],
    ["logs.tail", "limit", {}, [1, 5_000], [0, 5_001]],
    ["logs.tail", "maxBytes", {}, [1_000_000], [1_000_001]],
    ["plugins.reload", "plugins", {}, [[{ pluginId: "p" }], Array(64).fill({ pluginId: "p" })], [[], Array(65).fill({ pluginId: "p" })]],
    ["plugin.approval.request", "title", question, [text(80)], ["", text(81)]],
    ["plugin.approval.request", "description", question, [text(512)], ["", text(513)]],
    ["plugin.approval.request", "timeoutMs", question, [600_000], [0, 600_001]],
    ["plugin.approval.request", "severity", question, ["info", "warning", "critical"], ["fatal"]],
    ["models.list", "view", {}, ["default", "configured", "all"], ["some"]],
    ["wake", "mode", { text: "t" }, ["now", "next-heartbeat"], ["later"]],
    ["device.token.rotate", "role", { deviceId: "d" }, ["operator", "node"], ["king"]],
  ];
  const passes = (name: ProtocolMethod, params: unknown) => allMethods[name].params.safeParse(params).success;

  test.each(rows)("%s %s", (name, field, rest, taken, refused) => {
    expect(taken.map((value) => passes(name, { ...rest, [field]: value }))).toEqual(taken.map(() => true));
    expect(refused.map((value) => passes(name, { ...rest, [field]: value }))).toEqual(refused.map(() => false));
  });

  test("a request's traceparent", () => {
    const frame = (length: number) => ({ type: "req", id: "1", method: "health", traceparent: text(length) });
    expect([128, 129].map((length) => requestFrame.safeParse(frame(length)).success)).toEqual([true, false]);
  });
});

describe("connect", () => {
  const client = { id: "cli", version: "1", platform: "linux", mode: "cli" };
  const device = { id: "i", publicKey: "p", signature: "s", signedAt: 1, nonce: "n" };
  const passes = (change: object) => connectParams.safeParse({ minProtocol: 4, maxProtocol: 4, client, ...change }).success;
  const without = (of: object, key: string) => Object.fromEntries(Object.entries(of).filter(([name]) => name !== key));

  test("takes every client of the table in every mode, and no other", () => {
    const ids = words("cli gateway-client svc-control-ui webchat-ui webchat svc-tui node-host svc-probe fingerprint test");
    const modes = words("webchat cli ui backend node probe test");
    for (const id of ids) for (const mode of modes) expect(passes({ client: { ...client, id, mode } }), `${id} ${mode}`).toBe(true);
    expect([{ id: "CLI" }, { id: "" }, { mode: "tui" }].map((change) => passes({ client: { ...client, ...change } }))).toEqual(
      Array(3).fill(false),
    );
  });

  test.each(Object.keys(client))("needs client.%s, not empty", (key) => {
    expect(passes({ client: without(client, key) })).toBe(false);
    expect(passes({ client: { ...client, [key]: "" } })).toBe(false);
  });

  test("needs whole versions from 1", () => {
    expect([0, 1.5, "4", undefined].map((minProtocol) => passes({ minProtocol }))).toEqual(Array(4).fill(false));
    expect([0, 1.5, "4", undefined].map((maxProtocol) => passes({ maxProtocol }))).toEqual(Array(4).fill(false));
    expect(passes({ minProtocol: 1, maxProtocol: 9 })).toBe(true);
  });

  test.each(Object.keys(device))("needs device.%s wherever a device is told", (key) => {
    expect(passes({ device })).toBe(true);
    expect(passes({ device: without(device, key) })).toBe(false);
  });

  test("bounds buildId and timeZone", () => {
    const named = (key: string, length: number) => passes({ client: { ...client, [key]: "x".repeat(length) } });
    expect([named("buildId", 96), named("buildId", 97), named("timeZone", 64), named("timeZone", 65)]).toEqual([true, false, true, false]);
  });

  test("takes every optional field, and no stray one at any level", () => {
    const more = ["displayName", "deviceFamily", "modelIdentifier", "instanceId", "buildId", "timeZone"];
    const auth = { token: "t", password: "p", deviceToken: "d", bootstrapToken: "b" };
    const node = { commands: ["c"], permissions: { camera: true }, pathEnv: "/bin" };
    const all = {
      role: "node",
      scopes: ["operator.read"],
      caps: ["tool-events", "never heard of"],
      auth,
      device,
      ...node,
      locale: "de",
      userAgent: "u",
    };
    expect(passes({ ...all, client: { ...client, ...Object.fromEntries(more.map((key) => [key, "x"])) } })).toBe(true);
    const stray = [{ zzz: 1 }, { client: { ...client, zzz: 1 } }, { auth: { zzz: "1" } }, { device: { ...device, zzz: 1 } }];
    expect(stray.map(passes)).toEqual(Array(4).fill(false));
    const odd = [
      { scopes: [1] },
      { caps: "tool-events" },
      { permissions: { camera: "yes" } },
      { pathEnv: 1 },
      { locale: 1 },
      { commands: {} },
    ];
    expect(odd.map(passes)).toEqual(Array(6).fill(false));
  });
});
