import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "svc/sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AgentsGateway, createAgentsGateway, record } from "../../../test/fixtures/agents-gateway.ts";

let stateDir: string;
let gw: AgentsGateway;

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "svc-replay-"));
  gw = await createAgentsGateway({ stateDir });
});
afterEach(async () => {
  await gw.close();
  await rm(stateDir, { recursive: true, force: true });
});

/** Another process on the same state directory. */
async function restart(): Promise<void> {
  await gw.close();
  gw = await createAgentsGateway({ stateDir });
}

/** The answer as the wire carries it, failed or not. */
async function answer(method: string, params: JsonObject): Promise<JsonObject> {
  return gw
    .rpc<JsonObject>(method, { message: "hi", ...params })
    .catch((e: { code: string; message: string; details: unknown; payload: unknown }) => ({
      error: { code: e.code, message: e.message, details: e.details },
      payload: e.payload,
    }));
}

async function ask(params: JsonObject): Promise<JsonObject> {
  return gw.ask(params).then(
    (r) => r.final,
    (e: { code: string; message: string; details: unknown; payload: unknown }) => ({
      error: { code: e.code, message: e.message, details: e.details },
      payload: e.payload,
    }),
  );
}

describe("the same key", () => {
  test("while the run is at work answers in_flight and starts nothing", async () => {
    const asking = gw.ask({ agentId: "held", idempotencyKey: "one" });
    await gw.waiting();

    const ids = { runId: "one", status: "in_flight" };
    expect(await answer("agent", { agentId: "held", idempotencyKey: "one" })).toEqual({
      ...ids,
      sessionKey: "agent:held:main",
      agentId: "held",
    });
    expect(await answer("chat.send", { sessionKey: "agent:held:main", idempotencyKey: "one" })).toEqual(ids);

    await gw.waiting(1);
    await gw.release();
    await asking;
    expect(await gw.history("agent:held:main")).toHaveLength(2);
  });

  test("who asks again joins the run and sees its tools", async () => {
    const asking = gw.ask({ agentId: "slow-tool", idempotencyKey: "join" });
    await gw.waiting();
    const second = await gw.client();
    const frames = record(second);

    await second.request("agent" as string, { message: "hi", agentId: "slow-tool", idempotencyKey: "join" });
    await gw.release();
    await asking;
    await second.request("health", {});

    expect(frames.filter((f) => f.payload.stream === "tool").map((f) => (f.payload.data as JsonObject).phase)).toEqual(["result"]);
  });

  test("eight times at once is one run", async () => {
    const clients = await Promise.all(Array.from({ length: 8 }, () => gw.client()));

    const answers = await Promise.all(
      clients.map((c) => c.request("chat.send", { sessionKey: "burst", message: "hi", idempotencyKey: "burst-1" }) as Promise<JsonObject>),
    );

    expect(answers.filter((a) => a.status === "started")).toHaveLength(1);
    expect(new Set(answers.map((a) => a.runId))).toEqual(new Set(["burst-1"]));
    expect(await gw.rpc("agent.wait", { runId: "burst-1" })).toMatchObject({ status: "ok" });
    expect(await gw.history("burst")).toHaveLength(2);
  });

  test("afterwards answers the stored final, word for word, also after a restart", async () => {
    const first = await ask({ idempotencyKey: "done" });

    expect(await ask({ idempotencyKey: "done", message: "something else" })).toEqual(first);
    await restart();
    expect(await ask({ idempotencyKey: "done" })).toEqual(first);
    expect(await answer("chat.send", { sessionKey: "main", idempotencyKey: "done" })).toEqual({ runId: "done", status: "ok" });
    expect(await gw.rpc("agent.wait", { runId: "done" })).toMatchObject({ status: "ok", stopReason: "stop" });
    expect(await gw.history("main")).toHaveLength(2);
  });

  test("a failed run is repeated as a failure, also after a restart", async () => {
    const first = await ask({ idempotencyKey: "bad", model: "script/refused" });
    expect(first).toMatchObject({ error: { code: "UNAVAILABLE" }, payload: { runId: "bad", status: "error" } });

    expect(await ask({ idempotencyKey: "bad" })).toEqual(first);
    await restart();
    expect(await ask({ idempotencyKey: "bad" })).toEqual(first);
    expect(await answer("chat.send", { sessionKey: "main", idempotencyKey: "bad" })).toEqual(first);
  });

  test("a refusal is not stored: the mended request runs", async () => {
    expect(await ask({ idempotencyKey: "mended", model: "script/none" })).toMatchObject({ error: { details: { code: "INVALID_MODEL" } } });
    expect(await ask({ idempotencyKey: "mended" })).toMatchObject({ status: "ok" });
  });
});

