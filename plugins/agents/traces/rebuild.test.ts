import type { AgentInfo, MessageBlock, MessageRow, RunOutcome } from "svc/sdk";
import { expect, test } from "vitest";
import { noUsage } from "../models/turn.ts";
import type { PromptMessage } from "../runs/replay-to-model.ts";
import { Run } from "../runs/run.ts";
import { toModelMessages } from "../runs/transcript.ts";
import { CLEARED, SUMMARY_HEAD } from "../sessions/compaction.ts";
import { makeTrace } from "./make-trace.ts";
import { callsOfRun, sourcesOf } from "./own-calls.ts";
import { type RebuiltPrompt, rebuildPrompt } from "./rebuild.ts";
import { RecordedCalls } from "./recorded-calls.ts";
import { ShownText } from "./shown-text.ts";
import { madeFromRun, madeFromSummary, noteInFront } from "./source.ts";
import type { StoredTrace } from "./stored-trace.ts";

const text = (value: string): MessageBlock => ({ type: "text", text: value });
const row = (seq: number, role: MessageRow["role"], content: MessageBlock[], more: Partial<MessageRow> = {}): MessageRow => ({
  ...{ id: `m${seq}`, seq, sessionId: "s1", ts: seq, role, content },
  ...more,
});
const call = (id: string, name: string, args: unknown): MessageBlock => ({ type: "toolCall", id, name, arguments: args });
const picture: MessageBlock = { type: "image", mimeType: "image/png", data: "AAAA" };

const rows: MessageRow[] = [
  row(1, "user", [text("one")], { runId: "r0" }),
  row(2, "assistant", [text("two")], { runId: "r0", provider: "p", model: "m" }),
  row(3, "user", [text("Look at this."), picture], { runId: "r1" }),
  row(4, "assistant", [text("Let me see."), call("c1", "look", { at: 1 }), call("c2", "look", { at: 2 })], {
    runId: "r1",
    provider: "p",
    model: "m",
  }),
  row(5, "toolResult", [text("a cat")], { runId: "r1", toolCallId: "c1", toolName: "look" }),
];

function runOf(messages: PromptMessage[], { request = {}, tools = [] }: { request?: object; tools?: object[] } = {}): Run {
  const run = new Run({
    ...{ id: "r1", agent: { id: "main" } as AgentInfo, sessionKey: "agent:main:main", sessionId: "s1" },
    request: { message: "Hello", actor: { kind: "http", scopes: [] }, trigger: "user", ...request },
    ...{ family: undefined, model: undefined, acceptedAt: 0, arrivedAt: 0, origin: "anybody" },
  });
  run.startedAt = 1;
  run.trace.nextTurn();
  const prompt = { parts: ["be brief", "# Memory"], partsWithoutTools: ["be brief"], tools: tools as never, messages, thinking: "low" };
  const asked = {
    ...{ request: { model: "m" } as never, prompt, provider: "p", isLast: false, isWithoutTools: false, input: ["text" as const] },
    ...{ cost: () => undefined, clock: { now: () => 5, monotonic: () => 5 } },
  };
  void run.trace.attempt(asked, async () => ({ parts: [], text: "", reasoning: "", toolCalls: [], usage: noUsage, finish: "stop" }));
  return run;
}
const outcome: RunOutcome = { status: "ok", text: "", toolCalls: [], usage: noUsage, stopReason: "stop", endedAt: 9 };
const means = { redact: async (value: string) => value.replaceAll("sesame", "[redacted]"), isKnown: () => false };

async function traced(messages: PromptMessage[], request: object = {}): Promise<StoredTrace> {
  const made = await makeTrace(runOf(messages, { request }), outcome, means);
  if (!made) throw new Error("no trace");
  return JSON.parse(JSON.stringify(made.trace)) as StoredTrace;
}
function rebuilt(trace: StoredTrace, from: readonly MessageRow[] = rows): RebuiltPrompt {
  return rebuildPrompt(trace, trace.attempts[0] ?? { list: 0, messages: 0 }, {
    rows: new Map(from.map((one) => [one.seq, one])),
    own: from,
  });
}
const plain = (messages: readonly PromptMessage[]) => messages.map(({ writtenBy: _, usedTokens: __, ...rest }) => rest);

