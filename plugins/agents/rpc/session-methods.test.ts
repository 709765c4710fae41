import type { JsonObject } from "svc/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentsGateway, createAgentsGateway, record } from "../../../test/fixtures/agents-gateway.ts";

let gw: AgentsGateway;
beforeAll(async () => {
  gw = await createAgentsGateway();
});
afterAll(() => gw.close());

const create = (params: JsonObject) =>
  gw.rpc<JsonObject & { entry: JsonObject; sessionId: string; key: string }>("sessions.create", params);
const refused = (message: string) => ({ code: "INVALID_REQUEST", message: expect.stringContaining(message) });

describe("sessions.create", () => {
  test("makes an empty session with what was asked for", async () => {
    const client = await gw.client();
    const frames = record(client);
    await client.request("sessions.subscribe", {});
    await create({ key: "parent" });

    const made = await create({
      key: "made",
      label: " Holiday ",
      model: "script/echo",
      thinkingLevel: "high",
      parentSessionKey: "parent",
    });

    expect(made).toMatchObject({
      ok: true,
      key: "agent:main:made",
      runStarted: false,
      entry: {
        agentId: "main",
        label: "Holiday",
        model: "script/echo",
        modelProvider: "script",
        contextTokens: 8_000,
        thinkingLevel: "high",
        parentSessionKey: "agent:main:parent",
        totalTokens: 0,
        hasActiveRun: false,
      },
    });
    expect(made).not.toHaveProperty("runId");
    expect(await gw.rpc("chat.history", { sessionKey: "made" })).toMatchObject({
      sessionId: made.sessionId,
      messages: [],
      totalMessages: 0,
    });
    const told = frames.filter((f) => f.event === "sessions.changed").map((f) => [f.payload.sessionKey, f.payload.reason]);
    expect(told).toEqual([
      ["agent:main:parent", "create"],
      ["agent:main:made", "create"],
    ]);
  });

  test("without a key makes a new one each time, for the agent that was named", async () => {
    const [one, two] = [await create({ agentId: "echo" }), await create({ agentId: "echo" })];
    expect(one.key).toMatch(/^agent:echo:[0-9a-f-]{36}$/);
    expect(two.key).not.toBe(one.key);
  });

  test("takes the session that has the key and keeps its transcript", async () => {
    await gw.ask({ sessionKey: "adopted" });
    const { sessionId } = await gw.rpc<{ sessionId: string }>("chat.history", { sessionKey: "adopted" });

    expect(await create({ key: "adopted" })).toMatchObject({ sessionId, runStarted: false });
    expect(await create({ key: "adopted", label: "Mine" })).toMatchObject({ sessionId, entry: { label: "Mine" } });
    expect(await gw.history("adopted")).toHaveLength(2);
  });

  test("with a message begins a run under the key of the request", async () => {
    const made = await create({ key: "talk", message: "hello", idempotencyKey: "talk-1" });
    expect(made).toMatchObject({ runStarted: true, runId: "talk-1", entry: { derivedTitle: "hello" } });
    expect(await gw.rpc("agent.wait", { runId: "talk-1" })).toMatchObject({ status: "ok" });
    expect(await gw.history("talk")).toMatchObject([{ text: "hello" }, { role: "assistant" }]);
  });

  test("is done once per key, also when asked eight times at once", async () => {
    const clients = await Promise.all(Array.from({ length: 8 }, () => gw.client()));
    const answers = await Promise.all(
      clients.map((c) => c.request("sessions.create", { message: "once", idempotencyKey: "once-1" }) as Promise<JsonObject>),
    );
    expect(new Set(answers.map((a) => a.key)).size).toBe(1);
    await gw.rpc("agent.wait", { runId: "once-1" });
    expect(await gw.history(String(answers[0]?.key))).toHaveLength(2);
  });

  test("what was refused is not kept: the mended request is carried out", async () => {
    await expect(create({ key: "mended", model: "script/none", idempotencyKey: "mended-1" })).rejects.toMatchObject({
      details: { code: "INVALID_MODEL" },
    });
    expect(await create({ key: "mended", idempotencyKey: "mended-1" })).toMatchObject({ key: "agent:main:mended" });
  });

  test.each<[string, JsonObject, string]>([
    ["an unknown agent", { agentId: "zzz" }, 'unknown agent id "zzz"'],
    ["a key of another agent", { key: "agent:echo:x", agentId: "main" }, "belongs to agent"],
    ["a parent that is not there", { parentSessionKey: "nowhere" }, "No session found: agent:main:nowhere"],
    ["an unknown field", { zzz: 1 }, "invalid sessions.create params"],
    ["a blank label", { label: "  " }, "invalid sessions.create params"],
  ])("%s is refused", async (_name, params, message) => {
    await expect(create(params)).rejects.toMatchObject(refused(message));
  });
});

