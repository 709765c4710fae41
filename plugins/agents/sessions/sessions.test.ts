import type { ClientInfo, MessageRow } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { toWireMessage, visibleText } from "./display.ts";
import { freshSession, newSession, previewOf, titleOf } from "./row.ts";
import { Subscriptions } from "./subscriptions.ts";
import { toWireSession } from "./wire.ts";

describe("a session row", () => {
  test.each([
    ["agent:main:main", "direct", "direct", undefined],
    ["agent:main:irc:direct:ana", "direct", "direct", "irc"],
    ["agent:main:irc:group:team", "group", "group", "irc"],
    ["agent:main:irc:channel:dev", "group", "channel", "irc"],
    ["agent:main:irc:thread:7", "direct", "thread", "irc"],
    ["agent:main:irc:channel:dev:thread:7", "group", "thread", "irc"],
    ["agent:main:telegram:group:-100555:topic:t7", "group", "thread", "telegram"],
    ["agent:main:openai:5f0c", "direct", "direct", undefined],
    ["agent:main:hook:1", "direct", "direct", undefined],
    ["agent:main:global", "global", "direct", undefined],
    ["agent:main:unknown", "unknown", "direct", undefined],
  ])("%s is %s, a chat of type %s, of channel %s", (key, kind, chatType, channel) => {
    expect(newSession(key, "main", 5)).toMatchObject({ key, kind, chatType, createdAt: 5, totalTokens: 0, archived: false });
    expect(newSession(key, "main", 5).channel).toBe(channel);
  });

  test("a reset keeps what a person set and forgets what was said", () => {
    const old = {
      ...newSession("agent:main:main", "main", 5),
      label: "Home",
      model: "big/large",
      thinkingLevel: "high",
      pinned: true,
      category: "work",
      sendPolicy: "deny" as const,
      queueMode: "steer" as const,
      spawnedBy: "agent:main:main",
      unread: true,
      derivedTitle: "Old talk",
      lastMessagePreview: "old",
      status: "done" as const,
      totalTokens: 99,
    };

    const fresh = freshSession(old, 9);

    expect(fresh).toMatchObject({
      label: "Home",
      model: "big/large",
      thinkingLevel: "high",
      pinned: true,
      category: "work",
      sendPolicy: "deny",
      queueMode: "steer",
      spawnedBy: "agent:main:main",
      unread: false,
      createdAt: 5,
      sessionStartedAt: 9,
      totalTokens: 0,
    });
    expect(fresh.sessionId).not.toBe(old.sessionId);
    expect([fresh.derivedTitle, fresh.lastMessagePreview, fresh.status]).toEqual([undefined, undefined, undefined]);
  });

  test("the title is the first line of text, at most 60 characters", () => {
    const of = (text: string) => titleOf([{ type: "text", text }]);
    expect(of("\n  Where   is\tthe router?\nIt blinks.")).toBe("Where is the router?");
    expect(of("x".repeat(60))).toBe("x".repeat(60));
    expect(of("x".repeat(61))).toBe(`${"x".repeat(59)}…`);
    expect(of("  ")).toBeUndefined();
    expect(titleOf([{ type: "image", mimeType: "image/png", data: "" }])).toBeUndefined();
    expect(previewOf(" a\n b ")).toBe("a b");
  });

  test("on the wire it tells of runs and of its age", () => {
    const row = { ...newSession("agent:main:main", "main", 5), startedAt: 10, status: "killed" as const, model: "big/large" };
    expect(toWireSession(row, { activeRunIds: [], now: 25 })).toMatchObject({ hasActiveRun: false, totalTokensFresh: true });
    expect(toWireSession(row, { activeRunIds: [], now: 25 })).not.toHaveProperty("activeRunIds");
    expect(toWireSession(row, { activeRunIds: ["r1"], now: 25, contextTokens: 8_000 })).toMatchObject({
      contextTokens: 8_000,
      totalTokensFresh: false,
      hasActiveRun: true,
      activeRunIds: ["r1"],
      runtimeMs: 15,
      abortedLastRun: true,
      modelProvider: "big",
      snapshotAt: 25,
    });
  });
});

