import type { JsonObject } from "svc/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentsGateway, createAgentsGateway, eventually, outline, record } from "../../../test/fixtures/agents-gateway.ts";

let gw: AgentsGateway;
beforeAll(async () => {
  gw = await createAgentsGateway({ config: { messages: { queue: { debounceMs: 0, drop: "new" } } } });
});
afterAll(() => gw.close());

let count = 0;
const newKey = () => `k-${++count}`;
const send = (sessionKey: string, more: JsonObject = {}) =>
  gw.rpc<{ runId: string; status: string }>("chat.send", { sessionKey, message: "hi", idempotencyKey: newKey(), ...more });

describe("one run at a time", () => {
  test("messages for a busy session wait their turn and are answered in order", async () => {
    const sessionKey = "agent:held:fifo";
    const first = await send(sessionKey, { message: "first" });
    await gw.waiting();
    const second = await send(sessionKey, { message: "second" });

    expect(await gw.rpc("agent.wait", { runId: second.runId, timeoutMs: 0 })).toEqual({ runId: second.runId, status: "pending" });
    expect(await gw.rpc("sessions.describe", { key: sessionKey })).toMatchObject({
      session: { status: "running", hasActiveRun: true, activeRunIds: [first.runId, second.runId] },
    });
    expect((await gw.history(sessionKey)).map((m) => m.text)).toEqual(["first", "second"]);

    await gw.release();
    await gw.waiting();
    await gw.release();
    expect(await gw.rpc("agent.wait", { runId: second.runId })).toMatchObject({ status: "ok", stopReason: "stop" });
    expect((await gw.history(sessionKey)).map((m) => m.text)).toEqual(["first", "second", "one two", "one two"]);
  });

  test("the model reads a waiting message after the answer it waited for", async () => {
    const sessionKey = "agent:held:order";
    await send(sessionKey, { message: "first" });
    await gw.waiting();
    const asking = gw.ask({ sessionKey, message: "second", model: "script/echo" });
    await eventually(async () => (await gw.history(sessionKey)).length === 2);
    await gw.release();

    const { final } = await asking;

    const { messages } = JSON.parse((final.result as { payloads: Array<{ text: string }> }).payloads[0]?.text ?? "{}");
    expect(messages.map((m: { role: string; text?: string; content?: Array<{ text: string }> }) => m.text ?? m.content?.[0]?.text)).toEqual(
      ["first", "one two", "second"],
    );
  });

  test("twenty messages may wait, one more is refused as busy", async () => {
    const sessionKey = "agent:held:full";
    await send(sessionKey);
    await gw.waiting();
    for (let i = 0; i < 20; i++) await send(sessionKey);

    await expect(send(sessionKey)).rejects.toMatchObject({ code: "UNAVAILABLE", details: { code: "BUSY" }, retryable: true });

    const { runIds } = await gw.rpc<{ runIds: string[] }>("chat.abort", { sessionKey });
    expect(runIds).toHaveLength(21);
  });

  test("a newer message can take the place of those before it", async () => {
    const sessionKey = "agent:held:newest";
    const first = await send(sessionKey);
    await gw.waiting();
    const second = await send(sessionKey);
    const third = await send(sessionKey, { queueMode: "interrupt" });

    for (const { runId } of [first, second]) {
      expect(await gw.rpc("agent.wait", { runId })).toMatchObject({ status: "error", code: "ABORTED", stopReason: "superseded" });
    }
    await gw.waiting();
    await gw.release();
    expect(await gw.rpc("agent.wait", { runId: third.runId })).toMatchObject({ status: "ok" });
  });
});

