import type { JsonObject, RunEvent, RunHandle, RunOutcome } from "svc/sdk";
import { beforeEach, describe, expect, test } from "vitest";
import { createChunks } from "./chunks.ts";
import { createEventStream, type EventStream } from "./event-stream.ts";
import { relay } from "./relay.ts";

const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 };
const okOutcome: RunOutcome = { status: "ok", text: "Hello there.", toolCalls: [], usage, stopReason: "stop" };
const chunks = createChunks({ id: "chatcmpl_1", created: 1, model: "svc" });

/** A clock that only moves when told, with the timers that follow it. */
function createTime() {
  let now = 0;
  const timers = new Set<{ at: number; fn: () => void }>();
  const setTimer = (fn: () => void, delay: number) => {
    const timer = { at: now + delay, fn };
    timers.add(timer);
    return { dispose: () => void timers.delete(timer) };
  };
  return {
    clock: { now: () => now, monotonic: () => now },
    timers: { setTimeout: setTimer },
    pending: () => timers.size,
    pass(ms: number) {
      now += ms;
      for (const timer of [...timers]) {
        if (timer.at > now || !timers.delete(timer)) continue;
        timer.fn();
      }
    },
  };
}

let time: ReturnType<typeof createTime>;
let gone: number;
let out: EventStream;

beforeEach(() => {
  time = createTime();
  gone = 0;
  out = createEventStream({
    ...time,
    onGone: () => {
      gone++;
    },
  });
});

function handleOf(events: Array<[stream: RunEvent["stream"], data: JsonObject]>, outcome: RunOutcome): RunHandle {
  return {
    runId: "r1",
    sessionKey: "agent:main:x",
    sessionId: "s1",
    agentId: "main",
    acceptedAt: 0,
    state: "started",
    async *events() {
      for (const [i, [stream, data]] of events.entries()) {
        yield { runId: "r1", seq: i + 1, stream, ts: 0, sessionKey: "agent:main:x", agentId: "main", sessionId: "s1", data };
      }
    },
    done: Promise.resolve(outcome),
    abort: () => undefined,
  };
}

const said = (delta: string, itemId = "m1"): [RunEvent["stream"], JsonObject] => ["assistant", { text: "", delta, itemId }];

async function frames(events: Parameters<typeof handleOf>[0], outcome: RunOutcome, options: Partial<Parameters<typeof relay>[2]> = {}) {
  const reading = new Response(out.body).text();
  await relay(handleOf(events, outcome), out, { chunks, includeUsage: false, demand: undefined, ...options });
  const parts = (await reading).split("\n\n").filter((part) => part !== "");
  return parts.map((part) => (part === "data: [DONE]" ? "[DONE]" : JSON.parse(part.slice("data: ".length))));
}

function contents(list: Awaited<ReturnType<typeof frames>>): string[] {
  return list.flatMap((f) => (f.choices?.[0]?.delta.content === undefined ? [] : [f.choices[0].delta.content]));
}