describe("a process that ends in the middle of a run", () => {
  /** Stores what a kill leaves behind: queued and running rows of an earlier boot. */
  async function leaveBehind(): Promise<void> {
    const store = gw.service("store@2");
    const now = Date.now();
    const session = {
      key: "agent:main:cut",
      sessionId: "cut-session",
      agentId: "main",
      kind: "direct" as const,
      createdAt: now,
      updatedAt: now,
      sessionStartedAt: now,
      status: "running" as const,
      lastRunId: "cut-1",
      inputTokens: 0,
      outputTokens: 0,
      totalTokens: 0,
      archived: false,
      pinned: false,
      unread: false,
    };
    const run = {
      sessionKey: session.key,
      sessionId: session.sessionId,
      agentId: "main",
      trigger: "user",
      bootId: "earlier",
      createdAt: now,
    };
    await store.commit([
      { op: "session.put", session },
      ...["cut-1", "cut-2"].map((runId) => ({
        op: "message.append" as const,
        message: {
          id: `m-${runId}`,
          sessionId: session.sessionId,
          ts: now,
          role: "user" as const,
          content: [{ type: "text" as const, text: runId }],
          runId,
        },
      })),
      { op: "run.put", run: { ...run, runId: "cut-1", state: "running", startedAt: now } },
      { op: "run.put", run: { ...run, runId: "cut-2", state: "queued" } },
    ]);
  }

  test("leaves its messages once and its runs interrupted; a replay starts nothing", async () => {
    await leaveBehind();
    await restart();

    expect((await gw.history("agent:main:cut")).map((m) => m.text)).toEqual(["cut-1", "cut-2"]);
    expect(await gw.rpc("sessions.describe", { key: "agent:main:cut" })).toMatchObject({
      session: { status: "interrupted", hasActiveRun: false },
    });
    for (const runId of ["cut-1", "cut-2"]) {
      const interrupted = { error: { code: "UNAVAILABLE", details: { code: "INTERRUPTED" } }, payload: { runId, status: "error" } };
      expect(await ask({ idempotencyKey: runId, sessionKey: "agent:main:cut" })).toMatchObject(interrupted);
      expect(await answer("chat.send", { idempotencyKey: runId, sessionKey: "agent:main:cut" })).toMatchObject(interrupted);
      expect(await gw.rpc("agent.wait", { runId })).toMatchObject({ runId, status: "error", code: "INTERRUPTED" });
    }
    expect(await gw.history("agent:main:cut")).toHaveLength(2);
    expect(await gw.service("store@2").runs.unfinished()).toEqual([]);
  });

  test("does not stop the session: the next message is answered", async () => {
    await leaveBehind();
    await restart();

    await gw.ask({ sessionKey: "agent:main:cut", message: "again" });

    expect((await gw.history("agent:main:cut")).map((m) => m.text)).toEqual(["cut-1", "cut-2", "again", "Hello from the script."]);
  });
});

test("a graceful stop marks what it cuts off as interrupted and keeps its text", async () => {
  await gw.close();
  gw = await createAgentsGateway({ stateDir, config: { gateway: { shutdown: { drainMs: 50 } } } });
  await gw.rpc("chat.send", { sessionKey: "agent:hang:main", message: "hi", idempotencyKey: "cut-off" });
  await gw.waiting();

  await restart();

  expect(await gw.history("agent:hang:main")).toMatchObject([{ role: "user" }, { role: "assistant", text: "partial ", aborted: true }]);
  expect(await ask({ idempotencyKey: "cut-off" })).toMatchObject({
    error: { details: { code: "INTERRUPTED" } },
    payload: { runId: "cut-off" },
  });
  expect(await gw.rpc("sessions.describe", { key: "agent:hang:main" })).toMatchObject({ session: { status: "interrupted" } });
});
