import { expect, test } from "vitest";
import type { TranscriptPage } from "../../worker-protocol.ts";
import { createDocumentGuard } from "../document-guard.ts";
import type { DocumentContent, DocumentRow, ListedDocuments } from "../documents.ts";
import type { Host } from "../host.ts";
import { createPacer } from "../pacer.ts";
import { createSessions, type SessionSyncWish } from "./session-source.ts";

/** The main thread with these transcripts, one text a message, and the rows that an index would have of them. */
function machine(transcripts: Record<string, string[]>, over: { pageRows?: number; isOff?: boolean } = {}) {
  const asked: string[] = [];
  const state = { down: false };
  const host: Host = {
    async call(method, params) {
      asked.push(method);
      if (state.down) throw Object.assign(new Error("the store is away"), { code: "service-unavailable" });
      if (method === "listSessions") {
        return Object.entries(transcripts).map(([sessionId, texts]) => ({ sessionId, messages: texts.length })) as never;
      }
      const { sessionId, after } = params as { sessionId: string; after: number };
      const texts = transcripts[sessionId];
      if (!texts) return undefined as never;
      const rows = over.pageRows ?? 1_000;
      const page: TranscriptPage = {
        messages: texts.slice(after, after + rows).map((text, i) => ({ seq: after + i + 1, role: "user", text, ts: after + i + 1 })),
        total: texts.length,
        ...(after + rows < texts.length ? { next: after + rows } : {}),
      };
      return page as never;
    },
  };
  const sessions = createSessions(
    { sources: over.isOff ? ["memory"] : ["memory", "sessions"], sessions: { deltaBytes: 100, deltaMessages: 50 } },
    host,
    createDocumentGuard(),
  );
  const rows = new Map<string, DocumentRow>();
  /** One sync: what was read, and what went. */
  const sync = async (wish: Partial<SessionSyncWish> = {}): Promise<{ read: string[]; gone: string[]; problems: string[] } | undefined> => {
    const source = sessions.sourceFor({ reason: "request", isFull: false, ...wish });
    if (!source) return undefined;
    const known = wish.isFull ? new Map<string, DocumentRow>() : new Map(rows);
    const listed: ListedDocuments = await source.list(known, createPacer(new AbortController().signal));
    const read: string[] = [];
    const gone: string[] = [];
    for (const document of listed.documents) {
      const row = known.get(document.path);
      known.delete(document.path);
      if (row && document.isUnchanged(row)) continue;
      const content = (await document.read((work) => work())) as DocumentContent;
      if (content.kind !== "text") {
        if (rows.delete(document.path)) gone.push(document.path);
        continue;
      }
      read.push(document.path);
      rows.set(document.path, { path: document.path, hash: content.hash, mtime: content.mtimeMs, size: content.size, checked_at: 0 });
      document.settled?.();
    }
    if (listed.isComplete) for (const path of known.keys()) if (rows.delete(path)) gone.push(path);
    return { read, gone, problems: listed.problems.map(({ path, code }) => `${path} ${code}`) };
  };
  return { sessions, sync, rows, asked, transcripts, state, host };
}

const grown = (sessionId: string, bytes: number, messages = 1) => [{ sessionId, bytes, messages, isReset: false }];

test("the first sync of a thread reads every transcript that is not as its row says", async () => {
  const { sync, rows, transcripts } = machine({ a: ["one"], b: ["two"] });
  expect(await sync()).toEqual({ read: ["sessions/a", "sessions/b"], gone: [], problems: [] });
  transcripts.a?.push("more");

  const restarted = machine(transcripts);
  for (const [path, row] of rows) restarted.rows.set(path, row);
  expect((await restarted.sync())?.read).toEqual(["sessions/a"]);
});

test("after that a transcript is read when it has grown enough", async () => {
  const { sessions, sync } = machine({ a: ["one"], b: ["two"] });
  await sync();
  expect(await sync()).toBeUndefined();
  expect([sessions.grown(grown("a", 99)), sessions.isDirty()]).toEqual([false, false]);
  expect(await sync({ reason: "search" })).toBeUndefined();
  expect([sessions.grown(grown("a", 1)), sessions.isDirty()]).toEqual([true, true]);
  expect((await sync({ reason: "session-delta" }))?.read).toEqual(["sessions/a"]);
  expect(sessions.isDirty()).toBe(false);
});

test.each(["watch", "watch-added", "session-start"])("a sync for %s leaves transcripts alone", async (reason) => {
  const { sessions, sync } = machine({ a: ["one"] });
  sessions.grown(grown("a", 1_000));
  expect(await sync({ reason })).toBeUndefined();
  expect(sessions.isDirty()).toBe(true);
  expect((await sync({ reason: "interval" }))?.read).toEqual(["sessions/a"]);
});

test("a full reindex reads all of them, whatever it was asked for", async () => {
  const { sync } = machine({ a: ["one"], b: ["two"] });
  await sync();
  expect((await sync({ reason: "watch", isFull: true }))?.read).toEqual(["sessions/a", "sessions/b"]);
});