describe("sessions.resolve", () => {
  beforeAll(async () => {
    await create({ key: "found", label: "Find me" });
    await create({ key: "agent:echo:found", label: "Find me" });
  });

  test("finds by key, transcript and label", async () => {
    const { sessionId } = await create({ key: "found" });
    const answer = { ok: true, key: "agent:main:found", agentId: "main" };
    expect(await gw.rpc("sessions.resolve", { key: "found" })).toEqual(answer);
    expect(await gw.rpc("sessions.resolve", { sessionId })).toEqual(answer);
    expect(await gw.rpc("sessions.resolve", { label: "Find me", agentId: "main" })).toEqual(answer);
    expect(await gw.rpc("sessions.resolve", { key: "found", agentId: "echo" })).toMatchObject({ key: "agent:echo:found" });
  });

  test.each<[JsonObject, string]>([
    [{ key: "missing" }, "No session found: missing"],
    [{ sessionId: "missing" }, "No session found: missing"],
    [{ label: "missing" }, "No session found: missing"],
    [{ label: "Find me" }, "sessions of several agents"],
    [{}, "expected one of key, sessionId and label"],
    [{ key: "found", label: "Find me" }, "expected one of key, sessionId and label"],
  ])("%j is refused", async (params, message) => {
    await expect(gw.rpc("sessions.resolve", params)).rejects.toMatchObject(refused(message));
  });

  test("says only no when the caller allows it", async () => {
    expect(await gw.rpc("sessions.resolve", { key: "missing", allowMissing: true })).toEqual({ ok: false });
  });
});

describe("sessions.send", () => {
  test("is chat.send to a session that exists", async () => {
    await create({ key: "sent" });
    expect(await gw.rpc("sessions.send", { key: "sent", message: "hi", idempotencyKey: "sent-1" })).toEqual({
      runId: "sent-1",
      status: "started",
    });
    await gw.rpc("agent.wait", { runId: "sent-1" });
    expect(await gw.rpc("sessions.send", { key: "sent", message: "other", idempotencyKey: "sent-1" })).toEqual({
      runId: "sent-1",
      status: "ok",
    });
    const { runId } = await gw.rpc<{ runId: string }>("sessions.send", { key: "sent", message: "without a key" });
    expect(await gw.rpc("agent.wait", { runId })).toMatchObject({ status: "ok" });
    expect((await gw.history("sent")).filter((m) => m.role === "user").map((m) => m.text)).toEqual(["hi", "without a key"]);
  });

  test("an unknown session is not made", async () => {
    await expect(gw.rpc("sessions.send", { key: "unsent", message: "hi" })).rejects.toMatchObject(
      refused("No session found: agent:main:unsent"),
    );
    expect(await gw.rpc("sessions.describe", { key: "unsent" })).toEqual({ session: null });
  });
});

describe("sessions.abort", () => {
  const key = "agent:hang:abort";
  const start = async (runId: string) => {
    await gw.rpc("chat.send", { sessionKey: key, message: "hi", idempotencyKey: runId });
    await gw.waiting();
  };

  test("stops by session, by run, and by both", async () => {
    for (const [runId, params] of [
      ["abort-1", { key }],
      ["abort-2", { runId: "abort-2" }],
      ["abort-3", { key, runId: "abort-3" }],
    ] as const) {
      await start(runId);
      expect(await gw.rpc("sessions.abort", params)).toEqual({ ok: true, abortedRunId: runId, status: "aborted" });
      expect(await gw.rpc("agent.wait", { runId })).toMatchObject({ status: "error", code: "ABORTED", stopReason: "rpc" });
    }
  });

  test("nothing at work, an unknown run and a run of another session stop nothing", async () => {
    await start("abort-4");
    const nothing = { ok: true, abortedRunId: null, status: "no-active-run" };
    expect(await gw.rpc("sessions.abort", { key: "quiet" })).toEqual(nothing);
    expect(await gw.rpc("sessions.abort", { runId: "nobody" })).toEqual(nothing);
    expect(await gw.rpc("sessions.abort", { key: "quiet", runId: "abort-4" })).toEqual(nothing);
    await expect(gw.rpc("sessions.abort", {})).rejects.toMatchObject(refused("expected key or runId"));
    await gw.rpc("sessions.abort", { key });
  });
});

