import type { MessageRow } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { isOfMachine, isRemembered, toTranscriptMessage } from "./eligible.ts";

describe("whose transcripts belong into memory", () => {
  test.each([
    ["agent:main:main", true],
    ["agent:main:telegram:direct:42", true],
    ["agent:main:telegram:group:1", true],
    ["agent:main:openai:123", true],
    ["agent:main:cronjobs-we-love", true],
    ["agent:main:cron:nightly", false],
    ["agent:main:cron:nightly:run:1", false],
    ["agent:main:hook:0b1e", false],
    ["agent:main:heartbeat", false],
    ["agent:main:main:heartbeat", false],
    ["agent:main:dreaming-narrative", true],
    ["agent:main:dreaming:2026-10-02", false],
    ["agent:main:main:active-memory:0123456789ab", false],
    ["agent:work:main", false],
    ["global", false],
  ])("%s: %s", (key, does) => {
    expect(isRemembered({ key, agentId: "main" })).toBe(does);
  });
});

const row = (over: Partial<MessageRow>): MessageRow => ({
  ...{ id: "i", seq: 7, sessionId: "s", ts: 9, role: "user" },
  content: [{ type: "text", text: "hello" }],
  ...over,
});

describe("which records are of a run that no person began", () => {
  const triggers: Record<string, string> = { u: "user", h: "hook", c: "cron", b: "heartbeat" };
  const triggerOf = (runId: string) => triggers[runId];

  test.each([
    ["of a person", row({ runId: "u" }), false],
    ["without a run", row({}), false],
    ["of a run nobody knows any more", row({ runId: "old" }), false],
    ["a note", row({ kind: "inject" }), false],
    ["of a hook", row({ runId: "h" }), true],
    ["of a job", row({ runId: "c", role: "assistant" }), true],
    ["an answer to a heartbeat", row({ runId: "b", role: "assistant" }), true],
    ["a heartbeat", row({ kind: "heartbeat" }), true],
    ["system events", row({ kind: "system-event", runId: "u" }), true],
    [
      "an answer of the built-in model: quotes of notes, and how to add a language model",
      row({ runId: "u", role: "assistant", provider: "recall" }),
      true,
    ],
    ["an answer of a language model", row({ runId: "u", role: "assistant", provider: "openai" }), false],
    ["a summary", row({ kind: "compaction", role: "assistant" }), true],
  ])("%s: %#", (_name, record, is) => {
    expect(isOfMachine(record, triggerOf)).toBe(is);
  });
});

describe("what was said", () => {
  test("text blocks only, in order", () => {
    const content = [
      { type: "text", text: "one" },
      { type: "image", mimeType: "image/png", data: "AAAA" },
      { type: "toolCall", id: "t", name: "x", arguments: { text: "no" } },
      { type: "thinking", text: "no" },
      { type: "text", text: "two" },
    ] as MessageRow["content"];
    expect(toTranscriptMessage(row({ content }))).toEqual({ seq: 7, role: "user", text: "one\ntwo", ts: 9 });
  });

  test("content of an older make is one text", () => {
    expect(toTranscriptMessage(row({ content: "hello" as never }))?.text).toBe("hello");
  });

  test.each([
    ["tool results", { role: "toolResult" }],
    ["other roles", { role: "system" }],
    ["no text", { content: [{ type: "image", mimeType: "image/png", data: "AAAA" }] }],
    ["blank text", { content: [{ type: "text", text: " \n" }] }],
    ["content that is none", { content: null }],
    ["blocks that are none", { content: [null, 3, "x", { type: "text" }, { type: "text", text: 4 }] }],
  ])("nothing of %s", (_name, over) => {
    expect(toTranscriptMessage(row(over as never))).toBeUndefined();
  });

  test("a message is cut at 200,000 characters", () => {
    const said = toTranscriptMessage(row({ content: [{ type: "text", text: "a".repeat(200_001) }] }));
    expect(said?.text).toHaveLength(200_000);
  });
});
