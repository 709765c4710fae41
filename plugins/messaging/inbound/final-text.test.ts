import type { MessageRow, Store, StoreOp } from "svc/sdk";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { finalText } from "./final-text.ts";

let gw: TestGateway;
let store: Store;

beforeAll(async () => {
  gw = await createTestGateway({ plugins: ["store"] });
  store = gw.service("store@2");
});
afterAll(() => gw.close());

/** A session with rows of runs, oldest first. */
async function transcript(sessionId: string, rows: Array<[runId: string, role: MessageRow["role"], text: string]>): Promise<void> {
  const key = `agent:main:${sessionId}`;
  const session = {
    key,
    sessionId,
    agentId: "main",
    kind: "direct" as const,
    createdAt: 1,
    sessionStartedAt: 1,
    updatedAt: 1,
    lastActivityAt: 1,
    inputTokens: 0,
    outputTokens: 0,
    totalTokens: 0,
    archived: false,
    pinned: false,
    unread: false,
  };
  const runIds = [...new Set(rows.map(([runId]) => runId))];
  const ops: StoreOp[] = [
    { op: "session.put", session },
    ...runIds.map((runId) => ({
      op: "run.put" as const,
      run: {
        runId,
        sessionKey: key,
        sessionId,
        agentId: "main",
        state: "ok" as const,
        trigger: "user",
        bootId: "b",
        createdAt: 1,
        endedAt: 2,
      },
    })),
    ...rows.map(([runId, role, text], n) => ({
      op: "message.append" as const,
      message: { id: `${sessionId}-${n}`, sessionId, ts: n, role, content: [{ type: "text" as const, text }], runId },
    })),
  ];
  for (let at = 0; at < ops.length; at += 100) await store.commit(ops.slice(at, at + 100));
}

test("the answer of a run is found behind a long conversation that followed", async () => {
  const later = Array.from({ length: 260 }, (_, n) => ["later", n === 0 ? "user" : "assistant", `${n}`] as [string, "user", string]);
  await transcript("long", [
    ["asked", "user", "question"],
    ["asked", "assistant", "first"],
    ["asked", "assistant", "the answer"],
    ...later,
  ]);
  expect(await finalText("asked", store)).toBe("the answer");
  expect(await finalText("later", store)).toBe("259");
});

test("a run that said nothing, and one that is forgotten, have no answer", async () => {
  await transcript("silent", [
    ["before", "assistant", "of another run"],
    ["silent", "user", "question"],
  ]);
  expect(await finalText("silent", store)).toBe("");
  expect(await finalText("gone", store)).toBe("");
});
