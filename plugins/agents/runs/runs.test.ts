import { defineErrors, ModelError, type RunEvent, type RunRow } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { agentErrors } from "../errors.ts";
import { noUsage } from "../models/turn.ts";
import { requestBlocks, toAttachments } from "./attachments.ts";
import { isResetMessage, isStopMessage, queueModeAsked, splitReset } from "./commands.ts";
import { EventLog } from "./event-log.ts";
import { RunFailure, toRunFailure } from "./failure.ts";
import { failureError, outcomeOf, statesOf, successPayload, toStored } from "./outcome.ts";
import { systemParts } from "./system-prompt.ts";

/** As the state store throws them. */
const storeErrors = defineErrors({
  "storage-unavailable": { message: "state store: {advice}", http: 503, rpc: "UNAVAILABLE" },
});

describe("the event log", () => {
  function event(seq: number, stream: RunEvent["stream"], data: RunEvent["data"]): RunEvent {
    return { runId: "r", seq, stream, ts: seq, sessionKey: "k", agentId: "a", sessionId: "s", data };
  }
  const delta = (seq: number, text: string, add: string, itemId = "i") => event(seq, "assistant", { text, delta: add, itemId });

  async function all(log: EventLog): Promise<RunEvent[]> {
    const out: RunEvent[] = [];
    for await (const e of log.read()) out.push(e);
    return out;
  }

  test("a reader that was there gets every delta", async () => {
    const log = new EventLog();
    const reading = all(log);
    await Promise.resolve();
    log.push(event(1, "lifecycle", { phase: "start" }));
    log.push(delta(2, "a", "a"));
    log.push(delta(3, "ab", "b"));
    log.end();

    expect((await reading).map((e) => e.seq)).toEqual([1, 2, 3]);
  });

  test("a reader that comes late gets everything, each message in one piece", async () => {
    const log = new EventLog();
    log.push(event(1, "lifecycle", { phase: "start" }));
    for (const [i, text] of ["a", "ab", "abc"].entries()) log.push(delta(i + 2, text, text.at(-1) ?? ""));
    log.push(delta(5, "x", "x", "other"));
    log.end();

    expect((await all(log)).map((e) => [e.seq, e.data.text, e.data.delta])).toEqual([
      [1, undefined, undefined],
      [4, "abc", "abc"],
      [5, "x", "x"],
    ]);
  });

  test("a slow reader holds a bounded number of events and loses no text", async () => {
    const log = new EventLog();
    const reader = log.read()[Symbol.asyncIterator]();
    log.push(event(1, "lifecycle", { phase: "start" }));
    await reader.next();
    let text = "";
    for (let i = 0; i < 5_000; i++) {
      text += "x";
      log.push(delta(i + 2, text, "x"));
    }
    log.end();

    const rest: RunEvent[] = [];
    for await (const e of { [Symbol.asyncIterator]: () => reader }) rest.push(e);
    expect(rest.length).toBeLessThan(300);
    expect(rest.map((e) => e.data.delta).join("")).toBe(text);
    expect(rest.at(-1)?.data.text).toBe(text);
  });

  test("nothing follows the end", async () => {
    const log = new EventLog();
    log.end();
    log.push(event(1, "lifecycle", {}));
    expect(await all(log)).toEqual([]);
  });
});

