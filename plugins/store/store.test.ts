import { readdirSync } from "node:fs";
import { type StoreOp, SvcError } from "svc/sdk";
import { expect, onTestFinished, test } from "vitest";
import { append, message, put, run, session, tempStore } from "./testing/temp-store.ts";

const text = (length: number) => [{ type: "text" as const, text: "x".repeat(length) }];

test("reads see a commit as soon as it resolves", async () => {
  const store = await tempStore(onTestFinished).open();
  const row = session("agent:main:main", { label: "Plans", lastInteractionAt: 5, derivedTitle: "Title", status: "running", model: "m/x" });
  const started = run("r1", { state: "running", startedAt: 2 });

  await store.commit([
    put(row),
    append("m1", { sessionId: row.sessionId, runId: "r1" }),
    { op: "run.put", run: started },
    { op: "idempotency.put", row: { family: "chat", key: "i1", value: { runId: "r1" }, createdAt: 1, expiresAt: 2 } },
    { op: "kv.put", scope: "plugin", key: "a", value: [1, null, { deep: "ä" }] },
  ]);

  expect(store.sessions.get(row.key)).toEqual(row);
  expect(store.sessions.bySessionId(row.sessionId)).toEqual(row);
  expect(store.messages.page(row.sessionId, { limit: 10 })).toEqual([
    { ...message("m1", { sessionId: row.sessionId, runId: "r1" }), seq: 1 },
  ]);
  expect(store.runs.get("r1")).toEqual(started);
  expect(store.runs.unfinished()).toEqual([started]);
  expect(store.idempotency.get("chat", "i1")).toEqual({ family: "chat", key: "i1", value: { runId: "r1" }, createdAt: 1, expiresAt: 2 });
  expect(store.kv.get("plugin", "a")).toEqual([1, null, { deep: "ä" }]);
});

test("what is not there reads as undefined or empty", async () => {
  const store = await tempStore(onTestFinished).open();

  expect(store.sessions.get("none")).toBeUndefined();
  expect(store.sessions.bySessionId("none")).toBeUndefined();
  expect(store.sessions.list({ limit: 10 })).toEqual({ rows: [], total: 0 });
  expect(store.messages.page("none", { limit: 10 })).toEqual([]);
  expect(store.messages.count("none")).toBe(0);
  expect(store.runs.get("none")).toBeUndefined();
  expect(store.idempotency.get("chat", "none")).toBeUndefined();
  expect(store.kv.get("plugin", "none")).toBeUndefined();
  expect(store.kv.list("plugin", "")).toEqual([]);
});

test("everything survives a close and a second opening", async () => {
  const temp = tempStore(onTestFinished);
  const first = await temp.open();
  await first.commit([put(session("k")), append("m1"), append("m2")]);
  await first.close();

  const second = await temp.open();

  expect(second.sessions.get("k")).toEqual(session("k"));
  expect(second.messages.page("s", { limit: 10 }).map((row) => row.id)).toEqual(["m1", "m2"]);
  expect(temp.logs.filter((line) => line.level !== "debug")).toEqual([]);
});

test("commits happen and resolve in call order, however many run together", async () => {
  const store = await tempStore(onTestFinished).open();
  const resolved: number[] = [];

  const results = await Promise.all(
    Array.from({ length: 3_000 }, async (_, n) => {
      const [result] = await store.commit([append(`m${n}`)]);
      resolved.push(n);
      return result?.seq;
    }),
  );

  expect(results).toEqual(Array.from({ length: 3_000 }, (_, n) => n + 1));
  expect(resolved).toEqual(Array.from({ length: 3_000 }, (_, n) => n));
  expect(store.messages.count("s")).toBe(3_000);
  expect(store.status().queued).toBe(0);
});

test("a commit is a copy: changing the objects afterwards changes nothing", async () => {
  const store = await tempStore(onTestFinished).open();
  const row = session("k", { label: "before" });

  const done = store.commit([put(row)]);
  row.label = "after";
  await done;

  expect(store.sessions.get("k")?.label).toBe("before");
});

