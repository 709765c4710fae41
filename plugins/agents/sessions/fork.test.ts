import type { JsonObject, MessageRow, StoreOp } from "svc/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentsGateway, createAgentsGateway, eventually, record } from "../../../test/fixtures/agents-gateway.ts";
import { atFailpoints } from "../../../test/fixtures/failpoints.ts";
import { holdNext } from "../../../test/fixtures/held-read.ts";
import { branchLimits } from "./branches.ts";
import { newSession } from "./row.ts";

let gw: AgentsGateway;
beforeAll(async () => {
  gw = await createAgentsGateway({ config: { messages: { queue: { debounceMs: 0, mode: "followup" } } } });
});
afterAll(() => gw.close());

const store = () => gw.service("store@2");
type Forked = { key: string; sessionId: string; entry: JsonObject; copied: number };
const fork = (key: string, seq: number, more: JsonObject = {}) => gw.rpc<Forked>("sessions.fork", { key, seq, ...more });
const rowsOf = (sessionId: string): Promise<MessageRow[]> => store().messages.page(sessionId, { limit: 1_000 });
const sessionOf = async (key: string) => (await store().sessions.get(key)) as NonNullable<Awaited<ReturnType<typeof get>>>;
const get = (key: string) => store().sessions.get(key);
const transcripts = async () => (await store().transcripts.page({ limit: 1_000 })).filter(({ hasSession }) => !hasSession).length;

/** A session with these messages, in turn of the person and of the agent. */
async function talk(name: string, texts: readonly string[], more: Partial<MessageRow> = {}) {
  const session = { ...newSession(`agent:main:${name}`, "main", 1), derivedTitle: texts[0] ?? "" };
  const messages = texts.map((text, i) => ({
    ...{ id: `${name}-${i}`, sessionId: session.sessionId, ts: i, role: i % 2 === 0 ? ("user" as const) : ("assistant" as const) },
    ...{ content: [{ type: "text" as const, text }], ...more },
  }));
  const ops: StoreOp[] = [{ op: "session.put", session }, ...messages.map((message) => ({ op: "message.append" as const, message }))];
  await store().commit(ops);
  return session;
}