describe("sessions.patch", () => {
  const ordinary = { category: "work", archived: true, pinned: true, unread: true, fastMode: true, thinkingLevel: "low", label: "Patched" };
  const admin = {
    verboseLevel: "full",
    reasoningLevel: "stream",
    elevatedLevel: "ask",
    responseUsage: "tokens",
    sendPolicy: "deny",
    groupActivation: "mention",
    execHost: "gateway",
    execSecurity: "allowlist",
    execAsk: "on-miss",
  };

  test("sets every field, and null clears each", async () => {
    await create({ key: "patched" });
    expect(await gw.rpc("sessions.patch", { key: "patched", ...ordinary, ...admin })).toMatchObject({ entry: { ...ordinary, ...admin } });

    const nulls = Object.fromEntries(Object.keys({ ...ordinary, ...admin }).map((field) => [field, null]));
    const { entry } = await gw.rpc<{ entry: JsonObject }>("sessions.patch", { key: "patched", ...nulls });
    expect(entry).toMatchObject({ archived: false, pinned: false, unread: false });
    for (const field of ["category", "fastMode", "thinkingLevel", "label", ...Object.keys(admin)]) expect(entry).not.toHaveProperty(field);
  });

  test("a writer may change the ordinary fields, each other one needs an administrator", async () => {
    await create({ key: "scoped" });
    const writer = await gw.client({ scopes: ["operator.read", "operator.write"] });
    expect(await writer.request("sessions.patch" as string, { key: "scoped", ...ordinary, label: null, model: "script/ok" })).toMatchObject(
      {
        ok: true,
      },
    );
    for (const [field, value] of Object.entries(admin)) {
      for (const given of [value, null]) {
        await expect(writer.request("sessions.patch" as string, { key: "scoped", [field]: given })).rejects.toMatchObject({
          code: "FORBIDDEN",
          details: { code: "MISSING_SCOPE", missingScope: "operator.admin" },
        });
      }
    }
  });

  test("two sessions never get one label, whoever asks at the same time and in whatever way", async () => {
    for (const key of ["label-a", "label-b"]) await create({ key });
    const asked = await Promise.allSettled([
      gw.rpc("sessions.patch", { key: "label-a", label: "Wanted" }),
      gw.rpc("sessions.patch", { key: "label-b", label: "Wanted" }),
      create({ key: "label-c", label: "Wanted" }),
      gw.ask({ sessionKey: "label-d", label: "Wanted" }),
    ]);
    expect(asked.filter((a) => a.status === "fulfilled")).toHaveLength(1);
    for (const a of asked) if (a.status === "rejected") expect(a.reason).toMatchObject(refused("already used"));
    // Another agent may have it, too.
    expect(await create({ key: "agent:echo:label", label: "Wanted" })).toMatchObject({ ok: true });
  });

  test("a model is kept by its full name, however it was called", async () => {
    await create({ key: "model" });
    expect(await gw.rpc("sessions.patch", { key: "model", model: "echo" })).toMatchObject({
      entry: { model: "script/echo", modelProvider: "script" },
      resolved: { modelProvider: "script", model: "echo" },
    });
  });
});