describe("stopping", () => {
  test("a stopped run keeps its partial text, says aborted, and nothing follows", async () => {
    const client = await gw.client();
    const frames = record(client);
    const sessionKey = "agent:deaf:stop";
    const asking = gw.ask({ sessionKey, idempotencyKey: "stop-1" }, client);
    await gw.waiting();

    expect(await client.request("chat.abort", { sessionKey, runId: "stop-1" })).toEqual({ ok: true, aborted: true, runIds: ["stop-1"] });
    await expect(asking).rejects.toMatchObject({
      code: "UNAVAILABLE",
      details: { code: "ABORTED" },
      payload: { runId: "stop-1", status: "error", stopReason: "rpc" },
    });
    await gw.release();
    await client.request("health", {});

    expect(outline(frames, "stop-1").slice(-2)).toEqual(["chat aborted", "lifecycle end"]);
    const ended = frames.find((f) => f.payload.state === "aborted");
    expect(ended?.payload).toMatchObject({ stopReason: "rpc", message: { content: [{ type: "text", text: "partial " }] } });
    expect(await gw.history(sessionKey)).toMatchObject([
      { role: "user" },
      { role: "assistant", text: "partial ", aborted: true, stopReason: "rpc" },
    ]);
    expect(await gw.rpc("sessions.describe", { key: sessionKey })).toMatchObject({ session: { status: "killed", abortedLastRun: true } });
  });

  test("a stop reaches a tool that is at work", async () => {
    const sessionKey = "agent:slow-tool:stop";
    const { runId } = await send(sessionKey);
    await gw.waiting();

    await gw.rpc("chat.abort", { sessionKey });

    expect(await gw.rpc("agent.wait", { runId })).toMatchObject({ status: "error", stopReason: "rpc" });
    await gw.waiting(0);
    const { final } = await gw.ask({ sessionKey, model: "script/echo" });
    expect(JSON.stringify(final)).toContain("may have had its effect");
  });

  test("waiting runs are stopped, too, and never start", async () => {
    const sessionKey = "agent:held:queue-stop";
    const [first, second] = [await send(sessionKey), await send(sessionKey)];
    await gw.waiting();

    expect(await gw.rpc("chat.abort", { sessionKey, runId: second.runId })).toMatchObject({ aborted: true, runIds: [second.runId] });
    await gw.release();

    expect(await gw.rpc("agent.wait", { runId: first.runId })).toMatchObject({ status: "ok" });
    const stopped = await gw.rpc<JsonObject>("agent.wait", { runId: second.runId });
    expect(stopped).toMatchObject({ status: "error", stopReason: "rpc" });
    expect(stopped).not.toHaveProperty("startedAt");
  });

  test("nothing active, an unknown run or a run of another session stops nothing", async () => {
    const sessionKey = "agent:held:mine";
    const { runId } = await send(sessionKey);
    await gw.waiting();
    const nothing = { ok: true, aborted: false, runIds: [] };

    expect(await gw.rpc("chat.abort", { sessionKey: "quiet" })).toEqual(nothing);
    expect(await gw.rpc("chat.abort", { sessionKey, runId: "unknown" })).toEqual(nothing);
    expect(await gw.rpc("chat.abort", { sessionKey: "quiet", runId })).toEqual(nothing);

    await gw.release();
    expect(await gw.rpc("agent.wait", { runId })).toMatchObject({ status: "ok" });
  });

  test("/stop in a message stops and starts nothing", async () => {
    const sessionKey = "agent:hang:slash";
    const { runId } = await send(sessionKey);
    await gw.waiting();

    expect(await send(sessionKey, { message: "/stop" })).toMatchObject({ status: "ok", aborted: true, runIds: [runId] });
    expect((await gw.history(sessionKey)).filter((m) => m.role === "user")).toHaveLength(1);
  });
});

describe("waiting for a run", () => {
  test("a wait that ends first says so and cancels nothing", async () => {
    const { runId } = await send("agent:held:wait");
    await gw.waiting();

    const early = await gw.rpc<JsonObject>("agent.wait", { runId, timeoutMs: 1 });
    expect(early).toMatchObject({ runId, status: "timeout", startedAt: expect.any(Number) });
    expect(early).not.toHaveProperty("endedAt");

    await gw.release();
    expect(await gw.rpc("agent.wait", { runId })).toMatchObject({ status: "ok", endedAt: expect.any(Number) });
    expect(await gw.rpc("agent.wait", { runId: "nobody", timeoutMs: 1 })).toEqual({ runId: "nobody", status: "timeout" });
  });
});

