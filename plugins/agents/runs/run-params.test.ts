import type { JsonObject } from "svc/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentsGateway, createAgentsGateway, eventually, outline, record } from "../../../test/fixtures/agents-gateway.ts";

let gw: AgentsGateway;
beforeAll(async () => {
  gw = await createAgentsGateway({ config: { agents: { defaults: { maxConcurrent: 1 } } } });
});
afterAll(() => gw.close());

describe("delivery", () => {
  const noRoute = { code: "INVALID_REQUEST", details: { code: "NO_ROUTE" }, message: expect.stringContaining("agent:main:deliver") };

  test("is refused while no channel can take the answer, and nothing is stored", async () => {
    await expect(gw.ask({ sessionKey: "deliver", deliver: true, channel: "irc", to: "ana" })).rejects.toMatchObject(noRoute);
    await expect(
      gw.rpc("chat.send", { sessionKey: "deliver", message: "hi", idempotencyKey: "deliver-1", deliver: true }),
    ).rejects.toMatchObject(noRoute);
    expect(await gw.rpc("sessions.describe", { key: "deliver" })).toEqual({ session: null });
  });

  test("as best effort stays in the session and says so, also when it is asked again", async () => {
    const asked = { sessionKey: "deliver", idempotencyKey: "deliver-2", deliver: true, bestEffortDeliver: true, replyChannel: "irc" };
    const { final } = await gw.ask(asked);
    expect(final).toMatchObject({ status: "ok", result: { deliveryStatus: "suppressed", payloads: [{ text: "Hello from the script." }] } });
    expect((await gw.ask(asked)).final).toEqual(final);
  });

  test("that nobody asked for is not spoken of", async () => {
    const places = { channel: "irc", to: "ana", accountId: "a", threadId: "t", replyTo: "m", replyChannel: "irc", deliver: false };
    const { final } = await gw.ask({ sessionKey: "deliver", ...places });
    expect(final.result).not.toHaveProperty("deliveryStatus");
  });
});

describe("delivery, where messages are carried", () => {
  let carrying: AgentsGateway;
  beforeAll(async () => {
    carrying = await createAgentsGateway({ messaging: true });
  });
  afterAll(() => carrying.close());
  const said = async () => (await carrying.history("main")).map((m) => m.text);

  test("brings the last thing the agent said to its channel, once, and says so", async () => {
    const asked = { sessionKey: "deliver", idempotencyKey: "sent-1", deliver: true };
    const { final } = await carrying.ask(asked);

    expect(final).toMatchObject({ status: "ok", result: { deliveryStatus: "sent" } });
    expect((await carrying.ask(asked)).final).toEqual(final);
    expect(await said()).toEqual(["Hello from the script."]);
    expect(await carrying.service("store@2").deliveries.get("sent-1:out")).toMatchObject({
      state: "done",
      lane: "webchat::agent:main:main",
    });
  });

  test("of a chat message comes by itself", async () => {
    await carrying.rpc("chat.send", { sessionKey: "agent:echo:deliver", message: "hi", idempotencyKey: "sent-2", deliver: true });
    await eventually(async () => (await carrying.service("store@2").deliveries.get("sent-2:out"))?.state === "done");
  });

  test.each([
    ["a channel that is not there", { channel: "irc" }, "UNKNOWN_CHANNEL"],
    ["the place of the answer, which comes before that of the message", { channel: "webchat", replyChannel: "irc" }, "UNKNOWN_CHANNEL"],
  ])("to %s is refused before anything is stored, unless it is best effort", async (_, place, code) => {
    await expect(carrying.ask({ sessionKey: "nowhere", deliver: true, ...place })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      details: { code },
    });
    expect(await carrying.rpc("sessions.describe", { key: "nowhere" })).toEqual({ session: null });
    const { final } = await carrying.ask({ sessionKey: `best-effort-${_}`, deliver: true, bestEffortDeliver: true, ...place });
    expect(final).toMatchObject({ result: { deliveryStatus: "suppressed" } });
  });

  test("of an answer that says nothing is none", async () => {
    const { final } = await carrying.ask({ sessionKey: "quiet", idempotencyKey: "quiet-1", deliver: true, model: "script/silent" });
    expect(final).toMatchObject({ result: { deliveryStatus: "suppressed" } });
    expect(await carrying.service("store@2").deliveries.get("quiet-1:out")).toBeUndefined();
  });
});

