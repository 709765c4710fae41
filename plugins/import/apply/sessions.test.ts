import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SessionStep } from "../plan/import-plan.ts";
import type { LeftOut } from "../plan/left-out.ts";
import { type PlannedSession, toSession } from "../plan/to-session.ts";
import { importSession } from "./sessions.ts";

let gw: TestGateway;
beforeAll(async () => {
  gw = await createTestGateway({ plugins: ["store"] });
});
afterAll(() => gw.close());

const store = () => gw.service("store@2");
const ids = {
  one: "11111111-1111-4111-8111-111111111111",
  two: "22222222-2222-4222-8222-222222222222",
  other: "33333333-3333-4333-8333-333333333333",
};

/** A conversation of 450 messages, which ends the import in its place when `stopAt` is reached. */
function stepOf(key: string, id: string, stopAt = Number.POSITIVE_INFINITY): SessionStep {
  const place = { agentId: "main", agents: new Set(["main"]), mainKey: "main", now: 9_000 };
  const planned = toSession(key, { sessionId: id, updatedAt: 5 }, place) as PlannedSession;
  async function* messages(sessionId: string) {
    for (let i = 1; i <= 450; i++) {
      if (i === stopAt) throw new Error("the disk is gone");
      const [role, text] = i % 2 === 1 ? (["user", `question ${i}`] as const) : (["assistant", `answer ${i}`] as const);
      yield { id: `m${i}`, sessionId, ts: i, role, content: [{ type: "text" as const, text }] };
    }
  }
  return { ...planned, path: "t.jsonl", messages: 450, transcript: { leftOut: [], messages } };
}

test("an import that was cut off goes on where it stopped, and is done once", async () => {
  const how = { signal: new AbortController().signal, leftOut: [] as LeftOut[] };
  await expect(importSession(store(), stepOf("main", ids.one, 300), how)).rejects.toThrow("the disk is gone");
  expect([await store().sessions.get("agent:main:main"), await store().messages.count(ids.one)]).toEqual([undefined, 200]);

  const outcomes = [await importSession(store(), stepOf("main", ids.one), how), await importSession(store(), stepOf("main", ids.one), how)];

  expect([outcomes, await store().messages.count(ids.one)]).toEqual([["imported", "present"], 450]);
  const row = await store().sessions.get("agent:main:main");
  expect(row).toMatchObject({ sessionId: ids.one, derivedTitle: "question 1", lastMessagePreview: "answer 450", lastActivityAt: 5 });
  const [first] = await store().messages.scan(ids.one, 0, 1);
  expect(first).toMatchObject({ id: "m1", seq: 1, ts: 1 });
});

test("a conversation that is here stays: with the same key, or with the same transcript", async () => {
  const how = { signal: new AbortController().signal, leftOut: [] as LeftOut[] };
  await importSession(store(), stepOf("two", ids.two), how);

  const outcomes = [
    await importSession(store(), stepOf("two", ids.other), how),
    await importSession(store(), stepOf("three", ids.two), how),
  ];

  expect(outcomes).toEqual(["left-out", "left-out"]);
  expect(how.leftOut.map(({ reason }) => reason)).toEqual([
    "agent:main:two: a conversation with this key is here, and stays",
    "agent:main:three: its transcript belongs to another conversation here",
  ]);
  expect(await store().messages.count(ids.other)).toBe(0);
});

test("a command that is interrupted stops between messages", async () => {
  const end = new AbortController();
  end.abort();

  await expect(importSession(store(), stepOf("four", ids.other), { signal: end.signal, leftOut: [] })).rejects.toThrow("aborted");
  expect(await store().sessions.get("agent:main:four")).toBeUndefined();
});