describe("a message on the wire", () => {
  const row: MessageRow = {
    id: "m1",
    seq: 3,
    sessionId: "s",
    ts: 7,
    role: "assistant",
    content: [
      { type: "text", text: "Hello [[reply_to_current]]there<|im_end|>" },
      { type: "toolCall", id: "t", name: "find", arguments: { q: 1 } },
    ],
    runId: "r",
    stopReason: "stop",
  };

  test("is normalised and carries its place", () => {
    expect(toWireMessage(row)).toEqual({
      role: "assistant",
      content: [
        { type: "text", text: "Hello there" },
        { type: "toolCall", id: "t", name: "find", arguments: { q: 1 } },
      ],
      timestamp: 7,
      stopReason: "stop",
      __svc: { id: "m1", seq: 3, runId: "r" },
    });
  });

  test("texts are cut, a message that is too large is a placeholder", () => {
    expect(toWireMessage({ ...row, content: [{ type: "text", text: "abcdef" }] }, 4).content).toEqual([{ type: "text", text: "abc…" }]);
    const large = toWireMessage({ ...row, content: [{ type: "text", text: "x".repeat(131_073) }] });
    expect(large).toMatchObject({ truncated: true, content: [{ type: "text", text: "[message too large to show]" }] });
  });

  test("contents of files and pictures are shown up to 64 KiB together, beyond that they are named only", () => {
    const file = (chars: number) => ({ type: "file" as const, mimeType: "application/pdf", data: "A".repeat(chars), fileName: "a.pdf" });
    const message = (...content: MessageRow["content"]) => toWireMessage({ ...row, role: "user", content });
    expect(message(file(65_536)).content).toEqual([file(65_536)]);
    expect(message(file(65_537)).content).toEqual([file(0)]);
    const picture = (chars: number) => ({ type: "image" as const, mimeType: "image/png", data: "A".repeat(chars) });
    expect(message({ type: "text", text: "What is this?" }, picture(200_000)).content).toEqual([
      { type: "text", text: "What is this?" },
      picture(0),
    ]);
    const text = { type: "text" as const, text: "Both, please." };
    expect(message(text, file(40_000), file(40_000), file(9_000_000))).toMatchObject({ content: [text, file(40_000), file(0), file(0)] });
  });

  test("long reasoning does not hide its answer, and a signature alone is not shown", () => {
    const reasoning = (text: string, more = {}) => ({ type: "reasoning" as const, text, ...more });
    const content = [
      reasoning("x".repeat(200_000)),
      reasoning("", { meta: { acme: { signature: "s" } } }),
      reasoning("", { redacted: true }),
    ];
    const shown = toWireMessage({ ...row, content: [...content, { type: "text", text: "Yes." }] }, 8).content;
    expect(shown).toEqual([reasoning("xxxxxxx…"), reasoning("", { redacted: true }), { type: "text", text: "Yes." }]);
  });

  test("details of a tool result are shown when they are small", () => {
    const result: MessageRow = {
      ...row,
      role: "toolResult",
      content: [{ type: "text", text: "{}" }],
      toolCallId: "t",
      toolName: "find",
      details: { hits: 1 },
    };
    expect(toWireMessage(result)).toMatchObject({ toolCallId: "t", toolName: "find", details: { hits: 1 } });
    expect(toWireMessage({ ...result, details: "x".repeat(70_000) })).not.toHaveProperty("details");
  });

  test.each([
    ["NO_REPLY", ""],
    [" HEARTBEAT_OK\n", ""],
    ["HEARTBEAT_OK and more", "HEARTBEAT_OK and more"],
    ["a [[reply_to: 12]] b", "a  b"],
  ])("%j shows %j", (text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });

  test("a person's own words are never touched", () => {
    expect(toWireMessage({ ...row, role: "user", content: [{ type: "text", text: "NO_REPLY" }] }).content).toEqual([
      { type: "text", text: "NO_REPLY" },
    ]);
  });
});

describe("who wants the events of a session", () => {
  const client = (connId: string, caps: string[]): ClientInfo => ({
    connId,
    caps,
    clientId: "test",
    mode: "test",
    role: "operator",
    scopes: ["operator.read"],
    remote: "127.0.0.1",
  });

  test("everybody, but a connection with session-scoped events only what it follows or started", () => {
    const subscriptions = new Subscriptions();
    const scoped = client("c", ["session-scoped-events"]);
    const nobody = new Set<string>();
    expect(subscriptions.wants(client("x", []), "k", nobody)).toBe(true);
    expect(subscriptions.wants(scoped, "k", nobody)).toBe(false);
    expect(subscriptions.wants(scoped, "k", new Set(["c"]))).toBe(true);

    subscriptions.add("c", "k");
    expect([subscriptions.wants(scoped, "k", nobody), subscriptions.wants(scoped, "other", nobody)]).toEqual([true, false]);
    subscriptions.remove("c", "k");
    expect(subscriptions.wants(scoped, "k", nobody)).toBe(false);

    subscriptions.add("c", "k");
    subscriptions.drop("c");
    expect(subscriptions.wants(scoped, "k", nobody)).toBe(false);
  });
});
