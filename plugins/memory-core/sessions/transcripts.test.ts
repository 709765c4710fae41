import type { MessageRow, SessionRow, Store, StoreOp } from "svc/sdk";
import { createTestGateway, fakeClock, type TestGateway } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { watchGrowth } from "./growth.ts";
import { createTranscripts, type Transcripts } from "./transcripts.ts";

let gateway: TestGateway;
let store: Store;
let transcripts: Transcripts;
beforeEach(async () => {
  gateway = await createTestGateway({ plugins: ["store"] });
  store = gateway.service("store@2");
  transcripts = createTranscripts(() => store);
});
afterEach(() => gateway.close());

let made = 0;
const session = (key: string, sessionId: string, over: Partial<SessionRow> = {}): StoreOp => ({
  op: "session.put",
  session: {
    ...{
      key,
      sessionId,
      agentId: /^agent:([^:]+)/.exec(key)?.[1] ?? "main",
      kind: "direct",
      createdAt: 1,
      updatedAt: ++made,
      sessionStartedAt: 1,
    },
    ...{ inputTokens: 0, outputTokens: 0, totalTokens: 0, archived: false, pinned: false, unread: false },
    ...over,
  },
});
const message = (sessionId: string, text: string, over: Partial<MessageRow> = {}): StoreOp => ({
  op: "message.append",
  message: { id: `m${++made}`, sessionId, ts: 1_000 + made, role: "user", content: [{ type: "text", text }], ...over },
});
const run = (runId: string, trigger: string): StoreOp => ({
  op: "run.put",
  run: { runId, sessionKey: "agent:main:main", sessionId: "a", agentId: "main", state: "ok", trigger, bootId: "b", createdAt: 1 },
});

describe("listing", () => {
  test("the agent's present transcripts, newest first, with the number of their records", async () => {
    await store.commit([
      session("agent:main:main", "a"),
      session("agent:main:telegram:direct:1", "b"),
      session("agent:main:cron:nightly", "c"),
      session("agent:work:main", "d"),
      message("a", "one"),
      message("a", "two"),
    ]);
    expect(await transcripts.list("main")).toEqual([
      { sessionId: "b", messages: 0 },
      { sessionId: "a", messages: 2 },
    ]);
    expect(await transcripts.list("nobody")).toEqual([]);
  });

  test("more sessions than fit into one page", async () => {
    await store.commit(Array.from({ length: 250 }, (_, i) => session(`agent:main:chat-${i}`, `s${i}`)));
    const listed = await transcripts.list("main");
    expect([listed.length, new Set(listed.map((one) => one.sessionId)).size]).toEqual([250, 250]);
  });

  test("a transcript that was replaced by a reset is not listed and not read any more", async () => {
    await store.commit([session("agent:main:main", "a"), message("a", "one")]);
    await store.commit([session("agent:main:main", "fresh")]);
    expect(await transcripts.list("main")).toEqual([{ sessionId: "fresh", messages: 0 }]);
    expect(await transcripts.read("main", "a", 0)).toBeUndefined();
  });
});

describe("reading", () => {
  test("what people and the assistant said, with its numbers", async () => {
    await store.commit([
      session("agent:main:main", "a"),
      run("of-a-hook", "hook"),
      message("a", "hello", { ts: 5 }),
      message("a", "tool says", { role: "toolResult", toolCallId: "t" }),
      message("a", "from outside", { runId: "of-a-hook" }),
      message("a", "look around", { kind: "heartbeat" }),
      message("a", "hi", { role: "assistant", ts: 6 }),
    ]);
    expect(await transcripts.read("main", "a", 0)).toEqual({
      messages: [
        { seq: 1, role: "user", text: "hello", ts: 5 },
        { seq: 5, role: "assistant", text: "hi", ts: 6 },
      ],
      total: 5,
    });
  });

  test("another agent's transcript, one of a job and one that is gone are not read", async () => {
    await store.commit([session("agent:work:main", "w"), session("agent:main:cron:nightly", "c"), message("w", "x"), message("c", "x")]);
    for (const sessionId of ["w", "c", "gone"]) expect(await transcripts.read("main", sessionId, 0)).toBeUndefined();
  });

  const count = process.env.SVC_TEST_LONG === "1" ? 100_000 : 20_000;

  test(`${count} messages come in parts, every one of them once, and others have their turn meanwhile`, async () => {
    await store.commit([session("agent:main:main", "a")]);
    for (let at = 0; at < count; at += 10_000) {
      await store.commit(Array.from({ length: 10_000 }, (_, i) => message("a", `message ${at + i + 1}`)));
    }
    let turns = 0;
    const ticking = setInterval(() => turns++, 1);
    let seen = 0;
    let pages = 0;
    for (let after: number | undefined = 0; after !== undefined; pages++) {
      const page = await transcripts.read("main", "a", after);
      for (const said of page?.messages ?? []) if (said.seq === seen + 1 && said.text === `message ${said.seq}`) seen++;
      after = page?.next;
    }
    clearInterval(ticking);
    expect([seen, pages > count / 2_000]).toEqual([count, true]);
    expect(turns).toBeGreaterThan(pages);
  });

  test("without a store there is an error, not an empty list", async () => {
    const orphan = createTranscripts(() => {
      throw new Error("no store");
    });
    await expect(orphan.list("main")).rejects.toThrow("no store");
    await expect(orphan.read("main", "a", 0)).rejects.toThrow("no store");
  });
});

