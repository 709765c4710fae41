import { describe, expect, test } from "vitest";

const page = (name: string) => import(new URL(`./public/core/${name}`, import.meta.url).href);
const { pointsByTurn } = await page("branch-facts.js");
const { lacksReason, turnsOf, withEvent, withoutText } = await page("turns.js");
const { recall } = await page("recall.js");
const files = await page("attachment-facts.js");
const commands = await page("command-facts.js");
const { isAtWork, outcomeWords, queueWords } = await page("outcome-facts.js");
const { contextOf } = await page("context-facts.js");
const { asJson, asMarkdown, fileNameOf } = await page("export-facts.js");
const { askedBy } = await page("asked-facts.js");
const voice = await page("voice-facts.js");

const MiB = 1_048_576;
const NOW = Date.parse("2026-11-28T14:02:00Z");

function stored(seq: number, role: string, content: object[] | string, more: object = {}) {
  return { role, content, timestamp: NOW + seq, __svc: { id: `m${seq}`, seq, runId: "r" }, ...more };
}
const text = (value: string) => ({ type: "text", text: value });
const turnOf = (...messages: object[]) => turnsOf({ messages, live: [], outgoing: [] })[0];

describe("reasoning", () => {
  test("of a stored answer stands before its text, and a sealed one has none", () => {
    const turn = turnOf(
      stored(1, "assistant", [{ type: "reasoning", text: "Hm." }, { type: "reasoning", text: "", redacted: true }, text("Blue.")]),
    );
    expect(turn.items).toMatchObject([
      { kind: "reasoning", text: "Hm.", isSealed: true },
      { kind: "text", text: "Blue." },
    ]);
  });

  test("grows while it is streamed, and goes when the answer is stored", () => {
    const event = (all: string) => ({ stream: "reasoning", ts: 1, data: { itemId: "i", text: all } });
    const run = withEvent(withEvent({ runId: "r", items: [], state: "running" }, event("H")), event("Hm"));
    expect(run.items).toMatchObject([{ kind: "reasoning", text: "Hm", isStreaming: true }]);
    expect(withoutText(run).items).toEqual([]);
  });
});

test("a tool tells its progress until it has a result", () => {
  const data = { toolCallId: "t", name: "exec" };
  const run = { runId: "r", items: [], state: "running" };
  const started = withEvent(run, { stream: "tool", ts: 1, data: { ...data, phase: "start", args: {} } });
  const partialResult = { content: [text("one\ntwo")] };
  const updated = withEvent(started, { stream: "tool", ts: 2, data: { ...data, phase: "update", partialResult } });
  expect(updated.items).toMatchObject([{ state: "running", progress: "one\ntwo" }]);
  const ended = withEvent(updated, {
    stream: "tool",
    ts: 3,
    data: { ...data, phase: "result", isError: false, result: { content: [text("done")] } },
  });
  expect(ended.items).toMatchObject([{ state: "ok", text: "done" }]);
  expect(withEvent(ended, { stream: "tool", ts: 4, data: { ...data, phase: "update", partialResult } })).toBe(ended);
});

test("files of a message stand beside its text, with their content where it is here", () => {
  const content = [
    text("What is this?"),
    text("[File a.md]\n# A"),
    { type: "image", mimeType: "image/png", data: "aGk=" },
    { type: "image", mimeType: "image/png", data: "" },
  ];
  expect(turnOf(stored(1, "user", content)).items[0]).toMatchObject({
    text: "What is this?",
    images: 2,
    files: ["a.md"],
    parts: [
      { kind: "text", name: "a.md", content: "# A" },
      { kind: "image", type: "image/png", content: "aGk=" },
      { kind: "image", type: "image/png" },
    ],
  });
  const outgoing = [
    { key: "k", sessionKey: "s", text: "", at: NOW, state: "sending", files: [{ kind: "file", name: "b.pdf", type: "application/pdf" }] },
  ];
  expect(turnsOf({ messages: [], live: [], outgoing })[0].items).toMatchObject([{ images: 0, files: ["b.pdf"] }]);
});