test("a prompt is rebuilt from its rows, and holds no text of them", async () => {
  const messages = toModelMessages(rows, new Set(["r1"]));
  const trace = await traced(messages);

  expect(trace.lists[0]?.messages).toEqual([
    [1, 2],
    { rows: [3], media: 1 },
    [4, 5],
    { literal: expect.objectContaining({ role: "tool", toolCallId: "c2", isError: true }) },
  ]);
  const { messages: again, notes } = rebuilt(trace);
  expect(plain(again.map(({ message }) => message))).toEqual(plain(messages));
  expect([again.map(({ media }) => media), notes]).toEqual([[0, 0, 1, 0, 0, 0], []]);
});

test("messages in one, notes in front, summaries, cleared results and messages that joined come back as they were", async () => {
  const read = [
    row(10, "assistant", [text("They spoke of cats.")], { kind: "compaction" }),
    row(11, "user", [text("event")], { kind: "system-event" }),
    row(12, "user", [text("a")], { runId: "r1" }),
    row(13, "user", [text("b")], { runId: "r1" }),
    row(14, "assistant", [call("c1", "look", {})], { runId: "r1" }),
    row(15, "toolResult", [text(CLEARED)], { runId: "r1", toolCallId: "c1", toolName: "look" }),
    row(16, "user", [text("and this")], { runId: "r2" }),
  ];
  const messages = toModelMessages(read.slice(1, -1), new Set(["r1"]));
  const [first] = messages as [PromptMessage & { role: "user" }];
  first.content.unshift({ type: "text", text: "Left out: c, sesame." });
  noteInFront(first, "Left out: c, sesame.");
  first.content.unshift({ type: "text", text: `${SUMMARY_HEAD}\nThey spoke of cats.` });
  noteInFront(first, 10);
  messages.push(madeFromRun({ role: "user", content: [{ type: "text", text: "and this" }] }, "r2"));

  const trace = await traced(messages);

  expect(trace.lists[0]?.messages).toEqual([
    { rows: [11, 12, 13], notes: [10, "Left out: c, [redacted]."] },
    14,
    { literal: { role: "tool", toolCallId: "c1", name: "look", text: CLEARED } },
    { run: "r2" },
  ]);
  const { messages: again, notes } = rebuilt(trace, read);
  const told = JSON.parse(JSON.stringify(plain(messages)).replaceAll("sesame", "[redacted]")) as unknown;
  // The mask is longer than the secret, and what was sent is known to be the rest.
  expect(plain(again.map(({ message }) => message))).toEqual(told);
  expect(notes).toEqual([]);
  const alone = madeFromSummary({ role: "user", content: [{ type: "text", text: `${SUMMARY_HEAD}\nThey spoke of cats.` }] }, 10);
  expect(rebuilt(await traced([alone]), read)).toEqual({ messages: [{ message: alone, media: 0, isCut: false }], notes: [] });
});

test("what is gone or has changed since is said", async () => {
  const trace = await traced(toModelMessages(rows, new Set(["r1"])));
  const { messages, notes } = rebuilt(trace, rows.slice(1));
  expect(notes).toEqual(["1 of 6 messages are not stored in full any more"]);
  expect(messages[0]).toMatchObject({ isCut: true });
  const changed = rows.map((one) => (one.seq === 2 ? { ...one, content: [text("something else")] } : one));
  expect(rebuilt(trace, changed).notes).toEqual([expect.stringContaining("does not hold what was sent")]);
});

test("texts that no transcript has are stored within their room, the newest first, without secrets", async () => {
  const messages = Array.from(
    { length: 10 },
    (_, i): PromptMessage => ({ role: "user", content: [{ type: "text", text: `${i} sesame ${"x".repeat(9_000)}` }] }),
  );
  const trace = await traced(messages);
  const { messages: again, notes } = rebuilt(trace);
  expect(JSON.stringify(trace).length).toBeLessThan(40_000);
  expect(JSON.stringify(trace)).not.toContain("sesame");
  expect(again.map(({ message: { role, ...rest } }) => ("content" in rest ? rest.content.length : role))).toEqual([
    0, 0, 0, 0, 0, 0, 1, 1, 1, 1,
  ]);
  expect(notes).toEqual(["10 of 10 messages are not stored in full any more"]);
  expect(trace.cut).toEqual(["texts of 10 messages that no transcript has"]);
});

