import { expect, test } from "vitest";
import { toMessage } from "./to-message.ts";
import { toSession } from "./to-session.ts";

const place = { agentId: "main", agents: new Set(["main", "ops"]), mainKey: "home", now: 9_000 };
const id = "11111111-1111-4111-8111-111111111111";
const keyOf = (key: string, entry: object = {}) => {
  const made = toSession(key, { sessionId: id, ...entry }, place);
  return typeof made === "string" ? made : made.session.key;
};

test("keys become those of svc, or have a reason why they do not", () => {
  for (const [foreign, expected] of [
    ["home", "agent:main:main"],
    ["agent:OPS:home", "agent:ops:main"],
    ["agent:main:telegram:dm:42", "agent:main:telegram:direct:42"],
    ["agent:main:dm:bo", "agent:main:direct:bo"],
    ["agent:main:telegram:group:-1:topic:dm", "agent:main:telegram:group:-1:topic:dm"],
    ["cron:x", "it is a run of a scheduled job; jobs come without their runs"],
    ["agent:main:cron:x", "it is a run of a scheduled job; jobs come without their runs"],
    ["agent:gone:main", 'agent "gone" is not configured here'],
    ["a\u0007b", "invalid session key: control characters are not allowed"],
    ["agent:main:agent:ops:main", "its key names no agent"],
  ] as const)
    expect([foreign, keyOf(foreign)]).toEqual([foreign, expected]);
});

test("no entry names a file outside of its folder, and ids of another form stay the same from import to import", () => {
  expect(keyOf("home", { sessionId: "../x" })).toBe("it names no transcript");
  const made = (entry: object) => toSession("home", { sessionId: "tg", ...entry }, place) as Exclude<ReturnType<typeof toSession>, string>;

  expect(made({ sessionFile: "/etc/../other/tg-topic-1.jsonl" }).fileName).toBe("tg-topic-1.jsonl");
  expect([made({ sessionFile: "../passwd" }).fileName, made({ sessionFile: "..jsonl" }).fileName]).toEqual(["tg.jsonl", "tg.jsonl"]);
  expect(made({}).session.sessionId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(made({}).session.sessionId).toBe(made({ updatedAt: 5 }).session.sessionId);
});

test("a session has the age of the import for clean-ups, and its own times for everything else", () => {
  const made = toSession(
    "g:group:1",
    { sessionId: id, updatedAt: 50, sessionStartedAt: 10, displayName: "Two\nlines", thinkingLevel: "huge" },
    place,
  );

  expect(made).toMatchObject({
    session: {
      updatedAt: 9_000,
      lastActivityAt: 50,
      createdAt: 10,
      kind: "group",
      chatType: "group",
      channel: "g",
      derivedTitle: "Two lines",
    },
  });
  expect(made).not.toHaveProperty("session.thinkingLevel");
});

test("lines become messages: text, pictures and calls; reasoning and everything that nobody said stay out", () => {
  const at = { sessionId: "s", at: 3, ts: 7 };
  const message = (value: object, more: object = {}) => toMessage({ type: "message", id: "m", message: value, ...more }, at);

  expect(message({ role: "user", content: "half a \ud83d character" }, { timestamp: "1970-01-01T00:00:01Z" })).toEqual({
    ...{ id: "m", sessionId: "s", ts: 1_000, role: "user" },
    content: [{ type: "text", text: "half a \ufffd character" }],
  });
  const blocks = [
    { type: "thinking", thinking: "x" },
    { type: "toolCall", id: "c", name: "n" },
    { type: "image", data: "AA==", mimeType: "image/png" },
  ];
  expect(message({ role: "assistant", content: blocks, stopReason: "aborted", model: "m" }, { id: "a\u0000b" })).toEqual({
    ...{ id: "line-3", sessionId: "s", ts: 7, role: "assistant", model: "m", aborted: true },
    content: [{ type: "toolCall", id: "c", name: "n", arguments: {} }, blocks[2]],
  });
  expect(message({ role: "toolResult", toolCallId: "c", content: "ok", isError: true })).toMatchObject({ toolCallId: "c", isError: true });
  for (const other of [
    { role: "system", content: "x" },
    { role: "user", content: [] },
    { role: "assistant", content: [blocks[0]] },
    { role: "user" },
  ])
    expect(message(other)).toBeUndefined();
  expect(toMessage({ type: "compaction", summary: "x" }, at)).toBeUndefined();
});