describe("a question without a last word", () => {
  const question = stored(1, "user", "Why?");
  const call = { type: "toolCall", id: "t", name: "exec", arguments: {} };
  test.each([
    ["alone", [question], true],
    ["after a call of a tool", [question, stored(2, "assistant", [call])], true],
    ["cut off in its answer", [question, stored(2, "assistant", "Bec", { stopReason: "error" })], true],
    ["answered", [question, stored(2, "assistant", "Because.")], false],
    ["stopped by a person", [question, stored(2, "assistant", "Bec", { aborted: true })], false],
    ["of nobody", [stored(2, "assistant", [call])], false],
  ])("needs a reason when it is %s: %#", (_, messages, expected) => {
    expect(lacksReason(turnOf(...messages))).toBe(expected);
  });

  test("needs none while its run is at work, on its way, or told of by an event", () => {
    const live = { runId: "r", startedAt: 1, items: [], state: "running" };
    expect(lacksReason(turnsOf({ messages: [question], live: [live], outgoing: [] })[0])).toBe(false);
    const note = { kind: "note", id: "r:failed", level: "bad", text: "no", retry: "Why?" };
    expect(lacksReason(turnsOf({ messages: [question], live: [{ ...live, state: "ended", note }], outgoing: [] })[0])).toBe(false);
    expect(lacksReason(turnsOf({ messages: [], live: [], outgoing: [{ key: "k", text: "Why?", at: 1, state: "sent" }] })[0])).toBe(false);
  });

  test.each([
    [{ status: "error", code: "UNAVAILABLE", error: "no model" }, "bad", "The run failed: no model"],
    [{ status: "error", code: "INTERRUPTED", error: "send it again" }, "bad", "The gateway stopped during this answer."],
    [{ status: "error", code: "ABORTED", error: "too many" }, "info", "Stopped: too many"],
    [{ status: "error", code: "TIMEOUT" }, "bad", "The run took too long."],
    [{ status: "ok", stopReason: "merged" }, "info", "Answered together with another message."],
    [{ status: "timeout" }, "bad", "This question got no answer; why is not known any more."],
  ])("is told why: %#", (outcome, level, words) => {
    expect(outcomeWords(outcome)).toEqual({ level, text: words });
  });

  test("waits for its run as long as that is at work", () => {
    expect(
      [{ status: "pending" }, { status: "timeout", startedAt: 1 }, { status: "timeout" }, { status: "error", endedAt: 2 }].map(isAtWork),
    ).toEqual([true, true, false, false]);
    expect(outcomeWords({ status: "pending" })).toBeUndefined();
  });
});

test("earlier questions come back, newest first and without their files, until something else is typed", () => {
  const messages = [stored(1, "user", "one"), stored(2, "assistant", "1"), stored(3, "user", [text("two"), text("[File a.md]\n# A")])];
  expect(recall(messages, { text: "", at: -1, step: 1 })).toEqual({ at: 0, text: "two" });
  expect(recall(messages, { text: "two", at: 0, step: 1 })).toEqual({ at: 1, text: "one" });
  expect(recall(messages, { text: "one", at: 1, step: 1 })).toBeUndefined();
  expect(recall(messages, { text: "two", at: 0, step: -1 })).toEqual({ at: -1, text: "" });
  expect(recall(messages, { text: "mine", at: -1, step: 1 })).toBeUndefined();
});

test("a message that waits behind others is told its place", () => {
  expect([-1, 0, 1, 3].map(queueWords)).toEqual([
    "Waiting for its turn",
    "Waiting for its turn",
    "Waiting for its turn: next",
    "Waiting for its turn: number 3",
  ]);
});