describe("outcomes", () => {
  const base = { text: "hi", texts: ["hi"], toolCalls: [], usage: noUsage, stopReason: "stop", durationMs: 5 };
  const row: RunRow = {
    runId: "r",
    sessionKey: "agent:main:main",
    sessionId: "s",
    agentId: "main",
    state: "ok",
    trigger: "user",
    bootId: "b",
    createdAt: 1,
    startedAt: 2,
    endedAt: 7,
    outcome: { ...base, status: "ok", provider: "p", model: "m" },
  };

  test("a stored success repeats its payload", () => {
    const outcome = outcomeOf(row);
    expect(successPayload({ runId: "r", sessionId: "s", outcome })).toEqual({
      runId: "r",
      status: "ok",
      summary: "completed",
      result: {
        payloads: [{ text: "hi", mediaUrl: null }],
        meta: { durationMs: 5, stopReason: "stop", agentMeta: { sessionId: "s", provider: "p", model: "m", usage: noUsage } },
      },
    });
  });

  test("a row holds the answer once, and that of a run that nobody repeats not at all", () => {
    const outcome = { ...base, texts: ["one", "two"], text: "one\n\ntwo", reasoning: "Hm.", status: "ok" as const };
    const stored = toStored(outcome, {});
    expect(JSON.stringify(stored).split("two")).toHaveLength(2);
    expect(outcomeOf({ ...row, outcome: stored })).toMatchObject(outcome);

    const { text, texts, reasoning, toolCalls, ...rest } = outcome;
    expect(toStored(outcome, { isRepeatable: false })).toEqual({ ...rest, isRepeatable: false });
    const failed = { ...outcome, status: "error" as const };
    expect(toStored(failed, { isRepeatable: false })).toMatchObject({ texts: ["one", "two"] });
  });

  test("a failure carries payload and error of the same text", () => {
    const error = failureError("r", { ...base, status: "error", code: "EMPTY_RESPONSE", error: "nothing came", stopReason: "error" });
    expect(error).toMatchObject({
      message: "nothing came",
      details: { code: "EMPTY_RESPONSE" },
      payload: { runId: "r", status: "error", summary: "nothing came" },
      spec: { rpc: "UNAVAILABLE" },
    });
    expect(error.payload).not.toHaveProperty("stopReason");
  });

  test.each([
    ["rpc", "ABORTED"],
    ["superseded", "ABORTED"],
    ["timeout", "TIMEOUT"],
  ])("a run that ended by %s says so", (stopReason, code) => {
    const error = failureError("r", { ...base, status: "error", code, error: "x", stopReason });
    expect(error.payload).toMatchObject({ stopReason });
    expect(error.details).toEqual({ code });
  });

  test.each(["queued", "running", "interrupted"] as const)("a row left %s was interrupted", (state) => {
    const { outcome: _, ...left } = { ...row, state };
    expect(outcomeOf(left)).toMatchObject({ status: "error", code: "INTERRUPTED", stopReason: "interrupted", startedAt: 2 });
  });

  test.each([
    [{ status: "ok" as const }, { run: "ok", session: "done" }],
    [
      { code: "ABORTED", stopReason: "rpc" },
      { run: "aborted", session: "killed" },
    ],
    [
      { code: "TIMEOUT", stopReason: "timeout" },
      { run: "timeout", session: "timeout" },
    ],
    [
      { code: "TIMEOUT", stopReason: "error" },
      { run: "error", session: "failed" },
    ],
    [
      { code: "INTERRUPTED", stopReason: "shutdown" },
      { run: "interrupted", session: "interrupted" },
    ],
    [
      { code: "AUTH", stopReason: "error" },
      { run: "error", session: "failed" },
    ],
  ])("states of %j", (outcome, states) => {
    expect(statesOf({ ...base, status: "error", ...outcome })).toEqual(states);
  });
});

describe("failures", () => {
  test("a model fault keeps its class, status and model", () => {
    expect(toRunFailure(new ModelError("quota", "no credit", { status: 402 }))).toMatchObject({ code: "QUOTA", kind: "rate_limit" });
    const failure = toRunFailure(new ModelError("rate_limit", "slow down", { status: 429 }), { provider: "p", model: "m" });
    expect(failure).toMatchObject({
      code: "RATE_LIMIT",
      kind: "rate_limit",
      message: "slow down",
      detail: { provider: "p", model: "m", failoverReason: "rate_limit", httpStatus: "429" },
    });
  });

  test.each([
    [agentErrors.invalidModel({ model: "x" }), "INVALID_MODEL"],
    [storeErrors.storageUnavailable({ advice: "disk full" }), "STORAGE"],
    [new RunFailure("EMPTY_RESPONSE", "nothing"), "EMPTY_RESPONSE"],
    [new Error("bug"), "INTERNAL"],
    ["text", "INTERNAL"],
  ])("%s becomes %s", (error, code) => {
    expect(toRunFailure(error).code).toBe(code);
  });
});