test("a lane of its own has places of its own", async () => {
  const main = gw.ask({ sessionKey: "agent:held:lane-main" });
  await gw.waiting();
  const waits = gw.ask({ sessionKey: "agent:held:lane-waits" });
  const hooks = gw.ask({ sessionKey: "agent:held:lane-hooks", lane: "hooks" });
  await gw.waiting(2);
  expect(await gw.rpc("health", { probe: true })).toMatchObject({ queues: { active: 2, queued: 1 } });

  await gw.release();
  await Promise.all([main, hooks]);
  await gw.waiting();
  await gw.release();
  expect((await waits).final).toMatchObject({ status: "ok" });
  await expect(gw.ask({ lane: "fast" })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
});

test("an answer of which nothing is to be seen ends without a message and leaves none in the history", async () => {
  const client = await gw.client();
  const frames = record(client);
  await gw.ask({ sessionKey: "silent", model: "script/silent", idempotencyKey: "silent-1" }, client).catch(() => undefined);
  await client.request("health", {});

  expect(outline(frames, "silent-1").filter((l) => l === "chat delta")).toEqual([]);
  const end = frames.find((f) => f.event === "chat" && ["final", "error"].includes(String(f.payload.state)));
  expect(end?.payload).not.toHaveProperty("message");
  expect((await gw.history("silent")).filter((m) => m.role === "assistant")).toEqual([]);
});

test("a prompt that is too long is told to be made shorter, and then tried again", async () => {
  const client = await gw.client();
  const frames = record(client);
  for (const message of ["one", "two"]) await gw.ask({ sessionKey: "long", message });
  await gw.ask({ sessionKey: "long", model: "script/long", idempotencyKey: "long-1" }, client);

  const told = frames.filter((f) => f.payload.stream === "compaction").map((f) => f.payload.data);
  expect(told).toEqual([
    { phase: "start", reason: "overflow" },
    { phase: "end", reason: "overflow", willRetry: true, tokensBefore: expect.any(Number), tokensAfter: expect.any(Number) },
  ]);
});

describe("a label", () => {
  test("of a run names its session, once per agent", async () => {
    await gw.ask({ sessionKey: "label-1", label: "Kitchen" });
    expect(await gw.rpc("sessions.resolve", { label: "Kitchen" })).toMatchObject({ key: "agent:main:label-1" });
    expect((await gw.ask({ sessionKey: "label-1", label: "Kitchen" })).final).toMatchObject({ status: "ok" });
    await expect(gw.ask({ sessionKey: "label-2", label: "Kitchen" })).rejects.toMatchObject({
      message: expect.stringContaining("already used"),
    });
    expect(await gw.rpc("sessions.describe", { key: "label-2" })).toEqual({ session: null });
  });
});

describe("commands", () => {
  test("/stop is done once per key: a repeat does not stop what began later", async () => {
    const sessionKey = "agent:held:stop-once";
    const stop = { sessionKey, message: "/stop", idempotencyKey: "stop-once" };
    await gw.rpc("chat.send", { sessionKey, message: "one", idempotencyKey: "stop-a" });
    await gw.waiting();
    expect(await gw.rpc("chat.send", stop)).toEqual({ runId: "stop-once", status: "ok", aborted: true, runIds: ["stop-a"] });

    await gw.rpc("chat.send", { sessionKey, message: "two", idempotencyKey: "stop-b" });
    await gw.waiting();
    expect(await gw.rpc("chat.send", stop)).toEqual({ runId: "stop-once", status: "ok", aborted: true, runIds: ["stop-a"] });
    await gw.release();
    expect(await gw.rpc("agent.wait", { runId: "stop-b" })).toMatchObject({ status: "ok" });
  });
});

describe("history", () => {
  test("carries the run at work once, whatever else waits", async () => {
    const sessionKey = "agent:held:in-flight";
    await gw.rpc("chat.send", { sessionKey, message: "one", idempotencyKey: "flight-1" });
    await gw.waiting();
    await gw.rpc("chat.send", { sessionKey, message: "two", idempotencyKey: "flight-2" });
    await eventually(async () => (await gw.history(sessionKey)).length === 2);
    expect(await gw.rpc<JsonObject>("chat.history", { sessionKey })).toMatchObject({
      sessionKey,
      sessionId: expect.any(String),
      totalMessages: 2,
      hasMore: false,
      inFlightRun: { runId: "flight-1", text: "one ", startedAt: expect.any(Number) },
      sessionInfo: { key: sessionKey, activeRunIds: ["flight-1", "flight-2"] },
    });
    await gw.rpc("chat.abort", { sessionKey });
  });

  test("of more than 6 MiB is cut from the old end and read on from there", async () => {
    await gw.rpc("sessions.create", { key: "heavy" });
    const { sessionId } = await gw.rpc<{ sessionId: string }>("chat.history", { sessionKey: "heavy" });
    const text = "ä".repeat(60_000);
    const message = (i: number) => ({
      op: "message.append" as const,
      message: { id: `m${i}`, sessionId, ts: i, role: "user" as const, content: [{ type: "text" as const, text }] },
    });
    await gw.service("store@2").commit(Array.from({ length: 60 }, (_, i) => message(i)));

    const page = (offset: number) =>
      gw.rpc<{ messages: Array<{ __svc: { seq: number } }>; nextOffset?: number; hasMore: boolean }>("chat.history", {
        sessionKey: "heavy",
        offset,
        maxChars: 1_000_000,
      });
    const first = await page(0);
    expect(Buffer.byteLength(JSON.stringify(first.messages))).toBeLessThanOrEqual(6 * 1024 * 1024);
    expect(first).toMatchObject({ hasMore: true, nextOffset: first.messages.length });
    const rest = await page(first.nextOffset ?? 0);
    expect(rest).toMatchObject({ hasMore: false });
    expect([...rest.messages, ...first.messages].map((m) => m.__svc.seq)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
  });
});
