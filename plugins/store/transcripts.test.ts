import { expect, onTestFinished, test } from "vitest";
import { append, put, session, tempStore } from "./testing/temp-store.ts";

const records = (sessionId: string, count: number, text = "x") =>
  Array.from({ length: count }, (_, i) => append(`${sessionId}-${i}`, { sessionId, ts: 1_000 + i, content: [{ type: "text", text }] }));

test("transcripts are listed with the time of their newest record, and whether a session has them", async () => {
  const store = await tempStore(onTestFinished).open();
  await store.commit([put(session("k", { sessionId: "b" })), ...records("a", 3), ...records("b", 2), ...records("c", 1)]);

  const all = [
    { sessionId: "a", lastAt: 1_002, hasSession: false },
    { sessionId: "b", lastAt: 1_001, hasSession: true },
    { sessionId: "c", lastAt: 1_000, hasSession: false },
  ];
  expect(store.transcripts.page({ limit: 10 })).toEqual(all);
  expect(store.transcripts.page({ limit: 2 })).toEqual(all.slice(0, 2));
  expect(store.transcripts.page({ after: "b", limit: 2 })).toEqual(all.slice(2));
  expect(store.transcripts.page({ after: "c", limit: 2 })).toEqual([]);
});

test("a transcript without a session is pruned in steps of 500 from its old end; a session's own stays", async () => {
  const store = await tempStore(onTestFinished).open();
  await store.commit([put(session("k", { sessionId: "own" })), ...records("own", 2), ...records("old", 501)]);

  expect(await store.commit([{ op: "transcript.prune", sessionId: "old" }])).toEqual([{ removed: 500 }]);
  expect(store.messages.page("old", { limit: 10 }).map(({ seq }) => seq)).toEqual([501]);
  expect(store.messages.count("old")).toBe(1);
  expect(await store.commit([{ op: "transcript.prune", sessionId: "old" }])).toEqual([{ removed: 1 }]);
  expect(await store.commit([{ op: "transcript.prune", sessionId: "old" }])).toEqual([{ removed: 0 }]);

  expect(await store.commit([{ op: "transcript.prune", sessionId: "own" }])).toEqual([{ removed: 0 }]);
  expect(store.messages.count("own")).toBe(2);
});

test("the space of what was removed is no longer counted", async () => {
  const store = await tempStore(onTestFinished).open();
  const empty = store.transcripts.usedBytes();
  await store.commit(records("big", 100, "x".repeat(10_000)));
  const full = store.transcripts.usedBytes();
  expect(full - empty).toBeGreaterThan(1_000_000);

  await store.commit([{ op: "transcript.prune", sessionId: "big" }]);

  expect(full - store.transcripts.usedBytes()).toBeGreaterThan(900_000);
});