test("a trace has a size whatever its run did", async () => {
  const messages = Array.from({ length: 1_000 }, (_, i) => madeFromRun({ role: "user", content: [] }, `${i}${"r".repeat(500)}`));
  const trace = await traced(messages);
  expect(JSON.stringify(trace).length).toBeLessThan(262_144);
  expect(rebuilt(trace).notes).toEqual(["the messages are not stored: there was no room for them in the trace"]);
  const run = runOf([]);
  const took = { at: 1, ms: 1, waitedMs: 0, isError: false };
  for (let i = 0; i < 600; i++) run.trace.tool({ id: "c", name: "look" }, took);
  expect((await makeTrace(run, outcome, means))?.trace).toMatchObject({ tools: { length: 500 }, cut: ["100 calls of tools"] });
});

test("blocks are named by what they hold, made once, and have no secrets", async () => {
  const tool = { name: "look", description: "open sesame", inputSchema: {} };
  const made = await makeTrace(runOf([], { tools: [tool] }), outcome, means);
  const again = await makeTrace(runOf([], { tools: [{ ...tool }] }), outcome, { ...means, isKnown: () => true });
  expect(again?.names).toEqual(made?.names);
  expect(again?.blocks.size).toBe(0);
  expect([...(made?.blocks.values() ?? [])]).toEqual([
    { text: "be brief" },
    { text: "# Memory" },
    { text: JSON.stringify([{ ...tool, description: "open [redacted]" }]) },
  ]);
  const long = runOf([]);
  Object.assign(long.trace.prompt ?? {}, { parts: ["y".repeat(300_000)] });
  expect([...((await makeTrace(long, outcome, means))?.blocks.values() ?? [])]).toMatchObject([{ cutFrom: 300_000 }]);
});

test("a run whose turn never came leaves nothing", async () => {
  const run = runOf([]);
  run.startedAt = undefined;
  expect(await makeTrace(run, outcome, means)).toBeUndefined();
});

test("calls are found with their results and times, also where ids come again", () => {
  const own = [
    row(1, "assistant", [call("c1", "look", { b: 1, a: [1] })]),
    row(2, "toolResult", [text("first")], { toolCallId: "c1" }),
    row(3, "assistant", [call("c1", "look", { a: [1], b: 1 }), call("c2", "memory_search", {})]),
    row(4, "toolResult", [text("second")], { toolCallId: "c1", isError: true }),
    row(5, "toolResult", [text("hits")], {
      toolCallId: "c2",
      details: { results: [{ path: "a.md", startLine: 1, endLine: 2 }, { path: 7 }] },
    }),
  ];
  const use = (turn: number, id: string, name: string) => ({ turn, id, name, at: 1, ms: turn });
  const calls = callsOfRun({ tools: [use(2, "c1", "look"), use(1, "c1", "look"), use(9, "gone", "exec")] }, own);
  expect(calls.map(({ id, result, use: took }) => [id, result?.seq, took?.ms])).toEqual([
    ["c1", 2, 1],
    ["c1", 4, 2],
    ["c2", 5, undefined],
    ["gone", undefined, 9],
  ]);
  expect(sourcesOf(calls)).toEqual([{ path: "a.md", startLine: 1, endLine: 2, tool: "memory_search" }]);

  const recorded = new RecordedCalls(calls);
  const take = () => recorded.take("look", { b: 1, a: [1] });
  expect([take(), take(), take()]).toEqual([{ text: "first" }, { text: "second", isError: true }, { text: "second", isError: true }]);
  expect([recorded.take("look", { a: [1] }), recorded.take("exec", undefined)]).toEqual([undefined, undefined]);
});

test("arguments are shown without secrets, by value and by name, and cut where they are too long", async () => {
  const shown = new ShownText(means.redact, 200);
  expect(await shown.json({ q: "open sesame", apiKey: "abc", list: [{ maxTokens: 5, token: { a: 1 } }], none: null })).toEqual({
    ...{ q: "open [redacted]", apiKey: "[redacted]", list: [{ maxTokens: 5, token: "[redacted]" }], none: null },
  });
  expect(await shown.json({ text: "x".repeat(500) })).toMatch(/^\{"text":"x+\n\[… \d+ characters left out …\]/);
  let deep: unknown = "x";
  for (let i = 0; i < 5_000; i++) deep = [deep];
  expect(JSON.stringify(await new ShownText(means.redact, 10_000).json(deep))).toContain("[too deep]");
});