describe("a run on the wire", () => {
  test("sends each delta as it comes, one finish, then [DONE]", async () => {
    const list = await frames([["lifecycle", { phase: "start" }], said("Hello "), ["tool", { phase: "start" }], said("there.")], okOutcome);

    expect(contents(list)).toEqual(["Hello ", "there."]);
    expect(list.slice(2)).toMatchObject([{ choices: [{ delta: {}, finish_reason: "stop" }] }, "[DONE]"]);
    expect(list.some((f) => "usage" in Object(f))).toBe(false);
  });

  test("sends usage when asked for, between finish and [DONE]", async () => {
    const list = await frames([said("Hello there.")], okOutcome, { includeUsage: true });

    expect(list.at(-2)).toMatchObject({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } });
  });

  test("separates the messages of a run as its whole text does", async () => {
    const list = await frames([said("Let me look."), said("Found ", "m2"), said("it.", "m2")], {
      ...okOutcome,
      text: "Let me look.\n\nFound it.",
    });

    expect(contents(list).join("")).toBe("Let me look.\n\nFound it.");
  });

  test("sends what no delta brought", async () => {
    expect(contents(await frames([said("Hello ")], okOutcome))).toEqual(["Hello ", "there."]);
  });

  test("fills in for a run without text", async () => {
    const list = await frames([], { ...okOutcome, status: "error", code: "EMPTY_RESPONSE", text: "" });

    expect(contents(list)).toEqual(["No response from svc."]);
    expect(list.at(-1)).toBe("[DONE]");
  });

  test("sends calls after the text and finishes with tool_calls", async () => {
    const toolCalls = [
      { id: "c1", name: "weather", args: {} },
      { id: "c2", name: "time", args: {} },
    ];
    const list = await frames([said("Checking.")], { ...okOutcome, text: "Checking.", toolCalls, stopReason: "tool_calls" });

    const calls = list.flatMap((f) => f.choices?.[0]?.delta.tool_calls ?? []);
    expect(calls.map((c) => [c.index, c.id, c.function.arguments])).toEqual([
      [0, "c1", ""],
      [0, undefined, "{}"],
      [1, "c2", ""],
      [1, undefined, "{}"],
    ]);
    expect(list.at(-2).choices[0].finish_reason).toBe("tool_calls");
  });

  test("a failure is one error frame and [DONE], without a finish", async () => {
    const list = await frames([said("Hel")], { ...okOutcome, status: "error", code: "NETWORK", error: "secret detail", text: "Hel" });

    expect(list.slice(1)).toEqual([
      { error: { message: "upstream provider error", type: "api_error", param: null, code: null } },
      "[DONE]",
    ]);
  });

  test.each([
    [
      "a delta that replaces text",
      [said("Hello"), ["assistant", { text: "Bye there.", delta: " there.", itemId: "m1", replace: true }]] as Parameters<
        typeof handleOf
      >[0],
    ],
    ["a final text that does not begin with what was sent", [said("Bye")]],
  ])("%s ends in an error frame", async (_name, events) => {
    const list = await frames(events, okOutcome);

    expect(list.at(-2)).toMatchObject({ error: { message: "internal error" } });
    expect(list.at(-1)).toBe("[DONE]");
  });

  test("with a demand nothing is shown before the call is certain", async () => {
    const call = { id: "c1", name: "weather", args: {} };

    const met = await frames([said("Checking.")], { ...okOutcome, text: "Checking.", toolCalls: [call] }, { demand: { tool: "weather" } });
    expect(contents(met)).toEqual(["Checking."]);
    expect(met.at(-2).choices[0].finish_reason).toBe("tool_calls");
  });

  test("an unmet demand shows no text, only the error", async () => {
    const list = await frames([said("No.")], { ...okOutcome, text: "No." }, { demand: {} });

    expect(list).toEqual([
      { error: { message: "tool_choice=required was not satisfied by the agent response", type: "api_error", param: null, code: null } },
      "[DONE]",
    ]);
  });
});

describe("the stream", () => {
  test("sends a comment after 15 s of silence, not earlier, and again after 15 more", async () => {
    const reader = out.body.getReader();
    const next = async () => Buffer.from((await reader.read()).value ?? []).toString();
    out.write("data: 1\n\n");
    expect(await next()).toBe("data: 1\n\n");

    time.pass(10_000);
    out.write("data: 2\n\n");
    time.pass(14_999);
    time.pass(1);
    time.pass(15_000);

    expect([await next(), await next(), await next()]).toEqual(["data: 2\n\n", ": keepalive\n\n", ": keepalive\n\n"]);
    out.close();
    expect(time.pending()).toBe(0);
  });

  test("has room up to its bound, and again when the client takes something", async () => {
    expect(out.hasRoom()).toBe(true);
    out.write("x".repeat(70_000));
    expect(out.hasRoom()).toBe(false);

    const waiting = out.room();
    const reader = out.body.getReader();
    await reader.read();
    await waiting;
    expect(out.hasRoom()).toBe(true);
    out.close();
    expect(time.pending()).toBe(0);
  });

  test("a client that takes nothing for 30 s is gone", async () => {
    out.write("x".repeat(70_000));
    const waiting = out.room();

    time.pass(29_999);
    expect(gone).toBe(0);
    time.pass(1);

    await waiting;
    expect(gone).toBe(1);
    await expect(out.body.getReader().read()).rejects.toThrow("took nothing");
    out.write("ignored");
    out.close();
    expect(time.pending()).toBe(0);
  });

  test("a client that goes away is told once; writing goes on without effect", async () => {
    await out.body.cancel();
    out.write("data: 1\n\n");
    await out.room();
    out.close();

    expect(gone).toBe(1);
    expect(time.pending()).toBe(0);
  });

  test("closing is not going away", async () => {
    const reading = new Response(out.body).text();
    out.write("data: 1\n\n");
    out.close();
    out.close();

    expect(await reading).toBe("data: 1\n\n");
    expect(gone).toBe(0);
  });
});
