import type { StoreOp, SystemEventRow } from "svc/sdk";
import { expect, onTestFinished, test } from "vitest";
import { put, session, tempStore } from "./testing/temp-store.ts";

const add = (text: string, fields: Partial<SystemEventRow> = {}): StoreOp => ({
  op: "systemEvent.add",
  event: { sessionKey: "k", text, source: "test", ts: 1, wake: false, ...fields },
});

test("events wait per session in the order of their commits, survive a restart, and go when they are taken", async () => {
  const temp = tempStore(onTestFinished);
  const first = await temp.open();
  await first.commit([add("one"), add("two", { source: "hook", ts: 5 }), add("elsewhere", { sessionKey: "other" })]);
  await first.close();

  const store = await temp.open();
  const waiting = store.systemEvents.pending("k", 10);
  expect(waiting).toEqual([
    { id: expect.any(Number), sessionKey: "k", text: "one", source: "test", ts: 1, wake: false },
    { id: expect.any(Number), sessionKey: "k", text: "two", source: "hook", ts: 5, wake: false },
  ]);
  expect(store.systemEvents.pending("k", 1).map((row) => row.text)).toEqual(["one"]);

  const ids = waiting.map((row) => row.id);
  expect(await store.commit([{ op: "systemEvent.take", ids }])).toEqual([{ removed: 2 }]);
  expect(await store.commit([{ op: "systemEvent.take", ids }])).toEqual([{ removed: 0 }]);
  expect(store.systemEvents.pending("k", 10)).toEqual([]);
  expect(store.systemEvents.pending("other", 10)).toHaveLength(1);
});

test("an event that says the same as the newest one is not added, in whatever frame it comes", async () => {
  const store = await tempStore(onTestFinished).open();
  expect(await store.commit([add("same"), add("same"), add("framed", { same: "same" })])).toEqual([
    {},
    { coalesced: true },
    { coalesced: true },
  ]);
  expect(await store.commit([add("other"), add("same")])).toEqual([{}, {}]);
  expect(store.systemEvents.pending("k", 10).map((row) => row.text)).toEqual(["same", "other", "same"]);
});

test("a session is to be woken as long as an event that asked for it waits", async () => {
  const store = await tempStore(onTestFinished).open();
  await store.commit([add("quiet"), add("loud", { sessionKey: "other", wake: true }), add("quiet", { wake: true })]);
  expect(store.systemEvents.waking().sort()).toEqual(["k", "other"]);

  await store.commit([{ op: "systemEvent.take", ids: store.systemEvents.pending("k", 10).map((row) => row.id) }]);
  expect(store.systemEvents.waking()).toEqual(["other"]);
});

test("at most 1,000 wait for one session: the next is refused with the rest of its commit, and a taken one makes room", async () => {
  const store = await tempStore(onTestFinished).open();
  await store.commit(Array.from({ length: 1_000 }, (_, i) => add(`event ${i}`)));

  await expect(store.commit([put(session("k")), add("one more")])).rejects.toMatchObject({ code: "system-events-full" });
  expect(store.sessions.get("k")).toBeUndefined();
  expect(await store.commit([add("event 999")])).toEqual([{ coalesced: true }]);

  const [oldest] = store.systemEvents.pending("k", 1);
  await store.commit([{ op: "systemEvent.take", ids: [oldest?.id ?? 0] }, add("one more")]);
  expect(store.systemEvents.pending("k", 1_000).at(-1)?.text).toBe("one more");
});

test("at most 10,000 wait for all sessions together", async () => {
  const store = await tempStore(onTestFinished).open();
  for (let i = 0; i < 10; i++) await store.commit(Array.from({ length: 1_000 }, (_, n) => add(`event ${n}`, { sessionKey: `k${i}` })));
  await expect(store.commit([add("one more", { sessionKey: "fresh" })])).rejects.toMatchObject({ code: "system-events-full" });
});

test("a deleted session takes its events with it", async () => {
  const store = await tempStore(onTestFinished).open();
  await store.commit([put(session("k")), add("one")]);
  await store.commit([{ op: "session.delete", key: "k", deleteTranscript: true }]);
  expect(store.systemEvents.pending("k", 10)).toEqual([]);
});