test("a failed condition rejects its whole commit and leaves its neighbours alone", async () => {
  const store = await tempStore(onTestFinished).open();
  await store.commit([put(session("k", { sessionId: "one" })), { op: "run.put", run: run("r", { state: "ok" }) }]);

  const outcomes = await Promise.allSettled([
    store.commit([append("before")]),
    store.commit([append("exists"), { op: "session.put", session: session("k"), ifAbsent: true }]),
    store.commit([append("between")]),
    store.commit([append("changed"), { op: "session.put", session: session("k"), expectedSessionId: "two" }]),
    store.commit([append("patched"), { op: "session.patch", key: "k", patch: { unread: true }, expectedSessionId: "two" }]),
    store.commit([append("missing"), { op: "session.patch", key: "nobody", patch: { unread: true } }]),
    store.commit([append("deleted"), { op: "session.delete", key: "k", deleteTranscript: true, expectedSessionId: "two" }]),
    store.commit([append("state"), { op: "run.put", run: run("r"), ifState: ["queued", "running"] }]),
    store.commit([append("duplicate run"), { op: "run.put", run: run("r"), ifAbsent: true }]),
    store.commit([append("after")]),
  ]);

  expect(outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason.code : "stored"))).toEqual([
    "stored",
    "exists",
    "stored",
    "session-changed",
    "session-changed",
    "session-missing",
    "session-changed",
    "run-state",
    "exists",
    "stored",
  ]);
  expect(store.messages.page("s", { limit: 10 }).map((row) => [row.seq, row.id])).toEqual([
    [1, "before"],
    [2, "between"],
    [3, "after"],
  ]);
  expect(store.sessions.get("k")).toEqual(session("k", { sessionId: "one" }));
});

test("a claim is taken once: of eight at the same time one wins and the others get the row", async () => {
  const store = await tempStore(onTestFinished).open();
  const claim = (n: number) =>
    store.commit([
      {
        op: "idempotency.put",
        row: { family: "agent", key: "i", value: { winner: n }, createdAt: 1, expiresAt: 2 },
        ifAbsent: true,
      },
    ]);

  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => claim(n)));

  const lost = outcomes.filter((outcome) => outcome.status === "rejected").map((outcome) => outcome.reason as SvcError);
  expect(lost).toHaveLength(7);
  for (const error of lost) {
    expect(error).toBeInstanceOf(SvcError);
    expect(error.code).toBe("exists");
    expect(error.fields.row).toMatchObject({ family: "agent", key: "i", value: { winner: 0 } });
  }
});

test("conditions that hold let the commit through", async () => {
  const store = await tempStore(onTestFinished).open();
  await store.commit([{ op: "session.put", session: session("k", { sessionId: "one" }), ifAbsent: true }]);
  await store.commit([{ op: "run.put", run: run("r"), ifAbsent: true }]);

  await store.commit([
    { op: "session.put", session: session("k", { sessionId: "two" }), expectedSessionId: "one" },
    { op: "run.put", run: run("r", { state: "running" }), ifState: ["queued"] },
    { op: "run.put", run: run("r", { state: "ok", endedAt: 9, outcome: { text: "done" } }), ifState: ["running"] },
  ]);

  expect(store.sessions.get("k")?.sessionId).toBe("two");
  expect(store.runs.get("r")).toEqual(run("r", { state: "ok", endedAt: 9, outcome: { text: "done" } }));
  expect(store.runs.unfinished()).toEqual([]);
});

test("the row of a run that has ended can be deleted, that of another one stays", async () => {
  const store = await tempStore(onTestFinished).open();
  const remove = { op: "run.delete" as const, runId: "r" };
  await store.commit([{ op: "run.put", run: run("r", { state: "running" }) }]);
  await expect(store.commit([remove])).rejects.toMatchObject({ code: "run-state", fields: { found: "running" } });
  await store.commit([{ op: "run.put", run: run("r", { state: "ok", endedAt: 9, outcome: { text: "done" } }) }]);

  expect(await store.commit([remove])).toEqual([{ removed: 1 }]);
  expect(await store.commit([remove])).toEqual([{ removed: 0 }]);
  expect(store.runs.get("r")).toBeUndefined();
});

test("a patch merges, null clears an optional field, and the key stays", async () => {
  const store = await tempStore(onTestFinished).open();
  await store.commit([put(session("k", { label: "old", status: "running", channel: "irc" }))]);

  await store.commit([{ op: "session.patch", key: "k", patch: { key: "other", label: "new", status: null, updatedAt: 7 } }]);

  expect(store.sessions.get("k")).toEqual(session("k", { label: "new", channel: "irc", updatedAt: 7 }));
  expect(store.sessions.get("other")).toBeUndefined();
});

test("deleting a session keeps or removes its transcript, and says whether there was one", async () => {
  const store = await tempStore(onTestFinished).open();
  await store.commit([put(session("a", { sessionId: "ta" })), put(session("b", { sessionId: "tb" }))]);
  await store.commit([append("1", { sessionId: "ta" }), append("2", { sessionId: "tb" }), append("3", { sessionId: "tb" })]);

  const results = await store.commit([
    { op: "session.delete", key: "a", deleteTranscript: false },
    { op: "session.delete", key: "b", deleteTranscript: true },
    { op: "session.delete", key: "c", deleteTranscript: true },
  ]);

  expect(results).toEqual([{ removed: 1 }, { removed: 1 }, { removed: 0 }]);
  expect(store.messages.count("ta")).toBe(1);
  expect(store.messages.count("tb")).toBe(0);
});