describe("attaching", () => {
  const limits = { maxBytes: 20 * MiB, maxImageBytes: 6 * MiB, maxFrame: 25 * MiB };
  const judge = (file: object, more: object = {}) =>
    files.judge({ name: "f", type: "", size: 10, ...file }, { limits, taken: [], ...more });

  test.each([
    [
      { name: "a.png", type: "image/png" },
      { kind: "image", type: "image/png" },
    ],
    [
      { name: "a.pdf", type: "application/pdf" },
      { kind: "file", type: "application/pdf" },
    ],
    [
      { name: "note.md", type: "" },
      { kind: "text", type: "text/plain" },
    ],
    [
      { name: "app.ts", type: "video/mp2t" },
      { kind: "text", type: "text/plain" },
    ],
    [
      { name: "voice.m4a", type: "audio/x-m4a" },
      { kind: "file", type: "audio/mp4" },
    ],
    [
      { name: "voice.webm", type: "audio/webm;codecs=opus" },
      { kind: "file", type: "audio/webm" },
    ],
  ])("takes %j", (file, part) => {
    expect(judge(file).part).toMatchObject(part);
  });

  test.each([
    ["a program", { name: "a.exe", type: "application/x-msdownload" }, {}, /is application\/x-msdownload\. Pictures, PDF documents/],
    ["an empty file", { name: "a.txt", type: "text/plain", size: 0 }, {}, /is empty/],
    ["a large picture", { type: "image/png", size: 6 * MiB + 1 }, {}, /A picture may have 6 MiB/],
    ["a large file", { type: "text/plain", size: 21 * MiB }, {}, /has 21 MiB\. A file may have 20 MiB/],
    ["a ninth file", { type: "text/plain" }, { taken: Array(8).fill({ kind: "text", size: 1 }) }, /a message takes 8 files/],
    [
      "documents that are too much together",
      { type: "application/pdf", size: 11 * MiB },
      { taken: [{ kind: "file", size: 10 * MiB }] },
      /20 MiB together/,
    ],
    [
      "more than a frame holds",
      { type: "image/png", size: 6 * MiB },
      { taken: Array(3).fill({ kind: "image", size: 5 * MiB }) },
      /about 18\.7 MiB together/,
    ],
    ["a recording for a model without ears", { type: "audio/wav" }, { input: ["text"] }, /takes no audio/],
  ])("refuses %s and says why", (_, file, situation, reason) => {
    expect(judge(file, situation).problem).toMatch(reason);
  });

  test("says what the model will not see, and offers recordings only to one that hears", () => {
    const parts = [{ kind: "image" }, { type: "application/pdf" }];
    expect(files.blindWords(parts, ["text"])).toMatch(/reads no pictures and no PDF documents/);
    expect([files.blindWords(parts, undefined), files.blindWords(parts, ["image", "pdf"])]).toEqual([undefined, undefined]);
    expect(files.judge({ name: "v", type: "audio/wav", size: 1 }, { limits, taken: [] }).part).toBeDefined();
    expect([files.acceptOf(true).includes("audio/wav"), files.acceptOf(false).includes("audio/wav")]).toEqual([true, false]);
  });

  test("a size is told in the units of the limits", () => {
    expect([1, 12, 2_048, 6 * MiB, 1.5 * MiB].map(files.sizeWords)).toEqual(["1 byte", "12 bytes", "2 KiB", "6 MiB", "1.5 MiB"]);
  });
});

