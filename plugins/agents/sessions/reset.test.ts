import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { SvcConfigInput } from "svc/sdk";
import type { SvcClient } from "svc/sdk/client";
import { createTestGateway, type FakeClock, fakeClock, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterEach, expect, test } from "vitest";
import { record } from "../../../test/fixtures/agents-gateway.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const probe = join(import.meta.dirname, "../../../test/fixtures/plugins/hook-probe");

let gw: TestGateway;
let clock: FakeClock;

afterEach(() => gw.close());

async function start(session: NonNullable<SvcConfigInput["session"]>): Promise<SvcClient> {
  // Noon in the time zone of this machine: no reset is near.
  clock = fakeClock(new Date(2026, 4, 10, 12).getTime());
  const entries = { "hook-probe": { grants: ["hooks.conversation", "hooks.prompt", "hooks.gate"] } };
  gw = await createTestGateway({
    plugins: ["store", "agents", probe],
    config: { agents: { defaults: { skipBootstrap: true, heartbeat: { every: "0" } } }, session, plugins: { entries } },
    clock,
    models: [fakeModel(Array.from({ length: 40 }, (_, i) => `answer ${i}`))],
  });
  return gw.client();
}

const ask = (client: SvcClient, message: string, more: object = {}) =>
  client.request<{ status: string }>(
    "agent" as string,
    { message, idempotencyKey: randomUUID(), ...more },
    { onAccepted: () => undefined },
  );
const row = (key = "agent:main:main") => gw.service("store@2").sessions.get(key);
const texts = async (sessionKey = "main") => {
  const { messages } = await gw.rpc<{ messages: Array<{ role: string; content: Array<{ text: string }> }> }>("chat.history", {
    sessionKey,
  });
  return messages.filter((m) => m.role === "user").map((m) => m.content[0]?.text);
};

test("the first message of a new day begins a new transcript; the old one stays, and everybody hears of it", async () => {
  const client = await start({});
  await ask(client, "on the first day");
  await ask(client, "and still");
  const before = await row();
  const frames = record(client);
  await client.request("sessions.subscribe", {});
  await clock.advance(DAY_MS);

  await ask(client, "good morning");

  expect(await texts()).toEqual(["good morning"]);
  expect((await row())?.sessionId).not.toBe(before?.sessionId);
  expect((await row())?.createdAt).toBe(before?.createdAt);
  const { messages } = gw.service("store@2");
  expect(await messages.page(before?.sessionId ?? "", { limit: 10 })).toHaveLength(4);
  const changes = frames.filter(({ event, payload }) => event === "sessions.changed" && payload.reason !== undefined);
  expect(changes[0]?.payload).toMatchObject({
    sessionKey: "agent:main:main",
    reason: "reset",
    session: { sessionId: (await row())?.sessionId },
  });
  const { seen } = await gw.rpc<{ seen: Array<{ hook: string; event: object }> }>("hook-probe.seen");
  expect(seen.filter(({ hook }) => hook === "session.reset").map(({ event }) => event)).toEqual([
    { sessionKey: "agent:main:main", agentId: "main", sessionId: (await row())?.sessionId, reason: "daily" },
  ]);
});

test("a session expires after more than its minutes of silence, and not at them", async () => {
  const client = await start({ reset: { mode: "idle", idleMinutes: 30 } });
  await ask(client, "one");
  await clock.advance(30 * MINUTE_MS);
  await ask(client, "two");
  expect(await texts()).toEqual(["one", "two"]);

  await clock.advance(30 * MINUTE_MS + 1);
  await ask(client, "three");

  expect(await texts()).toEqual(["three"]);
});

test("with mode none a session is never reset by itself", async () => {
  const client = await start({ reset: { mode: "none" } });
  await ask(client, "one");
  await clock.advance(40 * DAY_MS);
  await ask(client, "two");
  expect(await texts()).toEqual(["one", "two"]);
});

test("a type of chat has a rule of its own", async () => {
  const client = await start({ resetByType: { group: { mode: "none" } } });
  for (const sessionKey of ["irc:group:room", "irc:direct:ada"]) await ask(client, "one", { sessionKey });
  await clock.advance(DAY_MS);
  for (const sessionKey of ["irc:group:room", "irc:direct:ada"]) await ask(client, "two", { sessionKey });
  expect(await texts("irc:group:room")).toEqual(["one", "two"]);
  expect(await texts("irc:direct:ada")).toEqual(["two"]);
});

test("what an agent does by itself begins no transcript, and does not keep one alive", async () => {
  const client = await start({ reset: { mode: "idle", idleMinutes: 30 } });
  await ask(client, "one");
  const before = (await row())?.sessionId;
  await clock.advance(20 * MINUTE_MS);
  const actor = { kind: "internal" as const, scopes: ["operator.write" as const] };
  await (await gw.service("agents@1").run({ message: "by itself", trigger: "cron", sessionKey: "main", actor })).done;
  await clock.advance(20 * MINUTE_MS);
  await (await gw.service("agents@1").run({ message: "again", trigger: "cron", sessionKey: "main", actor })).done;
  expect((await row())?.sessionId).toBe(before);

  await ask(client, "two");

  expect(await texts()).toEqual(["two"]);
});

test("a message that names its transcript, and the answer to a tool call, stay in it", async () => {
  const client = await start({});
  await ask(client, "one");
  const sessionId = (await row())?.sessionId;
  await clock.advance(DAY_MS);
  await ask(client, "two", { sessionId });
  expect((await row())?.sessionId).toBe(sessionId);
});

test("the messages that reset a session are those of the config", async () => {
  const client = await start({ resetTriggers: ["/fresh", "neu!"] });
  for (const message of ["one", "/fresh"]) await ask(client, message);
  expect(await texts()).toEqual([]);
  for (const message of ["/new is a text now", "neu! two"]) await ask(client, message);
  expect(await texts()).toEqual(["two"]);

  const writer = await gw.client({ scopes: ["operator.read", "operator.write"] });
  await expect(ask(writer, "/fresh")).rejects.toMatchObject({ details: { code: "MISSING_SCOPE" } });
  await expect(ask(writer, "/freshly made")).resolves.toMatchObject({ status: "ok" });
});