test("a message id appears once in a transcript", async () => {
  const store = await tempStore(onTestFinished).open();
  await store.commit([append("m")]);

  await expect(store.commit([append("m")])).rejects.toMatchObject({ code: "exists" });
  await store.commit([append("m", { sessionId: "another" })]);

  expect(store.messages.count("s")).toBe(1);
});

test("pages come newest first to load and oldest first to read; a scan goes on after a seq", async () => {
  const store = await tempStore(onTestFinished).open();
  await store.commit(Array.from({ length: 10 }, (_, n) => append(`m${n + 1}`)));
  const seqs = (rows: Array<{ seq: number }>) => rows.map((row) => row.seq);

  expect(seqs(store.messages.page("s", { limit: 3 }))).toEqual([8, 9, 10]);
  expect(seqs(store.messages.page("s", { limit: 3, before: 8 }))).toEqual([5, 6, 7]);
  expect(seqs(store.messages.page("s", { limit: 3, before: 2 }))).toEqual([1]);
  expect(seqs(store.messages.page("s", { limit: 3, before: 1 }))).toEqual([]);
  expect(seqs(store.messages.scan("s", 0, 4))).toEqual([1, 2, 3, 4]);
  expect(seqs(store.messages.scan("s", 8, 4))).toEqual([9, 10]);
});

test("no read returns more than 1,000 rows, and a nonsensical limit means one", async () => {
  const store = await tempStore(onTestFinished).open();
  await store.commit(Array.from({ length: 1_001 }, (_, n) => append(`m${n}`)));
  await store.commit(Array.from({ length: 1_001 }, (_, n) => put(session(`k${n}`))));
  await store.commit(Array.from({ length: 1_001 }, (_, n) => ({ op: "run.put" as const, run: run(`r${n}`) })));
  await store.commit(Array.from({ length: 1_001 }, (_, n) => ({ op: "kv.put" as const, scope: "p", key: `${n}`, value: n })));

  expect(store.messages.page("s", { limit: 5_000 })).toHaveLength(1_000);
  expect(store.messages.scan("s", 0, 5_000)).toHaveLength(1_000);
  expect(store.messages.scan("s", 0, -1)).toHaveLength(1);
  expect(store.messages.page("s", { limit: Number.NaN })).toHaveLength(1);
  expect(store.sessions.list({ limit: 5_000 }).rows).toHaveLength(1_000);
  expect(store.sessions.list({ limit: 5_000 }).total).toBe(1_001);
  expect(store.runs.unfinished()).toHaveLength(1_000);
  expect(store.kv.list("p", "")).toHaveLength(1_000);
});

test("kv lists the keys of one scope that begin with a prefix", async () => {
  const store = await tempStore(onTestFinished).open();
  const keys = ["a", "a/1", "a/2", "aé", "b", "a/\u{1F600}"];
  await store.commit(keys.map((key) => ({ op: "kv.put" as const, scope: "p", key, value: key })));
  await store.commit([{ op: "kv.put", scope: "q", key: "a/1", value: "other" }]);

  expect(store.kv.list("p", "a/")).toEqual([
    { key: "a/1", value: "a/1" },
    { key: "a/2", value: "a/2" },
    { key: "a/\u{1F600}", value: "a/\u{1F600}" },
  ]);
  expect(await store.commit([{ op: "kv.delete", scope: "p", key: "b" }])).toEqual([{ removed: 1 }]);
  expect(await store.commit([{ op: "kv.delete", scope: "p", key: "b" }])).toEqual([{ removed: 0 }]);
});

test("texts of 25 MiB, and every odd character, come back as they were", async () => {
  const store = await tempStore(onTestFinished).open();
  const odd = [{ type: "text" as const, text: '\u0000 \u2028 \uD800 lone \u{1F600} "quoted" \'; DROP TABLE messages' }];

  const content = text(25 * 1024 * 1024);

  await store.commit([append("large", { content }), append("odd", { content: odd, details: { a: ["\uDFFF"] } })]);

  const [large, strange] = store.messages.page("s", { limit: 2, maxBytes: 32 * 1024 * 1024 });
  expect(JSON.stringify(large?.content) === JSON.stringify(content)).toBe(true);
  expect(strange).toMatchObject({ content: odd, details: { a: ["\uDFFF"] } });
});