describe("commands", () => {
  const all = [
    { name: "/new", about: "begin", scope: "admin" },
    { name: "/model", arguments: "<name>", about: "which", scope: "write" },
    { name: "/approve", arguments: "<id>", about: "yes", scope: "approvals" },
  ];
  const names = (typed: string) => commands.matching(all, typed).map(({ name }: { name: string }) => name);

  test.each([
    ["/", ["/new", "/model", "/approve"]],
    ["/MO", ["/model"]],
    ["/o", ["/model", "/approve"]],
    ["/model ", ["/model"]],
    ["/mod ", []],
    ["/x", []],
  ])("that %j may become", (typed, expected) => {
    expect(names(typed)).toEqual(expected);
  });

  test("are completed up to what stands behind them, and sent when they are typed out", () => {
    expect(all.map(commands.completed)).toEqual(["/new", "/model ", "/approve "]);
    expect([commands.isTyped(all[0], "/new"), commands.isTyped(all[1], "/model "), commands.isTyped(all[1], "/mod")]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("say whom they need", () => {
    const refusals = (scopes: string[]) => all.map((one) => commands.refusalOf(one, scopes));
    expect(refusals(["operator.write"])).toEqual(["needs an administrator", undefined, "needs the right to approve"]);
    expect(refusals(["operator.admin"])).toEqual([undefined, undefined, undefined]);
  });
});

test("the context is told in tokens and as a share, and says when it is nearly full", () => {
  expect(contextOf({ totalTokens: 0, contextTokens: 100 })).toBeUndefined();
  expect(contextOf({ totalTokens: 4_000, contextTokens: 32_000 })).toMatchObject({
    percent: 13,
    isFull: false,
    words: expect.stringMatching(/^4,000 of 32,000 tokens/),
  });
  expect(contextOf({ totalTokens: 90, contextTokens: 100 })).toMatchObject({
    percent: 90,
    isFull: true,
    words: expect.stringContaining("summed up soon"),
  });
  expect(contextOf({ totalTokens: 200, contextTokens: 100 }).percent).toBe(100);
  expect(contextOf({ totalTokens: 5 })).toMatchObject({ isFull: false, words: expect.stringContaining("does not say") });
});

describe("an export", () => {
  const about = { key: "agent:main:main", title: "Router # 1\n`x`", sessionId: "s", at: NOW, isWhole: true };
  const messages = [
    stored(1, "user", [text("Where?"), { type: "file", mimeType: "application/pdf", fileName: "plan.pdf" }], {
      sender: { id: "7", name: "Ana", channel: "irc" },
    }),
    stored(
      2,
      "assistant",
      [
        { type: "reasoning", text: "Look\nfirst." },
        { type: "toolCall", id: "t", name: "read", arguments: { path: "a" } },
      ],
      { provider: "acme", model: "m" },
    ),
    stored(3, "toolResult", [text("```\nfence\n```")], { toolName: "read", isError: true }),
    stored(4, "assistant", [text("In the hall.")], { model: "m", aborted: true }),
  ];

  test("as Markdown has a heading for each message, and fences that nothing inside ends", () => {
    const written = asMarkdown(about, messages);
    expect(written).toMatch(/^# Router # 1 `x`\n\nSession agent:main:main, 4 messages, exported 2026-11-28T14:02:00\.000Z\.\n/);
    for (const part of [
      "## Ana on irc, 2026-11-28T14:02:00.001Z\n\nWhere?\n\n*(file plan.pdf)*",
      "## Answer of acme/m, 2026-11-28T14:02:00.002Z\n\n> Look\n> first.",
      '### Call of read\n\n```json\n{\n  "path": "a"\n}\n```',
      "### Result of read (error), 2026-11-28T14:02:00.003Z\n\n````\n```\nfence\n```\n````",
      "In the hall.\n\n*(stopped)*",
    ])
      expect(written).toContain(part);
  });

  test("as JSON has the messages as they are, and says when older ones are left out", () => {
    const { messages: written, ...head } = JSON.parse(asJson({ ...about, isWhole: false }, messages));
    expect(written).toEqual(messages);
    expect(head).toEqual({
      kind: "svc-conversation",
      version: 1,
      session: { key: about.key, title: about.title, sessionId: "s" },
      exportedAt: "2026-11-28T14:02:00.000Z",
      isWhole: false,
    });
    expect(asMarkdown({ ...about, isWhole: false }, messages)).toContain("; older messages are left out.");
  });

  test("has a name that any file system takes", () => {
    expect(fileNameOf(about, "md")).toBe("Router-1-x 2026-11-28.md");
    expect(fileNameOf({ ...about, title: "../../<>" }, "json")).toBe("conversation 2026-11-28.json");
  });
});

describe("a request for approval", () => {
  const call = (id: string, args: object, more: object = {}) => ({ kind: "tool", id, name: "exec", args, state: "running", ...more });
  const exec = (request: object) => ({ approvalKind: "exec", id: JSON.stringify(request), request });
  const plugin = (request: object) => ({ approvalKind: "plugin", id: JSON.stringify(request), request });

  test.each<[string, object[], object[], Array<[string, number]>]>([
    [
      "by the call that it names",
      [plugin({ toolCallId: "b" })],
      [call("a", {}, { name: "send" }), call("b", {}, { name: "send" })],
      [["b", 0]],
    ],
    [
      "by the words of its command",
      [exec({ commandArgv: ["ls", "x"] })],
      [call("a", { argv: ["ls"] }), call("b", { argv: ["ls", "x"] })],
      [["b", 0]],
    ],
    ["by its line for a shell", [exec({ command: "ls | wc" })], [call("a", { command: "ls | wc" })], [["a", 0]]],
    [
      "each at a call of its own",
      [exec({ commandArgv: ["ls"] }), exec({ commandArgv: ["ls"] })],
      [call("a", { argv: ["ls"] }), call("b", { argv: ["ls"] })],
      [
        ["a", 0],
        ["b", 1],
      ],
    ],
    ["at no call that has ended", [exec({ commandArgv: ["ls"] })], [call("a", { argv: ["ls"] }, { state: "ok" })], []],
    ["at no call that it may not be about", [exec({ command: "ls" }), plugin({ title: "t" })], [call("a", { argv: ["ls"] })], []],
  ])("is found %s", (_, waiting, items, found) => {
    expect([...askedBy(waiting, items)]).toEqual(found.map(([id, i]) => [id, waiting[i]]));
  });
});

describe("a voice note", () => {
  test("is recorded in the first form that a gateway takes, and has a name with its time", () => {
    expect(voice.typeToRecord((type: string) => type.startsWith("audio/ogg"))).toBe("audio/ogg;codecs=opus");
    expect(voice.typeToRecord(() => false)).toBeUndefined();
    expect(voice.noteName(new Date(2026, 0, 5, 7, 3), "audio/mp4")).toBe("Voice note 2026-01-05 07.03.m4a");
    expect(voice.lengthWords(67_900)).toBe("1:07");
  });

  test("ends by itself before it is too long, or too large for its last moment", () => {
    const at = { ms: 5_000, bytes: 10_000, step: 4_000 };
    expect(voice.endReason(at, 18_000)).toBeUndefined();
    expect(voice.endReason(at, 17_999)).toContain("the largest that a message takes");
    expect(voice.endReason({ ...at, ms: 600_000 }, 18_000)).toContain("10 minutes");
  });

  test("says in words why there is nothing to record with", () => {
    expect(voice.microphoneWords({ name: "NotAllowedError" })).toContain("Allow it in the browser's settings");
    expect(voice.microphoneWords({ name: "NotFoundError" })).toContain("No microphone was found");
    expect(voice.microphoneWords({ name: "NotReadableError" })).toContain("Another program may have it");
    expect(voice.microphoneWords({ message: "odd" })).toContain("odd");
  });
});

test("a point where a conversation branches belongs to the question at it or behind it, if that is among the messages that are here", () => {
  const message = (seq: number, role: string) => ({
    role,
    content: `m${seq}`,
    timestamp: seq,
    __svc: { id: `m${seq}`, seq, runId: `r${Math.ceil(seq / 2)}` },
  });
  const messages = [3, 4, 5, 6].map((seq) => message(seq, seq % 2 ? "user" : "assistant"));
  const turns = turnsOf({ messages, live: [], outgoing: [] });
  const at = (...seqs: number[]) => [
    ...pointsByTurn(
      turns,
      seqs.map((seq) => ({ seq })),
    ).keys(),
  ];
  expect([at(1), at(3), at(4), at(5), at(3, 5), at(7)]).toEqual([[], ["r2"], ["r3"], ["r3"], ["r2", "r3"], []]);

  const outgoing = [{ key: "out", sessionKey: "k", text: "again", at: 1, state: "sending" }];
  expect([...pointsByTurn(turnsOf({ messages: [], live: [], outgoing }), [{ seq: 1 }]).keys()]).toEqual(["out"]);
});
