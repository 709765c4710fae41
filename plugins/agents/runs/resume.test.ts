import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunRequest } from "svc/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentsGateway, createAgentsGateway, eventually } from "../../../test/fixtures/agents-gateway.ts";

/** Runs of webhooks: the end of the gateway may cut one off, and its delivery asks for it again. */

let stateDir: string;
let gw: AgentsGateway;

const config = { gateway: { shutdown: { drainMs: 50 } } };

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "svc-resume-"));
  gw = await createAgentsGateway({ stateDir, config });
}, 120_000);
afterAll(async () => {
  await gw.close();
  await rm(stateDir, { recursive: true, force: true });
});

async function restart(): Promise<void> {
  await gw.close();
  gw = await createAgentsGateway({ stateDir, config });
}

function hookRun(changes: Partial<RunRequest> = {}): RunRequest {
  return { message: "from outside", trigger: "hook", lane: "hooks", resume: true, actor: { kind: "hook", scopes: [] }, ...changes };
}

const run = (changes: Partial<RunRequest>) => gw.service("agents@1").run(hookRun(changes));
const texts = async (key: string) => (await gw.history(key)).map(({ role, text }) => `${role}: ${text}`);

describe("a run that the end of the gateway cut off", () => {
  test("runs again under its id and in its transcript, with its message once and nothing doubled", async () => {
    const sessionKey = "agent:held:hook:one";
    const first = await run({ runId: "cut", agentId: "held", sessionKey, transcript: "fresh" });
    await gw.waiting();

    await restart();
    expect(await texts(sessionKey)).toEqual(["user: from outside"]);
    const again = await run({ runId: "cut", agentId: "held", sessionKey, transcript: "fresh" });
    await gw.waiting();
    await gw.release();

    expect(again).toMatchObject({ runId: "cut", sessionId: first.sessionId, sessionKey, state: "started", acceptedAt: first.acceptedAt });
    expect(await again.done).toMatchObject({ status: "ok", text: "one two" });
    expect(await texts(sessionKey)).toEqual(["user: from outside", "assistant: one two"]);
    expect(await gw.service("store@2").sessions.get(sessionKey)).toMatchObject({ status: "done", sessionId: first.sessionId });
    expect(await gw.service("store@2").runs.get("cut")).toMatchObject({ state: "ok" });
  });

  test("goes on behind the tools that have run already", async () => {
    const asked = { runId: "tools", agentId: "look", sessionKey: "agent:look:hook:tools" };
    const first = await run(asked);
    await gw.waiting();
    // The call is stored, its result is not.
    await eventually(async () => (await gw.history(asked.sessionKey)).length === 2);
    await restart();

    const again = await run(asked);
    const outcome = await again.done;

    expect(again.sessionId).toBe(first.sessionId);
    expect(outcome.text).toContain("interrupted: the run ended before this call's result was stored; it may have had its effect");
    expect((await gw.history(asked.sessionKey)).filter(({ role }) => role === "user")).toHaveLength(1);
  });

  test("is found in its transcript, whatever came after its message", async () => {
    const asked = { runId: "large", agentId: "held", sessionKey: "agent:held:hook:large" };
    const { sessionId } = await run(asked);
    await gw.waiting();
    await restart();
    // Larger than a page.
    const content = [{ type: "text" as const, text: "x".repeat(9 * 1024 * 1024) }];
    await gw
      .service("store@2")
      .commit([{ op: "message.append", message: { id: "late", sessionId, ts: Date.now(), role: "user", content } }]);

    const again = await run(asked);
    await gw.waiting();
    await gw.release();
    expect(await again.done).toMatchObject({ status: "ok" });
    expect((await texts(asked.sessionKey)).filter((text) => text === "user: from outside")).toHaveLength(1);
  });

  test("that still waited for its place runs, too", async () => {
    for (const id of ["a", "b", "c"]) await run({ runId: id, agentId: "held", sessionKey: `agent:held:hook:${id}` });
    await gw.waiting(2);
    await restart();

    const again = await run({ runId: "c", agentId: "held", sessionKey: "agent:held:hook:c" });
    await gw.waiting();
    await gw.release();
    expect(await again.done).toMatchObject({ status: "ok" });
  });

  test("stays what it is for a caller that does not ask to go on with it", async () => {
    await run({ runId: "left", agentId: "held", sessionKey: "agent:held:hook:left" });
    await gw.waiting();
    await restart();

    const { resume: _, ...plain } = hookRun({ runId: "left", agentId: "held", sessionKey: "agent:held:hook:left" });
    const handle = await gw.service("agents@1").run(plain);
    expect(handle.state).toBe("finished");
    expect(await handle.done).toMatchObject({ status: "error", code: "INTERRUPTED" });
  });

  test("begins anew when its transcript was deleted meanwhile", async () => {
    const sessionKey = "agent:held:hook:gone";
    await run({ runId: "gone", agentId: "held", sessionKey });
    await gw.waiting();
    await restart();
    await gw.rpc("sessions.delete", { key: sessionKey, deleteTranscript: true });

    const again = await run({ runId: "gone", agentId: "held", sessionKey });
    await gw.waiting();
    await gw.release();
    expect(await again.done).toMatchObject({ status: "ok" });
    expect(await texts(sessionKey)).toEqual(["user: from outside", "assistant: one two"]);
  });

  test("writes to the transcript it began with when the session has a newer one", async () => {
    const sessionKey = "agent:held:hook:moved";
    const first = await run({ runId: "moved", agentId: "held", sessionKey });
    await gw.waiting();
    await restart();
    await gw.rpc("sessions.reset", { key: sessionKey });

    const again = await run({ runId: "moved", agentId: "held", sessionKey });
    await gw.waiting();
    await gw.release();
    expect(await again.done).toMatchObject({ status: "ok" });
    expect(await texts(sessionKey)).toEqual([]);
    const kept = await gw.service("store@2").messages.page(first.sessionId, { limit: 10 });
    expect(kept.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  test("asked for eight times at once runs once", async () => {
    const sessionKey = "agent:held:hook:many";
    await run({ runId: "many", agentId: "held", sessionKey });
    await gw.waiting();
    await restart();

    const handles = await Promise.all(Array.from({ length: 8 }, () => run({ runId: "many", agentId: "held", sessionKey })));
    await gw.waiting(1);
    await gw.release();
    expect(handles.map(({ state }) => state).sort()).toEqual([...Array(7).fill("in_flight"), "started"]);
    await Promise.all(handles.map(({ done }) => done));
    expect(await texts(sessionKey)).toEqual(["user: from outside", "assistant: one two"]);
  });
});

test.each([
  ["ok", "script/ok", "ok"],
  ["a fault", "script/refused", "error"],
])("a run that has ended with %s is told again and never runs again", async (name, model, status) => {
  const runId = `ended ${name}`;
  const first = await (await run({ runId, model, sessionKey: "agent:main:hook:ended" })).done;
  const before = await texts("agent:main:hook:ended");

  const again = await run({ runId, model: "script/ok", sessionKey: "agent:main:hook:ended" });
  expect(again.state).toBe("finished");
  expect(await again.done).toMatchObject({ status, text: first.text });
  expect(await texts("agent:main:hook:ended")).toEqual(before);
});

describe("a run with a fresh transcript", () => {
  test("begins one in the commit of its message, for a session that is there and for one that is not", async () => {
    const first = await run({ sessionKey: "agent:main:hook:fresh", transcript: "fresh" });
    await first.done;
    const second = await run({ sessionKey: "agent:main:hook:fresh", transcript: "fresh" });
    await second.done;
    const third = await run({ sessionKey: "agent:main:hook:fresh" });
    await third.done;

    expect(second.sessionId).not.toBe(first.sessionId);
    expect(third.sessionId).toBe(second.sessionId);
    expect(await texts("agent:main:hook:fresh")).toHaveLength(4);
    expect(await gw.service("store@2").messages.count(first.sessionId)).toBe(2);
  });
});

describe("the lane of webhooks", () => {
  test("has two places, and leaves those of people alone", async () => {
    for (const n of [1, 2, 3]) await run({ runId: `lane-${n}`, agentId: "held", sessionKey: `agent:held:hook:lane-${n}` });
    await gw.waiting(2);
    await gw.ask({ agentId: "main", message: "hi" });

    expect(await gw.service("store@2").runs.get("lane-3")).toMatchObject({ state: "queued" });
    await gw.release();
    await gw.waiting(1);
    await gw.release();
  });

  test("is no sign of a person: the session's last interaction stays", async () => {
    await (await run({ sessionKey: "agent:main:hook:quiet" })).done;
    expect((await gw.service("store@2").sessions.get("agent:main:hook:quiet"))?.lastInteractionAt).toBeUndefined();
  });
});

describe("the frame around external text", () => {
  const framed =
    'SECURITY NOTICE: none\n\n<<<EXTERNAL_UNTRUSTED_CONTENT id="9f2c4e1ab07d3356">>>\nSource: Webhook\nTask: CI\n---\nbuild 7 failed\n<<<END_EXTERNAL_UNTRUSTED_CONTENT id="9f2c4e1ab07d3356">>>';

  test("is read by the model and not shown", async () => {
    const sessionKey = "agent:echo:hook:frame";
    const outcome = await (await run({ runId: "framed", agentId: "echo", sessionKey, message: framed })).done;

    const { messages, sessions } = gw.service("store@2");
    const rows = await messages.page((await sessions.get(sessionKey))?.sessionId ?? "", { limit: 10 });
    // The model repeats what it got, and the transcript keeps that.
    expect(JSON.stringify(rows.at(-1))).toContain("EXTERNAL_UNTRUSTED_CONTENT");
    expect(outcome.text).toContain("build 7 failed");
    expect(outcome.text).not.toContain("UNTRUSTED_CONTENT");
    const shown = JSON.stringify(await gw.rpc("chat.history", { sessionKey }));
    expect(shown).toContain("build 7 failed");
    expect(shown).not.toContain("UNTRUSTED_CONTENT");
    const { session } = await gw.rpc<{ session: { derivedTitle?: string } }>("sessions.describe", { key: sessionKey });
    expect(session.derivedTitle).not.toContain("UNTRUSTED");
  });
});

describe("the model of a caller", () => {
  test("is told in full", async () => {
    const agents = gw.service("agents@1");
    expect(await agents.checkModel({ model: "script/echo" })).toBe("script/echo");
    expect(await agents.checkModel({ agentId: "held", model: "echo" })).toBe("script/echo");
    await expect(agents.checkModel({ model: "script/none" })).rejects.toMatchObject({ code: "invalid-model" });
    await expect(agents.checkModel({ agentId: "nobody", model: "echo" })).rejects.toMatchObject({ code: "unknown-agent" });
  });
});