describe("sessions.list", () => {
  test("leaves global and unknown sessions out, and titles, unless asked for them", async () => {
    for (const key of ["global", "unknown"]) await gw.ask({ sessionKey: `agent:flood:${key}`, model: "script/ok" });
    const keys = async (params: JsonObject) =>
      (await gw.rpc<{ sessions: Array<{ key: string }> }>("sessions.list", { agentId: "flood", ...params })).sessions.map((s) => s.key);

    expect(await keys({})).toEqual([]);
    expect(await keys({ includeGlobal: true })).toEqual(["agent:flood:global"]);
    expect((await keys({ includeGlobal: true, includeUnknown: true })).sort()).toEqual(["agent:flood:global", "agent:flood:unknown"]);

    const [row] = (await gw.rpc<{ sessions: JsonObject[] }>("sessions.list", { agentId: "flood", includeGlobal: true })).sessions;
    for (const field of ["derivedTitle", "lastMessagePreview"]) expect(row).not.toHaveProperty(field);
    const asked = { agentId: "flood", includeGlobal: true, includeDerivedTitles: true, includeLastMessage: true };
    expect((await gw.rpc<{ sessions: JsonObject[] }>("sessions.list", asked)).sessions[0]).toMatchObject({
      kind: "global",
      derivedTitle: "hi",
      lastMessagePreview: "Hello from the script.",
    });
  });

  test("rows carry every field that has a source", async () => {
    await gw.ask({ sessionKey: "full-row", idempotencyKey: "full-row-1" });
    const { session } = await gw.rpc<{ session: JsonObject }>("sessions.describe", { key: "full-row" });
    expect(session).toMatchObject({
      key: "agent:main:full-row",
      sessionId: expect.any(String),
      agentId: "main",
      kind: "direct",
      chatType: "direct",
      derivedTitle: "hi",
      lastMessagePreview: "Hello from the script.",
      createdAt: expect.any(Number),
      updatedAt: expect.any(Number),
      lastInteractionAt: expect.any(Number),
      lastActivityAt: expect.any(Number),
      status: "done",
      startedAt: expect.any(Number),
      endedAt: expect.any(Number),
      runtimeMs: expect.any(Number),
      lastRunId: "full-row-1",
      abortedLastRun: false,
      hasActiveRun: false,
      contextTokens: 8_000,
      inputTokens: 12,
      outputTokens: 5,
      totalTokens: 17,
      totalTokensFresh: true,
      archived: false,
      pinned: false,
      unread: false,
      snapshotAt: expect.any(Number),
    });
    expect(await gw.rpc("sessions.list", {})).toMatchObject({ defaults: { modelProvider: "script", model: "ok", contextTokens: 8_000 } });
  });

  test("a change is seen by the next list, however soon it is asked for", async () => {
    const find = async () =>
      (await gw.rpc<{ sessions: Array<{ key: string; pinned: boolean }> }>("sessions.list", { search: "soon" })).sessions;
    expect(await find()).toEqual([]);
    await create({ key: "soon" });
    expect(await find()).toMatchObject([{ key: "agent:main:soon", pinned: false }]);
    await gw.rpc("sessions.patch", { key: "soon", pinned: true });
    expect(await find()).toMatchObject([{ pinned: true }]);
    await gw.rpc("sessions.delete", { key: "soon" });
    expect(await find()).toEqual([]);
  });

  test("asked the same way by many at once is read once", async () => {
    const clients = await Promise.all(Array.from({ length: 5 }, () => gw.client()));
    const answers = await Promise.all(
      clients.flatMap((c) => Array.from({ length: 20 }, () => c.request("sessions.list", { limit: 3 }) as Promise<JsonObject>)),
    );
    // Each reading has a time of its own; a slow machine may need a second one.
    expect(new Set(answers.map((a) => a.ts)).size).toBeLessThanOrEqual(3);
    expect(new Set(answers.map((a) => JSON.stringify(a.sessions))).size).toBeLessThanOrEqual(3);
  });

  test("sorts by the last word of a person, and by activity", async () => {
    for (const key of ["sort-a", "sort-b"]) await gw.ask({ sessionKey: key });
    await gw.rpc("chat.inject", { sessionKey: "sort-a", message: "a note" });
    const keys = async (sortBy: string) =>
      (await gw.rpc<{ sessions: Array<{ key: string }> }>("sessions.list", { search: "sort-", sortBy })).sessions.map((s) =>
        s.key.slice(-1),
      );
    expect(await keys("lastInteractionAt")).toEqual(["b", "a"]);
    expect(await keys("updatedAt")).toEqual(["a", "b"]);
  });
});