describe("commands in a message", () => {
  const triggers = ["/new", "/reset"];

  test.each([
    ["/new", { reason: "new", rest: "" }],
    ["/reset", { reason: "reset", rest: "" }],
    ["/new  plan the week", { reason: "new", rest: "plan the week" }],
    ["/newer", undefined],
    [" /new", undefined],
    ["say /new", undefined],
  ])("%j", (message, expected) => {
    expect(splitReset(triggers, message)).toEqual(expected);
    expect(isResetMessage(triggers, message)).toBe(expected !== undefined);
  });

  test.each([
    ["/queue steer", "steer"],
    ["/queue  Interrupt ", "interrupt"],
    ["/queue default", null],
    ["/queues", undefined],
    ["please /queue steer", undefined],
  ])("%j asks for %j", (message, mode) => {
    expect(queueModeAsked(message)).toBe(mode);
  });

  test.each(["/queue", "/queue never"])("%j is told what there is", (message) => {
    expect(() => queueModeAsked(message)).toThrow("expected collect, followup, steer, interrupt or default");
  });

  test("/stop stands alone", () => {
    expect([isStopMessage("/stop"), isStopMessage("/stop\n"), isStopMessage("/stop it")]).toEqual([true, true, false]);
  });
});

describe("attachments", () => {
  const png = { type: "image", mimeType: "image/png", content: "aGk=" };
  const file = { type: "file", mimeType: "text/plain", fileName: "notes.txt", content: "aGk=" };
  const zeros = (bytes: number) => Buffer.alloc(bytes).toString("base64");

  test("pictures pass, also as a data URL", () => {
    expect(toAttachments([png, { ...png, mimeType: "IMAGE/PNG", content: "data:image/png;base64,aGk=" }])).toEqual([
      { type: "image", mimeType: "image/png", data: "aGk=" },
      { type: "image", mimeType: "image/png", data: "aGk=" },
    ]);
    expect(toAttachments(undefined)).toEqual([]);
  });

  test("a text file is read as its text, with its name and without its folders", () => {
    expect(toAttachments([file, { ...file, mimeType: "application/json; charset=utf-8", fileName: "../../etc/a.json" }])).toEqual([
      { type: "text", fileName: "notes.txt", text: "hi" },
      { type: "text", fileName: "a.json", text: "hi" },
    ]);
    const [long] = toAttachments([{ ...file, content: Buffer.from("x".repeat(300_000)).toString("base64") }]);
    expect(long).toMatchObject({ text: expect.stringContaining("characters left out") });
  });

  test("they enter the transcript behind the message", () => {
    expect(requestBlocks({ message: "look", attachments: toAttachments([file, png]) })).toEqual([
      { type: "text", text: "look" },
      { type: "text", text: "[File notes.txt]\nhi" },
      { type: "image", mimeType: "image/png", data: "aGk=" },
    ]);
  });

  test.each([
    ["application/pdf", "application/pdf", "%PDF-1.7"],
    ["audio/mpeg", "audio/mpeg", "ID3"],
    ["audio/mp3", "audio/mpeg", "\xff\xfb\x90"],
    ["audio/wav", "audio/wav", "RIFF\x00\x00\x00\x00WAVE"],
    ["audio/mp4", "audio/mp4", "\x00\x00\x00\x18ftypM4A "],
    ["audio/ogg", "audio/ogg", "OggS"],
    ["audio/webm;codecs=opus", "audio/webm", "\x1a\x45\xdf\xa3"],
    ["audio/flac", "audio/flac", "fLaC"],
    ["audio/aac", "audio/aac", "\xff\xf1\x50"],
  ])("%s goes as a file of type %s, known by its beginning", (mimeType, type, start) => {
    const content = Buffer.from(start, "latin1").toString("base64");
    expect(toAttachments([{ ...file, mimeType, fileName: "../report", content }])).toEqual([
      { type: "file", mimeType: type, data: content, fileName: "report" },
    ]);
  });

  test("documents and recordings of one message are 20 MiB at most together", () => {
    const pdf = (bytes: number) => ({
      ...file,
      mimeType: "application/pdf",
      content: Buffer.concat([Buffer.from("%PDF-"), Buffer.alloc(bytes - 5)]).toString("base64"),
    });
    const half = 10 * 1024 * 1024;
    expect(toAttachments([pdf(half), pdf(half)])).toHaveLength(2);
    expect(() => toAttachments([pdf(half), pdf(half + 1)])).toThrow(
      "attachment 1: documents and recordings of one message are larger than 20971520 bytes",
    );
  });

  test("a picture of 6 MiB and a file of 20 MiB are taken, one byte more is not", () => {
    const max = { png: 6 * 1024 * 1024, file: 20 * 1024 * 1024 };
    expect(toAttachments([{ ...png, content: zeros(max.png) }])).toHaveLength(1);
    expect(toAttachments([{ ...file, content: zeros(max.file) }])).toHaveLength(1);
    expect(() => toAttachments([{ ...png, content: zeros(max.png + 1) }])).toThrow("attachment 0: larger than 6291456 bytes");
    expect(() => toAttachments([{ ...file, content: zeros(max.file + 1) }])).toThrow("attachment 0: larger than 20971520 bytes");
  });

  test.each([
    [{ ...png, mimeType: "application/zip" }, "application/zip"],
    [{ ...png, mimeType: "application/pdf" }, "does not begin as application/pdf does"],
    [{ ...png, mimeType: "audio/mpeg" }, "does not begin as audio/mpeg does"],
    [{ ...png, content: "not base64!" }, "base64"],
    [{ ...png, content: "aGk_" }, "base64"],
    [{ ...png, content: "aGkab" }, "base64"],
    [{ ...png, content: "" }, "base64"],
  ])("%j is refused", (bad, reason) => {
    expect(() => toAttachments([png, bad])).toThrow(new RegExp(`attachment 1: .*${reason}`));
  });
});

