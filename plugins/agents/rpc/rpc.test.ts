import type { JsonObject } from "svc/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentsGateway, createAgentsGateway, type Frame, outline, record } from "../../../test/fixtures/agents-gateway.ts";

let gw: AgentsGateway;
beforeAll(async () => {
  gw = await createAgentsGateway();
});
afterAll(() => gw.close());

interface List {
  sessions: Array<JsonObject & { key: string }>;
  [key: string]: unknown;
}

const names = (frames: readonly Frame[], event: string) => frames.filter((f) => f.event === event).map((f) => f.payload);

describe("sessions", () => {
  beforeAll(async () => {
    for (const key of ["list-a", "list-b", "agent:echo:list-c"]) await gw.ask({ sessionKey: key, message: `about ${key}` });
  });

  test("are listed newest first, by page, agent and text", async () => {
    const all = await gw.rpc<List>("sessions.list", { search: "LIST-", includeDerivedTitles: true, includeLastMessage: true });
    expect(all.sessions.map((s) => s.key)).toEqual(["agent:echo:list-c", "agent:main:list-b", "agent:main:list-a"]);
    expect(all).toMatchObject({
      count: 3,
      totalCount: 3,
      limitApplied: 100,
      hasMore: false,
      nextOffset: null,
      path: expect.stringMatching(/state\.sqlite$/),
      defaults: { modelProvider: "script", model: "ok" },
    });
    expect(all.sessions[1]).toMatchObject({
      agentId: "main",
      kind: "direct",
      status: "done",
      derivedTitle: "about list-b",
      lastMessagePreview: "Hello from the script.",
    });

    expect(await gw.rpc("sessions.list", { search: "list-", limit: 2 })).toMatchObject({ count: 2, hasMore: true, nextOffset: 2 });
    expect((await gw.rpc<List>("sessions.list", { search: "list-", limit: 2, offset: 2 })).sessions.map((s) => s.key)).toEqual([
      "agent:main:list-a",
    ]);
    expect(await gw.rpc("sessions.list", { search: "list-", agentId: "echo" })).toMatchObject({ totalCount: 1 });
    expect(await gw.rpc("sessions.list", { spawnedBy: "agent:main:main" })).toMatchObject({ totalCount: 0 });
  });

  test("are described by short and full key, null when unknown", async () => {
    expect(await gw.rpc("sessions.describe", { key: "list-a" })).toMatchObject({ session: { key: "agent:main:list-a" } });
    expect(await gw.rpc("sessions.describe", { key: "never" })).toEqual({ session: null });
  });

  test("show their last texts", async () => {
    const { previews } = await gw.rpc<{ previews: JsonObject[] }>("sessions.preview", {
      keys: ["list-a", "never", "agent:zzz:x"],
      limit: 1,
      maxChars: 20,
    });
    expect(previews).toEqual([
      { key: "list-a", status: "ok", items: [{ role: "assistant", text: "Hello from the scri…" }] },
      { key: "never", status: "missing", items: [] },
      { key: "agent:zzz:x", status: "error", items: [] },
    ]);
    await gw.rpc("sessions.reset", { key: "list-a" });
    expect((await gw.rpc<{ previews: JsonObject[] }>("sessions.preview", { keys: ["list-a"] })).previews[0]).toMatchObject({
      status: "empty",
    });
  });

  test("take overrides, and null takes them back", async () => {
    const patched = await gw.rpc<JsonObject>("sessions.patch", {
      key: "list-b",
      label: "Home",
      pinned: true,
      model: "script/echo",
      thinkingLevel: "high",
    });
    expect(patched).toMatchObject({
      ok: true,
      key: "agent:main:list-b",
      entry: { label: "Home", pinned: true, model: "script/echo", thinkingLevel: "high", modelProvider: "script" },
      resolved: { modelProvider: "script", model: "echo", thinkingLevel: "high" },
    });
    const { final } = await gw.ask({ sessionKey: "list-b" });
    expect(final).toMatchObject({ result: { meta: { agentMeta: { model: "echo" } } } });
    expect(JSON.stringify(final)).toContain('\\"thinking\\":\\"high\\"');

    const cleared = await gw.rpc<{ entry: JsonObject }>("sessions.patch", {
      key: "list-b",
      label: null,
      pinned: null,
      model: null,
      thinkingLevel: null,
    });
    expect(cleared.entry).toMatchObject({ pinned: false });
    for (const field of ["label", "model", "thinkingLevel"]) expect(cleared.entry).not.toHaveProperty(field);
  });

  test.each<[string, JsonObject, string]>([
    ["an unknown model", { key: "list-b", model: "script/nope" }, "INVALID_MODEL"],
    ["a stale transcript", { key: "list-b", label: "x", expectedSessionId: "old" }, "session-changed"],
  ])("a patch with %s changes nothing", async (_name, params, detail) => {
    const before = await gw.rpc<{ session: JsonObject }>("sessions.describe", { key: "list-b" });
    await expect(gw.rpc("sessions.patch", params)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    const error = await gw.rpc("sessions.patch", params).catch((e: { details: JsonObject }) => e.details);
    expect(Object.values(error as JsonObject)).toContain(detail);
    expect((await gw.rpc<{ session: JsonObject }>("sessions.describe", { key: "list-b" })).session.updatedAt).toBe(
      before.session.updatedAt,
    );
  });

  test("a label belongs to one session of an agent", async () => {
    await gw.rpc("sessions.patch", { key: "list-b", label: "Only one" });
    await expect(gw.rpc("sessions.patch", { key: "list-a", label: "Only one" })).rejects.toMatchObject({
      message: expect.stringContaining("already used"),
    });
    await expect(gw.rpc("sessions.patch", { key: "never", label: "x" })).rejects.toMatchObject({
      message: "No session found: agent:main:never",
    });
  });

  test("are reset and deleted, guarded by expectedSessionId", async () => {
    await gw.ask({ sessionKey: "gone" });
    const { sessionId } = await gw.rpc<{ sessionId: string }>("chat.history", { sessionKey: "gone" });
    const stale = { code: "INVALID_REQUEST", details: { reason: "session-changed" } };
    for (const method of ["sessions.reset", "sessions.delete"]) {
      await expect(gw.rpc(method, { key: "gone", expectedSessionId: "old" })).rejects.toMatchObject(stale);
    }

    expect(await gw.rpc("sessions.delete", { key: "gone", expectedSessionId: sessionId, deleteTranscript: false })).toEqual({
      ok: true,
      key: "agent:main:gone",
      deleted: true,
      archived: [sessionId],
    });
    expect(await gw.rpc("sessions.delete", { key: "gone" })).toMatchObject({ deleted: false, archived: [] });
    await expect(gw.rpc("sessions.delete", { key: "main" })).rejects.toMatchObject({
      message: "Cannot delete the main session (agent:main:main).",
    });
    await expect(gw.rpc("sessions.reset", { key: "never" })).rejects.toMatchObject({ message: "No session found: agent:main:never" });
  });

  test("deleting one at work stops its run first", async () => {
    await gw.rpc("chat.send", { sessionKey: "agent:hang:gone", message: "hi", idempotencyKey: "gone-1" });
    await gw.waiting();
    const { sessionId } = await gw.rpc<{ sessionId: string }>("chat.history", { sessionKey: "agent:hang:gone" });

    expect(await gw.rpc("sessions.delete", { key: "agent:hang:gone" })).toMatchObject({ deleted: true });

    expect(await gw.rpc("agent.wait", { runId: "gone-1" })).toMatchObject({ status: "error", stopReason: "rpc" });
    expect(await gw.rpc("sessions.describe", { key: "agent:hang:gone" })).toEqual({ session: null });
    expect(await gw.service("store@2").messages.count(sessionId)).toBe(0);
  });
});

describe("history", () => {
  test("pages from the newest to the oldest", async () => {
    for (const message of ["one", "two", "three"]) await gw.ask({ sessionKey: "pages", message });
    const page = async (params: JsonObject) => {
      const { messages, ...rest } = await gw.rpc<{ messages: Array<{ __svc: { seq: number } }> }>("chat.history", {
        sessionKey: "pages",
        ...params,
      });
      return { seqs: messages.map((m) => m.__svc.seq), ...rest } as JsonObject;
    };

    expect(await page({ limit: 4 })).toMatchObject({ seqs: [3, 4, 5, 6], hasMore: true, nextOffset: 4, totalMessages: 6 });
    const rest = await page({ limit: 4, offset: 4 });
    expect(rest).toMatchObject({ seqs: [1, 2], hasMore: false });
    expect(rest).not.toHaveProperty("nextOffset");
    expect(await page({ offset: 99 })).toMatchObject({ seqs: [], hasMore: false });
  });

  test("cuts long texts and knows no unknown session", async () => {
    await gw.ask({ sessionKey: "cut-texts", message: "x".repeat(50) });
    const { messages } = await gw.rpc<{ messages: Array<{ content: unknown }> }>("chat.history", { sessionKey: "cut-texts", maxChars: 10 });
    expect(messages[0]?.content).toEqual([{ type: "text", text: "xxxxxxxxx…" }]);
    expect(await gw.rpc("chat.history", { sessionKey: "never" })).toMatchObject({ messages: [], hasMore: false, totalMessages: 0 });
  });

  test("tells of the run at work, so that a client can adopt it", async () => {
    await gw.rpc("chat.send", { sessionKey: "agent:held:adopt", message: "hi", idempotencyKey: "adopt" });
    await gw.waiting();

    expect(await gw.rpc("chat.history", { sessionKey: "agent:held:adopt" })).toMatchObject({
      inFlightRun: { runId: "adopt", text: "one ", startedAt: expect.any(Number) },
      sessionInfo: { hasActiveRun: true },
    });

    await gw.release();
    await gw.rpc("agent.wait", { runId: "adopt" });
    expect(await gw.rpc("chat.history", { sessionKey: "agent:held:adopt" })).not.toHaveProperty("inFlightRun");
  });

  test("of a picture message keeps the picture", async () => {
    await gw.rpc("chat.send", {
      sessionKey: "picture",
      message: "",
      idempotencyKey: "picture",
      attachments: [{ type: "image", mimeType: "image/png", content: "aGk=" }],
    });
    await gw.rpc("agent.wait", { runId: "picture" });
    expect((await gw.history("picture"))[0]?.content).toEqual([{ type: "image", mimeType: "image/png", data: "aGk=" }]);
    await expect(gw.rpc("chat.send", { sessionKey: "picture", message: "", idempotencyKey: "nothing" })).rejects.toMatchObject({
      message: "message or attachment required",
    });
  });
});

describe("subscriptions", () => {
  test("sessions.changed follows sessions.subscribe, until it ends", async () => {
    const client = await gw.client();
    const frames = record(client);
    await gw.ask({ sessionKey: "sub" }, client);
    expect(names(frames, "sessions.changed")).toEqual([]);

    expect(await client.request("sessions.subscribe", {})).toEqual({ subscribed: true });
    expect(await client.request("sessions.subscribe", { limit: 1 })).toMatchObject({ subscribed: true, list: { count: 1 } });
    await gw.ask({ sessionKey: "sub", idempotencyKey: "sub-2" }, client);
    await client.request("sessions.reset", { key: "sub" });
    await client.request("sessions.delete", { key: "sub" });

    const changes = names(frames, "sessions.changed").map(({ reason, phase, runId }) => [reason ?? phase, runId]);
    expect(changes).toEqual([
      ["send", "sub-2"],
      ["start", "sub-2"],
      ["end", "sub-2"],
      ["reset", undefined],
      ["delete", undefined],
    ]);
    expect(names(frames, "sessions.changed")[0]).toMatchObject({
      sessionKey: "agent:main:sub",
      agentId: "main",
      session: { status: "queued", hasActiveRun: true },
    });
    expect(names(frames, "sessions.changed").at(-1)).not.toHaveProperty("session");

    await client.request("sessions.unsubscribe", {});
    await gw.ask({ sessionKey: "sub" }, client);
    expect(names(frames, "sessions.changed")).toHaveLength(5);
  });

  test("session.message and session.tool follow one session", async () => {
    const [starter, watcher] = [await gw.client(), await gw.client()];
    const [own, watched] = [record(starter), record(watcher)];
    for (const c of [starter, watcher]) {
      expect(await c.request("sessions.messages.subscribe", { key: "watched" })).toEqual({ subscribed: true, key: "agent:main:watched" });
    }

    await gw.ask({ sessionKey: "watched", model: "script/tool" }, starter);
    await gw.ask({ sessionKey: "unwatched" }, starter);
    await watcher.request("health", {});

    const messages = names(watched, "session.message");
    expect(messages.map((m) => [(m.message as JsonObject).role, m.messageSeq])).toEqual([
      ["user", 1],
      ["assistant", 2],
      ["assistant", 4],
    ]);
    expect(messages[0]).toMatchObject({ sessionKey: "agent:main:watched", session: { hasActiveRun: true } });
    expect(names(watched, "session.tool").map((t) => (t.data as JsonObject).phase)).toEqual(["start", "result"]);
    // The one that started the run has the same as `agent` events.
    expect(names(own, "session.tool")).toEqual([]);

    await watcher.request("sessions.messages.unsubscribe", { key: "watched" });
    await gw.ask({ sessionKey: "watched" }, starter);
    expect(names(watched, "session.message")).toHaveLength(3);
  });

  test("a connection with session-scoped events hears of its own sessions only", async () => {
    const scoped = await gw.client({ caps: ["session-scoped-events"] });
    const frames = record(scoped);
    await scoped.request("sessions.messages.subscribe", { key: "near" });

    await gw.ask({ sessionKey: "near", idempotencyKey: "near-1" });
    await gw.ask({ sessionKey: "far", idempotencyKey: "far-1" });
    await scoped.request("health", {});

    expect(outline(frames, "near-1")).toContain("chat final");
    expect(outline(frames, "far-1")).toEqual([]);
  });

  test("somebody without operator.read hears nothing of a run", async () => {
    const deaf = await gw.client({ scopes: ["operator.approvals"] });
    const frames = record(deaf);
    await gw.ask({ sessionKey: "private", idempotencyKey: "private-1" });
    await expect(deaf.request("chat.history", { sessionKey: "private" })).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(outline(frames, "private-1")).toEqual([]);
  });
});

describe("agents and models", () => {
  test("agents.list and agent.identity.get", async () => {
    const list = await gw.rpc<{ agents: JsonObject[] }>("agents.list");
    expect(list).toMatchObject({ defaultId: "main", mainKey: "main", scope: "per-sender" });
    expect(list.agents[0]).toEqual({
      id: "main",
      name: "Main",
      identity: {},
      workspace: expect.stringMatching(/workspace$/),
      model: { primary: "script/ok" },
    });
    expect(await gw.rpc("agent.identity.get", {})).toEqual({ agentId: "main", name: "Main" });
    expect(await gw.rpc("agent.identity.get", { sessionKey: "agent:echo:x" })).toEqual({ agentId: "echo", name: "echo" });
    await expect(gw.rpc("agent.identity.get", { agentId: "zzz" })).rejects.toMatchObject({ details: { code: "UNKNOWN_AGENT_ID" } });
  });

  test("models.list", async () => {
    const { models } = await gw.rpc<{ models: JsonObject[] }>("models.list");
    expect(models[0]).toEqual({
      id: "ok",
      name: "Script ok",
      provider: "script",
      tags: ["default"],
      available: true,
      contextWindow: 8_000,
    });
    const configured = await gw.rpc<{ models: JsonObject[] }>("models.list", { view: "configured", agentId: "echo" });
    expect(configured.models.map((m) => m.id)).toEqual(["echo"]);
    expect(await gw.rpc("models.list", { provider: "nobody" })).toEqual({ models: [] });
  });
});

test("an allow-list, aliases and a tool policy are honoured", async () => {
  const strict = await createAgentsGateway({
    config: {
      agents: { defaults: { models: { "script/echo": { alias: "mirror" } } }, list: [{ id: "main", tools: { deny: ["wait_*"] } }] },
      tools: { profile: "minimal", allow: ["say_back", "wait_here"] },
    },
  });
  try {
    const { final } = await strict.ask({ model: "mirror" });
    expect(JSON.parse((final.result as { payloads: Array<{ text: string }> }).payloads[0]?.text ?? "{}").tools).toEqual(["say_back"]);
    await expect(strict.ask({ model: "script/hang" })).rejects.toMatchObject({
      message: "Model 'script/hang' is not allowed for agent 'main'.",
      details: { code: "MODEL_NOT_ALLOWED" },
    });
    expect((await strict.rpc<{ models: JsonObject[] }>("models.list")).models.map((m) => [m.id, m.alias])).toEqual([
      ["ok", undefined],
      ["echo", "mirror"],
    ]);
  } finally {
    await strict.close();
  }
});

test("a gateway that stops takes no new run, but waits for those at work", async () => {
  const stopping = await createAgentsGateway();
  const client = await stopping.client();
  const asking = stopping.ask({ agentId: "held", idempotencyKey: "last" }, client);
  await stopping.waiting();

  const stopped = stopping.gateway.close("test");
  const late = (key: string) => client.request("chat.send", { sessionKey: "late", message: "hi", idempotencyKey: key });
  await expect.poll(() => late(crypto.randomUUID()).then(String, (e: { details?: JsonObject }) => e.details?.code)).toBe("DRAINING");
  await client.request("model-script.release", {});

  expect((await asking).final).toMatchObject({ runId: "last", status: "ok" });
  await stopped;
  await stopping.close();
});
