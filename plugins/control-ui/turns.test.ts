import { expect, test } from "vitest";

const page = (path: string) => import(new URL(`./public/core/${path}`, import.meta.url).href);
const { isFromPerson, turnsOf, withEvent, withoutText, mergeMessages, placesFound } = await page("turns.js");

let seq = 0;
function stored(role: string, text: string, more: { runId?: string; kind?: string; calls?: object[]; [key: string]: unknown } = {}) {
  const { runId, kind, calls = [], ...rest } = more;
  seq += 1;
  const content = [...(text === "" ? [] : [{ type: "text", text }]), ...calls];
  return {
    role,
    content,
    timestamp: 1_000 + seq,
    __svc: { id: `m${seq}`, seq, ...(runId ? { runId } : {}), ...(kind ? { kind } : {}) },
    ...rest,
  };
}
const call = (id: string, name: string, args: object) => ({ type: "toolCall", id, name, arguments: args });
const run = (runId: string) => ({ runId, startedAt: 5_000, items: [], state: "running" });
const event = (stream: string, data: object, ts = 6_000) => ({ stream, ts, data });
const shape = (turns: Array<{ key: string; items: Array<{ kind: string; text?: string; name?: string }> }>) =>
  turns.map((turn) => [turn.key, ...turn.items.map((item) => `${item.kind}:${item.text ?? item.name}`)]);

test("a run's question, calls and answer are one turn", () => {
  const messages = [
    stored("user", "Where?", { runId: "r1" }),
    stored("assistant", "Let me look.", { runId: "r1", calls: [call("t1", "memory_search", { query: "Where?" })] }),
    stored("toolResult", '{"results":[]}', { runId: "r1", toolCallId: "t1" }),
    stored("assistant", "Nowhere.", { runId: "r1", provider: "acme", model: "m" }),
  ];

  const turns = turnsOf({ messages, live: [], outgoing: [] });

  expect(shape(turns)).toEqual([["r1", "user:Where?", "text:Let me look.", 'tool:{"results":[]}', "text:Nowhere."]]);
  expect(turns[0].items[2]).toMatchObject({ state: "ok", name: "memory_search" });
  expect(turns[0].model).toBe("acme/m");
});

test("a message of files alone names them", () => {
  const files = [
    { type: "file", mimeType: "application/pdf", data: "", fileName: "report.pdf" },
    { type: "file", mimeType: "audio/wav", data: "" },
  ];
  const image = { type: "image", mimeType: "image/png", data: "" };
  const [turn] = turnsOf({ messages: [stored("user", "", { runId: "r", calls: [...files, image] })], live: [], outgoing: [] });

  expect(turn.items).toMatchObject([{ kind: "user", text: "", files: ["report.pdf", "audio/wav"], images: 1 }]);
});

test("a message that waited for the run before it stands with its own answer", () => {
  const messages = [
    stored("user", "first", { runId: "a" }),
    stored("user", "second", { runId: "b" }),
    stored("assistant", "to first", { runId: "a" }),
    stored("assistant", "to second", { runId: "b" }),
  ];

  expect(shape(turnsOf({ messages, live: [], outgoing: [] }))).toEqual([
    ["a", "user:first", "text:to first"],
    ["b", "user:second", "text:to second"],
  ]);
});

test("a sent message is one bubble before and after it is stored", () => {
  const outgoing = [{ key: "k1", sessionKey: "s", text: "Hello", at: 9_000, state: "sending" }];

  const before = turnsOf({ messages: [], live: [], outgoing });
  const after = turnsOf({ messages: [stored("user", "Hello", { runId: "k1" })], live: [], outgoing });

  expect(shape(before)).toEqual([["k1", "user:Hello"]]);
  expect(before[0].items[0].state).toBe("sending");
  expect(shape(after)).toEqual([["k1", "user:Hello"]]);
  expect(after[0].items[0].state).toBeUndefined();
});

test("streamed text grows in place, per message of the run", () => {
  let live = run("r");
  for (const [itemId, text] of [
    ["i1", "Let"],
    ["i1", "Let me look"],
    ["i2", "Found"],
    ["i1", "Let me look."],
  ]) {
    live = withEvent(live, event("assistant", { itemId, text }));
  }

  expect(shape(turnsOf({ messages: [], live: [live], outgoing: [] }))).toEqual([["r", "text:Let me look.", "text:Found"]]);
});

test("a tool call shows as running, then with its outcome and duration", () => {
  const started = withEvent(run("r"), event("tool", { phase: "start", toolCallId: "t", name: "read", args: { path: "a" } }, 6_000));
  const result = { content: [{ type: "text", text: "no such file" }], details: { code: 2 } };
  const done = withEvent(started, event("tool", { phase: "result", toolCallId: "t", name: "read", isError: true, result }, 6_250));

  expect(started.items).toMatchObject([{ kind: "tool", state: "running", args: { path: "a" } }]);
  expect(done.items).toMatchObject([
    { kind: "tool", state: "error", args: { path: "a" }, text: "no such file", details: { code: 2 }, ms: 250 },
  ]);
});

test("text that was stored meanwhile is shown once, a call keeps its fuller form", () => {
  let live = withEvent(run("r"), event("assistant", { itemId: "i1", text: "Let me look." }));
  const message = stored("assistant", "Let me look.", { runId: "r", calls: [call("t", "read", {})] });
  live = withoutText(live);
  live = withEvent(live, event("tool", { phase: "start", toolCallId: "t", name: "read", args: {} }));
  live = withEvent(live, event("assistant", { itemId: "i2", text: "Done" }));

  const [turn] = turnsOf({ messages: [message], live: [live], outgoing: [] });

  expect(shape([turn])).toEqual([["r", "text:Let me look.", "tool:read", "text:Done"]]);
  expect(turn.items[1].state).toBe("running");
  expect(turn.isLive).toBe(true);
});