describe("sessions.compact", () => {
  const talk = async (key: string, messages: string[]) => {
    for (const message of messages) await gw.ask({ sessionKey: key, message });
  };
  const seen = async (key: string) => {
    const { final } = await gw.ask({ sessionKey: key, message: "now", model: "script/echo" });
    const said = JSON.parse((final.result as { payloads: Array<{ text: string }> }).payloads[0]?.text ?? "{}");
    return said.messages.map(
      (m: { text?: string; content?: Array<{ text: string }> }) => m.text ?? m.content?.map((c) => c.text).join(" + "),
    );
  };

  test("maxLines keeps the newest lines for the model; the transcript stays whole", async () => {
    const client = await gw.client();
    const frames = record(client);
    await client.request("sessions.subscribe", {});
    await talk("lines", ["one", "two", "three"]);

    expect(await gw.rpc("sessions.compact", { key: "lines", maxLines: 2 })).toEqual({
      ok: true,
      key: "agent:main:lines",
      compacted: true,
      kept: 2,
    });

    expect(await seen("lines")).toEqual(["three", "Hello from the script.", "now"]);
    expect((await gw.history("lines")).filter((m) => m.role === "user").map((m) => m.text)).toEqual(["one", "two", "three", "now"]);
    expect(frames.some((f) => f.event === "sessions.changed" && f.payload.reason === "compact")).toBe(true);
    expect(await gw.rpc("sessions.compact", { key: "lines", maxLines: 500 })).toMatchObject({ compacted: false });
  });

  test("without maxLines a model sums up all but the last two turns", async () => {
    await talk("summed", ["one", "two", "three", "four"]);

    expect(await gw.rpc("sessions.compact", { key: "summed" })).toMatchObject({ compacted: true, kept: 4 });
    // A quarter of the characters that stay, and of those of the summary.
    const row = { totalTokens: Math.ceil((9 + 2 * 22) / 4) + Math.ceil(22 / 4) };
    expect(await gw.rpc("sessions.describe", { key: "summed" })).toMatchObject({ session: row });

    expect(await seen("summed")).toEqual([
      "[Summary of the conversation so far]\nHello from the script. + three",
      "Hello from the script.",
      "four",
      "Hello from the script.",
      "now",
    ]);
    expect(await gw.rpc("sessions.describe", { key: "summed" })).toMatchObject({
      session: { inputTokens: 6 * 12, outputTokens: 6 * 5, totalTokens: 17 },
    });
  });

  test("what is short already stays, and a model that fails changes nothing", async () => {
    await talk("short", ["one", "two"]);
    expect(await gw.rpc("sessions.compact", { key: "short" })).toMatchObject({ compacted: false, kept: 4 });
    await talk("short", ["three"]);
    await gw.rpc("sessions.patch", { key: "short", model: "script/refused" });
    await expect(gw.rpc("sessions.compact", { key: "short" })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("its transcript is unchanged"),
    });
    expect(await seen("short")).toHaveLength(7);
    await expect(gw.rpc("sessions.compact", { key: "nowhere" })).rejects.toMatchObject(refused("No session found"));
  });
});

describe("chat.inject", () => {
  test("appends a note that everybody sees and no model wrote", async () => {
    const client = await gw.client();
    const frames = record(client);
    await client.request("sessions.messages.subscribe", { key: "noted" });
    await create({ key: "noted" });

    const { messageId } = await gw.rpc<{ ok: true; messageId: string }>("chat.inject", {
      sessionKey: "noted",
      message: "the door is open",
      label: "Door",
    });

    const text = "[Door]\n\nthe door is open";
    expect(await gw.history("noted")).toMatchObject([{ role: "assistant", text, __svc: { id: messageId, seq: 1, kind: "inject" } }]);
    await client.request("health", {});
    expect(frames.find((f) => f.event === "chat")?.payload).toMatchObject({
      runId: `inject-${messageId}`,
      sessionKey: "agent:main:noted",
      agentId: "main",
      seq: 0,
      state: "final",
      message: { role: "assistant", content: [{ type: "text", text }] },
    });
    expect(frames.find((f) => f.event === "session.message")?.payload).toMatchObject({
      messageId,
      messageSeq: 1,
      session: { lastMessagePreview: "[Door] the door is open" },
    });
  });

  test("needs a session, a text and a label of at most 100 characters", async () => {
    const inject = (params: JsonObject) => gw.rpc("chat.inject", { sessionKey: "noted", message: "x", ...params });
    await expect(inject({ sessionKey: "nowhere" })).rejects.toMatchObject(refused("No session found: agent:main:nowhere"));
    await expect(inject({ message: "" })).rejects.toMatchObject(refused("invalid chat.inject params"));
    expect(await inject({ label: "x".repeat(100) })).toMatchObject({ ok: true });
    await expect(inject({ label: "x".repeat(101) })).rejects.toMatchObject(refused("invalid chat.inject params"));
  });
});