describe("a fork", () => {
  test("has the messages before the one named and the settings, and the other session keeps its own", async () => {
    const client = await gw.client();
    await client.request("sessions.subscribe", {});
    await gw.rpc("sessions.create", { key: "asked", model: "script/echo", thinkingLevel: "high", label: "My talk" });
    for (const message of ["one", "two", "three"]) await gw.ask({ sessionKey: "asked", message });
    const before = await sessionOf("agent:main:asked");
    const frames = record(client);

    const made = await fork("asked", 3, { expectedSessionId: before.sessionId });

    expect(made).toMatchObject({ ok: true, copied: 2, entry: { parentSessionKey: "agent:main:asked", derivedTitle: "one" } });
    expect(made.entry).toMatchObject({ model: "script/echo", thinkingLevel: "high", agentId: "main", totalTokens: 17, inputTokens: 0 });
    expect(made.entry).not.toHaveProperty("label");
    expect(made.entry).not.toHaveProperty("branch");
    expect(made.key).toMatch(/^agent:main:[0-9a-f-]{36}$/);
    const [old, own] = [await rowsOf(before.sessionId), await rowsOf(made.sessionId)];
    expect(own).toEqual(old.slice(0, 2).map((row) => ({ ...row, sessionId: made.sessionId })));
    expect(old).toHaveLength(6);
    expect(await sessionOf("agent:main:asked")).toEqual(before);
    expect(frames.filter(({ event }) => event === "sessions.changed").map(({ payload }) => [payload.sessionKey, payload.reason])).toEqual([
      [made.key, "create"],
    ]);
    expect(await transcripts()).toBe(0);
  });

  test("goes on by itself: its model reads what was before, and nothing of what came after", async () => {
    await gw.rpc("sessions.create", { key: "read", model: "script/echo" });
    for (const message of ["first words", "second words"]) await gw.ask({ sessionKey: "read", message });
    const { key } = await fork("read", 3);
    await gw.ask({ sessionKey: key, message: "other words" });

    const [, , , answer] = await gw.history(key);
    expect(answer?.text).toContain("first words");
    expect(answer?.text).toContain("other words");
    expect(answer?.text).not.toContain("second words");
    expect(await gw.history("read")).toHaveLength(4);
  });

  test("at the first message is empty, and gets its title from what is said then", async () => {
    await talk("from-start", ["hello", "yes"]);
    const { key, copied, entry } = await fork("from-start", 1);
    expect([copied, entry.derivedTitle]).toEqual([0, undefined]);
    await gw.ask({ sessionKey: key, message: "good evening" });
    expect(await gw.rpc("sessions.describe", { key })).toMatchObject({ session: { derivedTitle: "good evening" } });
  });

  test("is made once under its key", async () => {
    await talk("once", ["a", "b", "c"]);
    const made = await Promise.all([1, 2, 3].map(() => fork("once", 3, { idempotencyKey: "once" })));
    expect(new Set(made.map(({ key }) => key)).size).toBe(1);
  });

  test("has the answer that came behind the message, which had to wait for it", async () => {
    const asked = [gw.ask({ sessionKey: "agent:held:waits", message: "one" })];
    await gw.waiting();
    asked.push(gw.ask({ sessionKey: "agent:held:waits", message: "two" }));
    const { sessionId } = await eventually(async () => {
      const session = await get("agent:held:waits");
      expect(await rowsOf(session?.sessionId ?? "")).toHaveLength(2);
      return session as NonNullable<typeof session>;
    });
    await expect(fork("agent:held:waits", 2)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      retryable: true,
      details: { code: "MESSAGE_UNANSWERED" },
    });
    // Nothing is answered before the first question.
    expect(await fork("agent:held:waits", 1)).toMatchObject({ copied: 0 });
    await gw.release();
    await gw.waiting();
    await gw.release();
    await Promise.all(asked);

    const roles = (await rowsOf(sessionId)).map(({ role }) => role);
    expect(roles).toEqual(["user", "user", "assistant", "assistant"]);
    const made = await fork("agent:held:waits", 2);
    expect((await rowsOf(made.sessionId)).map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect((await gw.rpc<{ points: JsonObject[] }>("sessions.branches", { key: made.key })).points).toMatchObject([{ seq: 1 }, { seq: 3 }]);
  });

  test("reads a compaction as the other one does", async () => {
    const session = await talk("compact", ["one", "two", "three", "four", "five", "six", "seven", "eight"]);
    await gw.rpc("sessions.compact", { key: "compact", maxLines: 4 });
    await store().commit([
      {
        op: "message.append",
        message: { id: "after", sessionId: session.sessionId, ts: 9, role: "user", content: [{ type: "text", text: "nine" }] },
      },
    ]);
    const made = await fork("compact", 10);
    expect((await rowsOf(made.sessionId)).at(-1)).toMatchObject({ kind: "compaction", details: { keptFrom: 5 } });
  });
});

describe("a long transcript", () => {
  test("is copied in small pages, in order and whole", async () => {
    const session = await talk("long", ["start"]);
    for (let from = 0; from < 3_000; from += 500) {
      const messages = Array.from({ length: 500 }, (_, i) => ({
        ...{ id: `l${from + i}`, sessionId: session.sessionId, ts: 1, role: i % 2 ? ("user" as const) : ("assistant" as const) },
        content: [{ type: "text" as const, text: `${from + i} ${"x".repeat(2_000)}` }],
      }));
      await store().commit(messages.map((message) => ({ op: "message.append" as const, message })));
    }
    const sizes: number[] = [];
    const { commit } = store();
    store().commit = (ops, options) => {
      sizes.push(ops.filter(({ op }) => op === "message.append").length);
      return commit.call(store(), ops, options);
    };
    const made = await fork("long", 3_001).finally(() => {
      store().commit = commit;
    });

    expect(made.copied).toBe(3_000);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(50);
    expect(await store().messages.count(made.sessionId)).toBe(3_000);
    const last = await store().messages.page(made.sessionId, { limit: 1 });
    expect(last[0]).toMatchObject({ id: "l2998", seq: 3_000 });
  });

  test("of which a copy fails half way leaves nothing", async () => {
    await talk(
      "half",
      Array.from({ length: 250 }, (_, i) => `m${i}`),
    );
    const [before, sessions] = [await transcripts(), (await store().sessions.list({ limit: 1 })).total];
    let pages = 0;
    atFailpoints((name) => {
      if (name === "sessions.fork.after-page" && ++pages === 2) throw new Error("the disk is gone");
    });
    await expect(fork("half", 241)).rejects.toThrow("the disk is gone");
    expect([await transcripts(), (await store().sessions.list({ limit: 1 })).total]).toEqual([before, sessions]);
  });
});