describe("growth", () => {
  const start = Date.parse("2026-11-21T10:00:00Z");
  function watch(agentIds: () => string[] = () => ["main"]) {
    const clock = fakeClock(start);
    const told: Array<[string, Array<{ sessionId: string; bytes: number; messages: number; isReset: boolean }>]> = [];
    const failures: unknown[] = [];
    let isDown = false;
    const watching = watchGrowth({
      store: () => {
        if (isDown) throw new Error("no store");
        return store;
      },
      clock,
      timers: { ...clock, cron: () => ({ dispose: () => undefined }) },
      agentIds,
      onGrown: (agentId, grown) => told.push([agentId, grown]),
      onFailure: (error) => failures.push(error),
    });
    const down = (is: boolean) => {
      isDown = is;
    };
    const look = async () => {
      await clock.advance(5_000);
      for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve));
      return told.splice(0);
    };
    return { look, clock, failures, watching, down };
  }
  const at = (clock: { now(): number }) => ({ ts: clock.now() });
  const sizeOf = async (sessionId: string) =>
    (await store.messages.scan(sessionId, 0, 1_000)).reduce((sum, row) => sum + Buffer.byteLength(JSON.stringify(row)), 0);

  test("what is stored is told once, with its bytes, five seconds later", async () => {
    const { look, clock } = watch();
    expect(await look()).toEqual([]);
    await store.commit([
      session("agent:main:main", "a", { updatedAt: clock.now() }),
      message("a", "hällo", at(clock)),
      message("a", "du", at(clock)),
    ]);
    expect(await look()).toEqual([["main", [{ sessionId: "a", bytes: await sizeOf("a"), messages: 2, isReset: false }]]]);
    expect(await look()).toEqual([]);
    const before = await sizeOf("a");
    await store.commit([session("agent:main:main", "a", { updatedAt: clock.now() }), message("a", "more", at(clock))]);
    expect(await look()).toEqual([["main", [{ sessionId: "a", bytes: (await sizeOf("a")) - before, messages: 1, isReset: false }]]]);
  });

  test("what was there before is not growth", async () => {
    await store.commit([
      session("agent:main:main", "a"),
      ...Array.from({ length: 120 }, (_, i) => message("a", `old ${i}`, { ts: start - 1 })),
    ]);
    const { look, clock } = watch();
    await store.commit([session("agent:main:main", "a", { updatedAt: clock.now() }), message("a", "new", at(clock))]);
    expect(await look()).toMatchObject([["main", [{ sessionId: "a", messages: 1 }]]]);
  });

  test("pictures count with their length, heartbeats and other agents not at all", async () => {
    const { look, clock } = watch();
    const image = { type: "image" as const, mimeType: "image/png", data: "A".repeat(300_000) };
    await store.commit([
      session("agent:main:main", "a", { updatedAt: clock.now() }),
      session("agent:work:main", "w", { updatedAt: clock.now() }),
      message("a", "", { content: [image], ...at(clock) }),
      message("w", "x", at(clock)),
    ]);
    expect(await look()).toEqual([["main", [{ sessionId: "a", bytes: await sizeOf("a"), messages: 1, isReset: false }]]]);
    await store.commit([
      session("agent:main:main", "a", { updatedAt: clock.now() }),
      message("a", "look", { kind: "heartbeat", ...at(clock) }),
    ]);
    expect(await look()).toEqual([]);
  });

  test("more than one look can take is told by the next ones", async () => {
    const { look, clock } = watch();
    await store.commit([session("agent:main:main", "a", { updatedAt: clock.now() }), message("a", "first", at(clock))]);
    await look();
    await store.commit([
      session("agent:main:main", "a", { updatedAt: clock.now() }),
      ...Array.from({ length: 1_500 }, (_, i) => message("a", `m${i}`, at(clock))),
    ]);
    const told = [...(await look()), ...(await look()), ...(await look())];
    expect(told.map(([, grown]) => grown[0]?.messages)).toEqual([1_000, 500]);
  });

  test("a store that is away for a while is reported once and costs nothing", async () => {
    const { look, clock, down, failures } = watch();
    await look();
    await store.commit([session("agent:main:main", "a", { updatedAt: clock.now() }), message("a", "hello", at(clock))]);
    down(true);
    expect([...(await look()), ...(await look())]).toEqual([]);
    expect(failures).toHaveLength(1);
    down(false);
    expect(await look()).toMatchObject([["main", [{ sessionId: "a", messages: 1 }]]]);
  });

  test("a look that is under way at the end tells nothing any more", async () => {
    const { look, clock, watching } = watch();
    await store.commit([session("agent:main:main", "a", { updatedAt: clock.now() }), message("a", "hello", at(clock))]);
    await look();
    await store.commit([
      session("agent:main:main", "a", { updatedAt: clock.now() }),
      ...Array.from({ length: 500 }, (_, i) => message("a", `m${i}`, at(clock))),
    ]);
    const looking = look();
    setImmediate(() => void watching.dispose());
    expect(await looking).toEqual([]);
  });

  test("while nobody's transcripts are indexed the store is not asked, and nothing happens after the end", async () => {
    const { look, clock, down, failures, watching } = watch(() => []);
    down(true);
    await look();
    expect(failures).toEqual([]);
    void watching.dispose();
    expect(clock.waiting).toEqual([]);
  });
});
