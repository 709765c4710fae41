import type { JsonObject } from "svc/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AgentsGateway, createAgentsGateway, eventually } from "../../../test/fixtures/agents-gateway.ts";

let gw: AgentsGateway;
beforeAll(async () => {
  gw = await createAgentsGateway({ probe: true });
});
afterAll(() => gw.close());

async function seen(hook: string, sessionKey: string): Promise<JsonObject[]> {
  const all = await gw.rpc<{ seen: Array<{ hook: string; event: JsonObject }> }>("hook-probe.seen");
  return all.seen.filter((s) => s.hook === hook && s.event.sessionKey === sessionKey).map((s) => s.event);
}

test("prompt.build adds to the prompt and can only narrow the tools", async () => {
  const { final } = await gw.ask({ model: "script/echo" });
  const { system, tools } = JSON.parse((final.result as { payloads: Array<{ text: string }> }).payloads[0]?.text ?? "{}");
  expect(system).toContain("PROBE WAS HERE");
  expect(tools).toEqual(["say_back", "wait_here"]);
});

test("agent.before can refuse a run; the message stays in the transcript", async () => {
  await expect(gw.ask({ sessionKey: "gate", message: "a forbidden thing" })).rejects.toMatchObject({
    message: expect.stringContaining("forbidden word"),
    details: { code: "BLOCKED" },
  });
  expect(await gw.history("gate")).toMatchObject([{ role: "user", text: "a forbidden thing" }]);
  expect(await seen("agent.before", "agent:main:gate")).toMatchObject([{ prompt: "a forbidden thing", trigger: "user", agentId: "main" }]);
});

test("tool.before can refuse a call; the model is told and the run goes on", async () => {
  const { final } = await gw.ask({ sessionKey: "no-tools", model: "script/tool" });
  expect(JSON.stringify(final)).toContain("say_back was blocked: no tools here");
  expect(await seen("tool.after", "agent:main:no-tools")).toEqual([]);
});

test("tool.after and agent.end tell how it went", async () => {
  await gw.ask({ sessionKey: "after", model: "script/tool", idempotencyKey: "after-1" });

  const key = "agent:main:after";
  expect(await seen("tool.before", key)).toMatchObject([{ runId: "after-1", tool: "say_back", args: { text: "ping" } }]);
  expect(await eventually(() => seen("tool.after", key))).toMatchObject([{ runId: "after-1", tool: "say_back", ok: true }]);
  const ended = await eventually(async () => (await seen("agent.end", key))[0]);
  expect(ended).toMatchObject({ runId: "after-1", status: "ok", usage: { total: 34 } });
});

test("session.start and session.reset tell of new transcripts", async () => {
  const key = "agent:main:life";
  await gw.ask({ sessionKey: "life" });
  await gw.ask({ sessionKey: "life" });
  await gw.rpc("sessions.reset", { key: "life" });
  await gw.ask({ sessionKey: "life", message: "/new talk" });

  const started = await eventually(async () => {
    const events = await seen("session.start", key);
    return events.length === 3 ? events : undefined;
  });
  expect(new Set(started.map((e) => e.sessionId)).size).toBe(3);
  expect((await seen("session.reset", key)).map((e) => e.reason)).toEqual(["reset", "new"]);
});

test("session.compact tells what models read before and after a compaction", async () => {
  const key = "agent:main:compacted";
  for (const message of ["one", "two", "three"]) await gw.ask({ sessionKey: key, message });

  await gw.rpc("sessions.compact", { key, maxLines: 2 });

  const told = await eventually(async () => {
    const events = await seen("session.compact", key);
    return events.length === 2 ? events : undefined;
  });
  expect(told.map((e) => e.phase)).toEqual(["before", "after"]);
  expect(Number(told[1]?.tokens)).toBeLessThan(Number(told[0]?.tokens));
});