describe("a fork is refused", () => {
  test.each<[string, () => Promise<JsonObject>, JsonObject]>([
    ["of a session that is not there", async () => ({ key: "nowhere", seq: 1 }), { message: "No session found: agent:main:nowhere" }],
    [
      "at a message behind the last",
      async () => ({ key: (await talk("r1", ["a", "b"])).key, seq: 3 }),
      { details: { code: "UNKNOWN_MESSAGE" } },
    ],
    [
      "of a transcript that the session has no more",
      async () => ({ key: (await talk("r2", ["a"])).key, seq: 1, expectedSessionId: "old" }),
      { details: { reason: "session-changed" } },
    ],
    [
      "under a label that another one has",
      async () => {
        await gw.rpc("sessions.create", { key: "labelled", label: "Taken" });
        return { key: (await talk("r3", ["a", "b"])).key, seq: 2, label: "Taken" };
      },
      { message: expect.stringContaining('label "Taken" is already used') },
    ],
    ["at message 0", async () => ({ key: "main", seq: 0 }), { message: expect.stringContaining("invalid sessions.fork params") }],
    ["without a number", async () => ({ key: "main" }), { message: expect.stringContaining("invalid sessions.fork params") }],
  ])("%s", async (_name, params, refusal) => {
    const before = await transcripts();
    await expect(gw.rpc("sessions.fork", await params())).rejects.toMatchObject({ code: "INVALID_REQUEST", ...refusal });
    expect(await transcripts()).toBe(before);
  });

  test("to whoever may only read", async () => {
    await talk("scoped", ["a"]);
    const reader = await gw.client({ scopes: ["operator.read"] });
    await expect(reader.request("sessions.fork", { key: "scoped", seq: 1 })).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(await reader.request("sessions.branches", { key: "scoped" })).toMatchObject({ points: [] });
  });

  test("when the session gets a new transcript while it is copied", async () => {
    await talk("moves", ["a", "b", "c"]);
    const page = holdNext(store(), "messages.count");
    const forking = fork("moves", 3);
    await page.asked;
    await store().commit([{ op: "session.put", session: newSession("agent:main:moves", "main", 1) }]);
    page.release();
    await expect(forking).rejects.toMatchObject({ details: { reason: "session-changed" } });
  });

  test("when the session is deleted while it is copied", async () => {
    await talk("goes", ["a", "b", "c"]);
    const count = holdNext(store(), "messages.count");
    const forking = fork("goes", 3);
    await count.asked;
    await store().commit([{ op: "session.delete", key: "agent:main:goes", deleteTranscript: true }]);
    count.release();
    await expect(forking).rejects.toMatchObject({ message: "No session found: agent:main:goes" });
  });

  test("beyond the branches that a conversation may have, until one is deleted", async () => {
    await talk("many", ["a", "b", "c"]);
    const made: string[] = [];
    for (let i = 0; i < branchLimits.forks; i++) made.push((await fork("many", 2)).key);
    await expect(fork("many", 2)).rejects.toMatchObject({ details: { code: "TOO_MANY_BRANCHES" } });
    await gw.rpc("sessions.delete", { key: made[3] ?? "" });
    await fork("many", 2);
  });
});

describe("sessions.branches", () => {
  const points = async (key: string) => (await gw.rpc<{ points: JsonObject[] }>("sessions.branches", { key })).points;

  test("names the sessions of a message, and forgets those that are deleted or begun anew", async () => {
    const { key: first } = await talk("family", ["a", "b", "c", "d"]);
    const [two, three] = [await fork("family", 3), await fork("family", 3)];
    const branch = (key: string) => ({ key, seq: 3, updatedAt: expect.any(Number) });
    expect(await points("family")).toEqual([{ seq: 3, current: 0, branches: [first, two.key, three.key].map(branch) }]);
    expect(await points(three.key)).toEqual([{ seq: 3, current: 2, branches: [first, two.key, three.key].map(branch) }]);

    await gw.rpc("sessions.delete", { key: two.key });
    expect(await points(three.key)).toEqual([{ seq: 3, current: 1, branches: [first, three.key].map(branch) }]);
    await gw.rpc("sessions.reset", { key: three.key });
    expect([await points(first), await points(three.key)]).toEqual([[], []]);
    expect(await store().kv.list("session-branch", `${(await sessionOf(first)).sessionId}/`)).toEqual([]);
  });

  test("of a session that is not there are none", async () => {
    expect(await gw.rpc("sessions.branches", { key: "nowhere" })).toEqual({ key: "agent:main:nowhere", points: [] });
  });
});