test("stopped and broken answers say so", () => {
  const messages = [
    stored("assistant", "half", { runId: "a", aborted: true }),
    stored("assistant", "half", { runId: "b", stopReason: "error" }),
  ];

  expect(shape(turnsOf({ messages, live: [], outgoing: [] }))).toEqual([
    ["a", "text:half", "note:Stopped"],
    ["b", "text:half", "note:The answer was interrupted here"],
  ]);
});

test("a page of the history further back stands before what is known, without anything being sorted anew", () => {
  const numbered = (seq: number) => ({ role: "user", content: `${seq}`, timestamp: seq, __svc: { id: `m${seq}`, seq } });
  const known = [numbered(5), numbered(6)];
  expect(mergeMessages(known, [numbered(3), numbered(4)])).toEqual([3, 4, 5, 6].map(numbered));
  expect(mergeMessages(known, [numbered(4), numbered(3)])).toEqual([3, 4, 5, 6].map(numbered));
  expect(mergeMessages(known, [numbered(4), numbered(5)])).toEqual([4, 5, 6].map(numbered));
  expect(mergeMessages(known, [])).toEqual(known);
  expect(mergeMessages([], known)).toEqual(known);
});

test("pages and events merge by id into the order of the transcript; the newer copy wins", () => {
  const [a, b, c] = [stored("user", "a"), stored("assistant", "b"), stored("user", "c")];

  const merged = mergeMessages([b, c], [a, { ...b, content: "b2" }]);

  expect(merged.map((m: { content: unknown }) => m.content)).toEqual([a?.content, "b2", c?.content]);
});

test("places found by memory searches are known, whatever form the result has", () => {
  const hit = { path: "memory/a.md", startLine: 1, endLine: 3, score: 0.5, snippet: "text\n\nSource: memory/a.md#L1-L3" };
  const messages = [
    stored("assistant", "", { runId: "r", calls: [call("t1", "memory_search", {}), call("t2", "memory_search", {})] }),
    stored("toolResult", JSON.stringify({ results: [hit] }), { runId: "r", toolCallId: "t1" }),
    stored("toolResult", "cut", { runId: "r", toolCallId: "t2", details: { results: [{ ...hit, path: "memory/b.md" }] } }),
  ];

  const [turn] = turnsOf({ messages, live: [], outgoing: [] });

  expect(placesFound(turn)).toMatchObject([
    { path: "memory/a.md", from: 1, to: 3, snippet: "text" },
    { path: "memory/b.md", from: 1, to: 3 },
  ]);
});

test("a run that waits for a place has its position until it begins", () => {
  const turnOf = (live: unknown) => turnsOf({ messages: [], live: [live], outgoing: [] })[0];
  let live = withEvent(run("r"), event("lifecycle", { phase: "queued", position: 3 }, 1_000));
  live = withEvent(live, event("lifecycle", { phase: "queued", position: 2 }, 2_000));
  expect(turnOf(live)).toMatchObject({ isLive: true, position: 2 });

  const begun = turnOf(withEvent(live, event("lifecycle", { phase: "start", startedAt: 9_000 }, 9_000)));
  expect(begun).toMatchObject({ isLive: true, startedAt: 9_000 });
  expect(begun).not.toHaveProperty("position");
});

test("a summary of older messages is a line of the gateway, not an answer", () => {
  const messages = [
    stored("user", "Where?", { runId: "r1" }),
    stored("assistant", "## Goal\nFind it.", { kind: "compaction" }),
    stored("assistant", "Here.", { runId: "r1" }),
  ];

  const turns = turnsOf({ messages, live: [], outgoing: [] });

  expect(shape(turns)).toEqual([
    ["r1", "user:Where?", "text:Here."],
    [expect.stringMatching(/^m:/), "system:## Goal\nFind it."],
  ]);
  expect(turns[1].items[0]).toMatchObject({ about: "summary" });
});

test("events of an unknown kind change nothing", () => {
  const live = withEvent(run("r"), event("assistant", { itemId: "i", text: "x" }));

  expect(withEvent(live, event("usage", { outputTokens: 3 }))).toBe(live);
  expect(withEvent(live, event("compaction", { phase: "start" }))).toBe(live);
});

test("heartbeats and events are lines of the gateway, not questions", () => {
  const messages = [
    stored("user", "Look around.", { runId: "beat", kind: "heartbeat" }),
    stored("assistant", "All quiet.", { runId: "beat" }),
    stored("user", "System: the door opened\nSystem: the mail came", { runId: "r1", kind: "system-event" }),
    stored("user", "What happened?", { runId: "r1" }),
  ];

  const turns = turnsOf({ messages, live: [], outgoing: [] });

  expect(shape(turns)).toEqual([
    ["beat", "system:Look around.", "text:All quiet."],
    ["r1", "system:the door opened\nthe mail came", "user:What happened?"],
  ]);
  expect(turns.map((turn: { items: Array<{ about?: string }> }) => turn.items[0]?.about)).toEqual(["heartbeat", "event"]);
  expect(messages.map(isFromPerson)).toEqual([false, false, false, true]);
});

test("an event that is stored before its message does not hide the message on its way", () => {
  const event = stored("user", "System: news", { runId: "k1", kind: "system-event" });
  const outgoing = [{ key: "k1", sessionKey: "s", text: "Hello", at: 9_000, state: "sending" }];

  expect(shape(turnsOf({ messages: [event], live: [], outgoing }))).toEqual([["k1", "user:Hello", "system:news"]]);
});