test("an id that would come back as another one is refused, wherever it stands", async () => {
  const store = await tempStore(onTestFinished).open();
  const half = "a\uD800";
  const at = { ts: 1, text: "x", source: "test", wake: false };
  const refused: StoreOp[] = [
    put(session(half)),
    put({ ...session("k"), spawnedBy: half }),
    { op: "session.delete", key: half, deleteTranscript: false },
    append("m", { sessionId: half }),
    { op: "idempotency.put", row: { family: "f", key: half, value: {}, createdAt: 1, expiresAt: 2 } },
    { op: "kv.put", scope: "s", key: half, value: 1 },
    { op: "kv.put", scope: half, key: "k", value: 1 },
    { op: "systemEvent.add", event: { ...at, sessionKey: half } as never },
    { op: "delivery.claim", uid: half, to: "running", leaseBoot: "b", at: 1 },
  ];

  for (const op of refused) {
    await expect(store.commit([op]), op.op).rejects.toMatchObject({
      code: "store-invalid-op",
      message: expect.stringContaining("lone surrogate"),
    });
  }

  await store.commit([put(session("a\uFFFD 👩‍💻"))]);
  expect(store.sessions.list({ limit: 10 }).rows.map(({ key }) => key)).toEqual(["a\uFFFD 👩‍💻"]);
});

test("what JSON cannot hold is refused before anything is queued", async () => {
  const store = await tempStore(onTestFinished).open();
  const circle: Record<string, unknown> = {};
  circle.self = circle;

  for (const value of [circle, 1n, undefined, () => 1]) {
    await expect(store.commit([append("m"), { op: "kv.put", scope: "p", key: "k", value }])).rejects.toMatchObject({
      code: "store-invalid-op",
    });
  }

  expect(store.messages.count("s")).toBe(0);
  expect(store.status()).toMatchObject({ ok: true, queued: 0 });
});

test("a value the tables do not take fails its own commit only", async () => {
  const store = await tempStore(onTestFinished).open();
  const nameless = session("x", { agentId: null as unknown as string });

  const [bad, good] = await Promise.allSettled([store.commit([append("m1"), put(nameless)]), store.commit([append("m2")])]);

  expect(bad).toMatchObject({ status: "rejected", reason: { code: "store-invalid-op" } });
  expect(good).toMatchObject({ status: "fulfilled", value: [{ seq: 1 }] });
});

test("an empty commit resolves after those before it", async () => {
  const store = await tempStore(onTestFinished).open();
  const order: string[] = [];

  await Promise.all([store.commit([append("m")]).then(() => order.push("message")), store.commit([]).then(() => order.push("empty"))]);

  expect(order).toEqual(["message", "empty"]);
});

test("over 10,000 waiting operations a commit is refused as busy, and the accepted ones are all stored", async () => {
  const store = await tempStore(onTestFinished).open();
  const full = Array.from({ length: 10 }, (_, c) => store.commit(Array.from({ length: 1_000 }, (_, n) => append(`${c}-${n}`))));

  expect(store.status().queued).toBe(10_000);
  await expect(store.commit([append("one too many")])).rejects.toMatchObject({ code: "storage-busy", retryAfterMs: expect.any(Number) });
  await Promise.all(full);

  expect(store.messages.count("s")).toBe(10_000);
  await store.commit([append("now there is room")]);
});

test("a commit of more than 10,000 operations can never fit and says so", async () => {
  const store = await tempStore(onTestFinished).open();

  await expect(store.commit(Array.from({ length: 10_001 }, (_, n) => append(`${n}`)))).rejects.toMatchObject({ code: "store-invalid-op" });
});

test("an aborted signal drops a commit that still waits and lets one on its way finish", async () => {
  const store = await tempStore(onTestFinished).open();
  const stop = new AbortController();
  await store.commit([]);

  const onItsWay = store.commit([append("first", { content: text(2_000_000) })], { signal: stop.signal });
  const waits = store.commit([append("second")], { signal: stop.signal });
  const after = store.commit([append("third")]);
  await Promise.resolve();
  stop.abort(new Error("changed my mind"));

  await expect(waits).rejects.toThrow("changed my mind");
  await expect(store.commit([append("late")], { signal: stop.signal })).rejects.toThrow("changed my mind");
  expect(await onItsWay).toEqual([{ seq: 1 }]);
  expect(await after).toEqual([{ seq: 2 }]);
});

test("close writes what waits, leaves one file, and refuses everything afterwards", async () => {
  const temp = tempStore(onTestFinished);
  const store = await temp.open();
  const waiting = Promise.all(Array.from({ length: 2_000 }, (_, n) => store.commit([append(`m${n}`)])));

  const closed = store.close();
  await expect(store.commit([append("late")])).rejects.toMatchObject({ code: "storage-unavailable", fields: { reason: "closed" } });
  await closed;

  await expect(waiting).resolves.toHaveLength(2_000);
  expect(() => store.sessions.get("k")).toThrowError(/closed/);
  expect(store.status()).toMatchObject({ ok: false, reason: "closed" });
  expect(readdirSync(temp.dir)).toEqual(["state.sqlite"]);
  expect((await temp.open()).messages.count("s")).toBe(2_000);
});