test("a full reindex that is thrown away leaves no transcript behind", async () => {
  const { sync, rows, transcripts } = machine({ a: ["one"] });
  await sync();
  const before = new Map(rows);
  transcripts.a?.push("more");
  await sync({ isFull: true });
  for (const [path, row] of before) rows.set(path, row);
  expect((await sync())?.read).toEqual(["sessions/a"]);
  expect(await sync()).toBeUndefined();
});

test("a full reindex that was put in place leaves nothing to do, and what came since has to reach the thresholds", async () => {
  const { sync, transcripts } = machine({ a: ["one"] });
  await sync({ isFull: true });
  transcripts.a?.push("more");
  expect((await sync())?.read).toEqual([]);
  expect(await sync()).toBeUndefined();
});

test("a targeted sync reads these at once, and takes out those that are gone", async () => {
  const { sync, transcripts, asked } = machine({ a: ["one"], b: ["two"] });
  await sync();
  asked.length = 0;
  delete transcripts.b;
  transcripts.a?.push("more");
  expect(await sync({ reason: "session-compact", sessionIds: ["a", "b", "a", "of-another-agent"] })).toEqual({
    read: ["sessions/a"],
    gone: ["sessions/b"],
    problems: [],
  });
  expect(asked).not.toContain("listSessions");
});

test("a transcript that is not listed any more leaves the index", async () => {
  const { sessions, sync, transcripts } = machine({ a: ["one"], b: ["two"] });
  await sync();
  delete transcripts.b;
  sessions.grown(grown("a", 100));
  expect(await sync()).toEqual({ read: ["sessions/a"], gone: ["sessions/b"], problems: [] });
});

test("what has grown is read by itself: nobody lists the sessions for it, and the others are not touched", async () => {
  const { sessions, sync, transcripts, asked } = machine({ a: ["one"], b: ["two"] });
  await sync();
  asked.length = 0;
  delete transcripts.b;
  sessions.grown(grown("a", 100));
  expect(await sync({ reason: "session-delta" })).toEqual({ read: ["sessions/a"], gone: [], problems: [] });
  expect(asked).toEqual(["readSession"]);
});

test("a transcript that is due and not listed any more is not waited for", async () => {
  const { sessions, sync, transcripts } = machine({ a: ["one"], b: ["two"] });
  await sync();
  delete transcripts.b;
  sessions.grown(grown("b", 100));
  expect((await sync())?.gone).toEqual(["sessions/b"]);
  expect(sessions.isDirty()).toBe(false);
});

test("a new session below the thresholds waits", async () => {
  const { sessions, sync, transcripts } = machine({ a: ["one"] });
  await sync();
  transcripts.b = ["two"];
  sessions.grown([...grown("a", 100), ...grown("b", 3)]);
  expect((await sync())?.read).toEqual(["sessions/a"]);
});

test("while nobody knows the sessions, what is indexed stays and the debt is kept", async () => {
  const { sync, state, sessions, rows } = machine({ a: ["one"] });
  await sync();
  sessions.grown(grown("a", 100));
  state.down = true;
  expect(await sync()).toEqual({ read: [], gone: [], problems: [] });
  expect(sessions.problem()).toContain("service-unavailable");
  expect([rows.size, sessions.isDirty()]).toEqual([1, true]);
  state.down = false;
  expect((await sync())?.read).toEqual(["sessions/a"]);
  expect(sessions.problem()).toBeUndefined();
});

test("a read that fails leaves the transcript due", async () => {
  const { sessions, sync, state } = machine({ a: ["one"] });
  await sync();
  sessions.grown(grown("a", 100));
  const source = sessions.sourceFor({ reason: "session-delta", isFull: false });
  const listed = await source?.list(new Map(), createPacer(new AbortController().signal));
  state.down = true;
  await expect(listed?.documents[0]?.read((work) => work())).rejects.toThrow("the store is away");
  expect(sessions.isDirty()).toBe(true);
});

test("a long transcript is read page after page", async () => {
  const texts = Array.from({ length: 2_500 }, (_, i) => `message ${i}`);
  const { sessions, asked } = machine({ a: texts }, { pageRows: 1_000 });
  const source = sessions.sourceFor({ reason: "request", isFull: true });
  const listed = await source?.list(new Map(), createPacer(new AbortController().signal));
  const content = (await listed?.documents[0]?.read((work) => work())) as Extract<DocumentContent, { kind: "text" }>;
  expect(asked.filter((method) => method === "readSession")).toHaveLength(3);
  expect(content.text.split("\n")).toHaveLength(2_500);
  expect([content.lineNumbers?.at(-1), content.size, content.mtimeMs]).toEqual([2_500, 2_500, 2_500]);
});

test("without the source nothing is counted and nothing is read", async () => {
  const { sessions, sync } = machine({ a: ["one"] }, { isOff: true });
  expect([sessions.grown(grown("a", 1e9)), sessions.isDirty()]).toEqual([false, false]);
  expect(await sync({ isFull: true })).toBeUndefined();
});