describe("the system prompt", () => {
  const agent = { id: "main", isDefault: true, workspace: "/w", models: [], identity: { name: "Ada" } };

  test("invites to search and to cite only where there is a memory", () => {
    const system = systemParts(agent, { files: "# Workspace files", citations: "invite", tools: ["memory_search"] }).join("\n");
    expect(system).toContain("You are Ada,");
    expect(system).toContain("memory_search");
    expect(system).toContain("Source: <path#Lstart-Lend>");
    expect(systemParts(agent, { files: "", citations: "invite", tools: [] }).join("\n")).not.toContain("# Memory");
  });

  test("names what the tools are good for, and what cannot be done without others", () => {
    const prompt = (tools: string[]) => systemParts(agent, { files: "", citations: "none", tools }).join("\n");
    expect(prompt(["read", "memory_append"])).toMatch(
      /With your tools you can: write notes .*read the files.*\.\nYou cannot: .*run programs/,
    );
    expect(prompt(["web_fetch", "mcp_shop_buy"])).toMatch(/further tools.*\nUnless one of those does it, you cannot: (?!.*open web pages)/);
    expect(prompt([])).toMatch(/You have no tools of your own here.*\nYou cannot: .*open web pages/);
  });

  test("hides places when citations are off", () => {
    const system = systemParts(agent, { files: "", citations: "hide", tools: ["memory_search"] }).join("\n");
    expect(system).toContain("Do not mention file paths");
    expect(system).not.toContain("Source:");
  });
});