describe("a new transcript", () => {
  test("/new with a text begins one and answers in it", async () => {
    await gw.ask({ sessionKey: "fresh", message: "old talk" });
    const before = await gw.rpc<{ sessionId: string }>("chat.history", { sessionKey: "fresh" });

    await gw.ask({ sessionKey: "fresh", message: "/new a new talk" });

    expect(await gw.history("fresh")).toMatchObject([{ text: "a new talk" }, { text: "Hello from the script." }]);
    const after = await gw.rpc<{ sessionId: string; sessionInfo: JsonObject }>("chat.history", { sessionKey: "fresh" });
    expect(after.sessionId).not.toBe(before.sessionId);
    expect(after.sessionInfo).toMatchObject({ derivedTitle: "a new talk", totalTokens: 17 });
  });

  test("a bare /new resets once per key", async () => {
    await gw.ask({ sessionKey: "bare", message: "old talk" });
    const reset = { sessionKey: "bare", message: "/new", idempotencyKey: "bare-new" };

    expect(await gw.rpc("chat.send", reset)).toEqual({ runId: "bare-new", status: "ok" });
    const { sessionId } = await gw.rpc<{ sessionId: string }>("chat.history", { sessionKey: "bare" });
    expect(await gw.rpc("chat.send", reset)).toEqual({ runId: "bare-new", status: "ok" });

    // Params are not compared: the key has its answer.
    expect(await gw.rpc("chat.send", { ...reset, message: "hello" })).toEqual({ runId: "bare-new", status: "ok" });
    expect(await gw.rpc("chat.history", { sessionKey: "bare" })).toMatchObject({ sessionId, messages: [] });
    expect((await gw.ask({ ...reset, idempotencyKey: "bare-agent" })).final).toMatchObject({ status: "ok", summary: "session reset" });
  });

  test("it needs an administrator", async () => {
    const writer = await gw.client({ scopes: ["operator.read", "operator.write"] });
    for (const message of ["/new", "/reset now"]) {
      await expect(gw.ask({ message }, writer)).rejects.toMatchObject({ code: "FORBIDDEN", details: { missingScope: "operator.admin" } });
      await expect(writer.request("chat.send", { sessionKey: "x", message, idempotencyKey: newKey() })).rejects.toMatchObject({
        code: "FORBIDDEN",
      });
    }
    expect((await gw.ask({ message: "/newer is not /new" }, writer)).final).toMatchObject({ status: "ok" });
  });

  test("a run that is at work during a reset ends in the transcript it began in", async () => {
    const sessionKey = "agent:held:reset";
    const { runId } = await send(sessionKey, { message: "before" });
    await gw.waiting();
    const { sessionId: old } = await gw.rpc<{ sessionId: string }>("chat.history", { sessionKey });

    await gw.rpc("sessions.reset", { key: sessionKey });
    await gw.release();

    expect(await gw.rpc("agent.wait", { runId })).toMatchObject({ status: "ok" });
    expect(await gw.history(sessionKey)).toEqual([]);
    expect(await gw.service("store@2").messages.page(old, { limit: 10 })).toMatchObject([{ role: "user" }, { role: "assistant" }]);
    expect((await gw.rpc<{ session: JsonObject }>("sessions.describe", { key: sessionKey })).session).toMatchObject({ totalTokens: 0 });
  });
});

test("no more sessions than maxConcurrent are at work", async () => {
  const keys = ["a", "b", "c", "d", "e"].map((k) => `agent:held:cap-${k}`);
  for (const key of keys) await send(key);
  await gw.waiting(4);

  expect(await gw.rpc("health", { probe: true })).toMatchObject({ queues: { active: 4, queued: 1 } });

  await gw.release();
  await gw.waiting(1);
  await gw.release();
});

test("programs leave a place to people, and a run that waits for one is told its position", async () => {
  const client = await gw.client();
  const frames = record(client);
  await client.request("sessions.subscribe", {});
  const actor = { kind: "http" as const, scopes: ["operator.write" as const] };
  const ask = (name: string) => gw.service("agents@1").run({ message: "hi", agentId: "hang", sessionKey: name, trigger: "user", actor });
  const programs = [];
  for (const name of ["p1", "p2", "p3", "p4", "p5"]) programs.push(await ask(name));
  await gw.waiting(3);

  const person = await client.request("chat.send", { sessionKey: "agent:held:person", message: "hi", idempotencyKey: newKey() });
  await gw.waiting(4);

  expect(programs.map(({ state }) => state)).toEqual(["started", "started", "started", "queued", "queued"]);
  const last = client.request("chat.send", { sessionKey: "agent:held:late", message: "hi", idempotencyKey: "late" });
  await eventually(() => frames.some(({ payload }) => payload.runId === "late"));
  expect(outline(frames, "late").slice(0, 2)).toEqual(["lifecycle queued", "chat status"]);
  expect(frames.find(({ event, payload }) => event === "chat" && payload.runId === "late")?.payload).toMatchObject({
    ...{ state: "status", phase: "queued", position: 3 },
  });
  const events = programs[4]?.events()[Symbol.asyncIterator]();
  expect((await events?.next())?.value).toMatchObject({ seq: 1, stream: "lifecycle", data: { phase: "queued", position: 2 } });

  for (const run of programs) run.abort("rpc");
  await gw.release();
  await gw.waiting(1);
  await gw.release();
  for (const { runId } of [person, await last]) expect(await gw.rpc("agent.wait", { runId })).toMatchObject({ status: "ok" });
});
