import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newestMessages } from "../../plugins/agents/sessions/newest-messages.ts";
import { createTranscripts } from "../../plugins/memory-core/sessions/transcripts.ts";
import { rowsOf } from "../../plugins/webhooks/deliveries/steps.ts";

let gw: TestGateway;
const store = () => gw.service("store@2");
const idsOf = (rows: ReadonlyArray<{ id: string }>) => rows.map(({ id }) => id);

/** A transcript of five messages, of which two fill a page of the store each. */
beforeAll(async () => {
  gw = await createTestGateway({ plugins: ["store"] });
  const times = { createdAt: 1, updatedAt: 1, sessionStartedAt: 1 };
  const session = { key: "agent:main:main", sessionId: "t", agentId: "main", kind: "direct" as const, ...times };
  const flags = { archived: false, pinned: false, unread: false, inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  const run = { runId: "r", sessionKey: session.key, sessionId: "t", agentId: "main", state: "ok" as const, trigger: "user", bootId: "b" };
  await store().commit([
    { op: "session.put", session: { ...session, ...flags } },
    { op: "run.put", run: { ...run, createdAt: 1 } },
  ]);
  for (const [id, letters] of [
    ["a", 9],
    ["b", 9 * 1024 * 1024],
    ["c", 9],
    ["d", 9 * 1024 * 1024],
    ["e", 9],
  ] as const) {
    const content = [{ type: "text" as const, text: "x".repeat(letters) }];
    await store().commit([{ op: "message.append", message: { id, sessionId: "t", ts: 1, role: "user", content, runId: "r" } }]);
  }
});

afterAll(() => gw.close());

test("an agent reads as many messages as it wants, whatever their size", async () => {
  expect(idsOf(await newestMessages(store(), "t", { limit: 100 }))).toEqual(["a", "b", "c", "d", "e"]);
  expect(idsOf(await newestMessages(store(), "t", { limit: 3 }))).toEqual(["c", "d", "e"]);
  expect(idsOf(await newestMessages(store(), "t", { before: 4, limit: 2 }))).toEqual(["b", "c"]);
  expect(await newestMessages(store(), "nobody's", { limit: 2 })).toEqual([]);
});

test("a webhook reads all that its run has done", async () => {
  const deps = { store } as unknown as Parameters<typeof rowsOf>[0]["deps"];
  expect(idsOf(await rowsOf({ deps }, "r"))).toEqual(["a", "b", "c", "d", "e"]);
});

test("memory reads a transcript to its end", async () => {
  const transcripts = createTranscripts(store);
  const seen: number[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page: Awaited<ReturnType<typeof transcripts.read>> = await transcripts.read("main", "t", after);
    seen.push(...(page?.messages ?? []).map(({ seq }) => seq));
    after = page?.next;
  }
  expect(seen).toEqual([1, 2, 3, 4, 5]);
});
