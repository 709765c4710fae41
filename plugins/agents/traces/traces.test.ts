import { definePlugin, type JsonObject, type ModelRequest } from "svc/sdk";
import { createTestGateway, eventually, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../../../test/fixtures/run-command.ts";
import replayCommand from "../cli/runs-replay.ts";
import explainCommand from "../cli/sessions-explain.ts";

const SECRET = "sk-acme-0123456789abcdef";
let gw: TestGateway;
let calls = 0;

const asks = (text: string) => ({
  toolCalls: [{ name: "memory_search", args: { query: text } }],
  text: "Let me look.",
  usage: { input: 100, output: 10, total: 110 },
});
const says = (text: string) => ({ text, usage: { input: 200, output: 20, total: 220 } });
const isAnswered = (req: ModelRequest) => req.messages.at(-1)?.role === "tool";
const first = fakeModel(
  Array.from({ length: 30 }, () => ({ fault: "auth" as const })),
  { id: "first" },
);
const second = fakeModel(
  Array.from({ length: 30 }, () => (req: ModelRequest) => {
    if (isAnswered(req)) return says("Dr Kane, says the note.");
    const asked = JSON.stringify(req.messages.at(-1));
    return asked.includes("send")
      ? { toolCalls: [{ name: "send_it", args: { to: asked.includes("the key") ? SECRET : "ana" } }] }
      : asks("dentist");
  }),
  { id: "second", info: { cost: { input: 1, output: 2 } } },
);
const other = fakeModel(
  Array.from({ length: 20 }, () => (req: ModelRequest) => (isAnswered(req) ? says("It is Dr Kane.") : asks("dentist"))),
  { id: "other", info: { cost: { input: 10, output: 20 } } },
);
const curious = fakeModel([{ toolCalls: [{ name: "send_it", args: { to: "bob", token: "abc" } }] }, asks("prices")], { id: "curious" });

/** Quotes notes, as the built-in one does. */
const quoting = Object.assign(fakeModel([says("In my notes: nothing."), says("Still nothing.")], { id: "quoting" }), { embedded: true });

const sender = definePlugin({
  id: "sender",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.on("prompt.build", (event) => ({ ...event, notes: [`Looked up with ${SECRET}.`, "x".repeat(600)] }));
    ctx.registerTool({
      name: "send_it",
      description: "Sends it.",
      input: { type: "object", properties: { to: { type: "string" }, token: { type: "string" } } },
      run: () => {
        calls += 1;
        return "sent";
      },
    });
  },
});

beforeAll(async () => {
  gw = await createTestGateway({
    plugins: ["store", "agents", "memory-core", "usage", sender],
    models: [first, second, other, curious, quoting],
    config: {
      agents: { defaults: { skipBootstrap: true, model: { primary: "first/script", fallbacks: ["second/script"] } } },
      models: { providers: { acme: { baseUrl: "http://127.0.0.1:9/v1", apiKey: SECRET } } },
    },
    workspace: {
      "AGENTS.md": `The key is ${SECRET}. Be brief.\n`,
      "memory/people.md": "# People\n\nMy dentist is Dr Kane.\n",
    },
  });
});
afterAll(() => gw?.close());

async function ask(message: string, sessionKey = "main"): Promise<string> {
  const request = { message, sessionKey, trigger: "user" as const, actor: { kind: "internal" as const, scopes: [] } };
  const run = await gw.service("agents@1").run(request);
  await run.done;
  return run.runId;
}
const explain = (params: JsonObject) => gw.rpc<JsonObject>("sessions.explain", params);
const rowsOf = async (scope: string) => (await gw.service("store@2").kv.list(scope, "")).map(({ key }) => key);

test("a run is explained by what was sent, tried, called, found and paid, without secrets", async () => {
  const runId = await ask(`Who is my dentist? My key is ${SECRET}.`);

  const told = await explain({ runId });

  expect(told).toMatchObject({
    ...{
      runId,
      sessionKey: "agent:main:main",
      status: "ok",
      stopReason: "stop",
      model: "second/script",
      answer: "Dr Kane, says the note.",
    },
    usage: { input: 300, output: 30, cost: 0.00036 },
    attempts: [
      { turn: 1, provider: "first", fault: "auth", messages: 1 },
      { turn: 1, provider: "second", finish: "tool_calls", toolCalls: 1, messages: 1, usage: { input: 100, cost: 0.00012 } },
      { turn: 2, provider: "second", finish: "stop", messages: 3 },
    ],
    tools: [
      {
        turn: 1,
        name: "memory_search",
        arguments: { query: "dentist" },
        ms: expect.any(Number),
        result: expect.stringContaining("Dr Kane"),
      },
    ],
    sources: [{ path: "memory/people.md", startLine: expect.any(Number), tool: "memory_search" }],
    remarks: ["Looked up with [redacted].", `${"x".repeat(499)}…`],
    prompt: {
      ...{ turn: 2, model: "second/script", isExact: true, notes: [], messageCount: 3 },
      system: expect.stringContaining("The key is [redacted]. Be brief."),
      messages: [
        { role: "user", text: expect.stringMatching(/^System: Now: .*\nWho is my dentist\? My key is \[redacted\]\.$/) },
        { role: "assistant", text: "Let me look.", calls: [{ name: "memory_search", arguments: { query: "dentist" } }] },
        { role: "tool", name: "memory_search", text: expect.stringContaining("Dr Kane") },
      ],
    },
  });
  const sent = second.requests.at(-1);
  const { tools } = told.prompt as { tools: Array<{ name: string }> };
  expect(tools.map(({ name }) => name)).toEqual(sent?.tools.map(({ name }) => name));
  expect((told.prompt as { system: string }).system).toBe(sent?.system.replaceAll(SECRET, "[redacted]"));
  expect(JSON.stringify(told)).not.toContain(SECRET);
  const stored = await Promise.all(
    ["run-trace", "run-trace-index", "run-trace-block"].map((scope) => gw.service("store@2").kv.list(scope, "")),
  );
  expect(JSON.stringify(stored)).not.toContain(SECRET);
  expect(JSON.stringify(stored)).not.toContain("Who is my dentist");
});

test("the prompt of an earlier turn is shown when it is asked for, and the newest run of a session by its key", async () => {
  await ask("hello", "two");
  const runId = await ask("and now?", "two");

  expect(await explain({ sessionKey: "two", turn: 1 })).toMatchObject({ runId, prompt: { turn: 1, messageCount: 5, isExact: true } });
  expect(await explain({ sessionKey: "two", newest: 2 })).toMatchObject({ asked: "hello" });
  await expect(explain({ sessionKey: "two", newest: 3 })).rejects.toMatchObject({ details: { code: "TRACE_MISSING" } });
  await expect(explain({ runId: "nobody" })).rejects.toMatchObject({ message: expect.stringContaining("no run with this id is known") });
  await expect(explain({})).rejects.toMatchObject({ code: "INVALID_REQUEST" });
});

test("a run that failed is explained by its fault, and one that never was by what is kept", async () => {
  const request = { message: "hello", sessionKey: "failed", model: "first/script", trigger: "user" as const };
  const run = await gw.service("agents@1").run({ ...request, actor: { kind: "internal", scopes: [] } });
  await run.done;
  expect(await explain({ runId: run.runId })).toMatchObject({
    ...{ status: "error", error: expect.stringContaining("fails turn"), answer: "", asked: "hello", tools: [], sources: [] },
    attempts: [{ provider: "first", fault: "auth", error: expect.any(String) }],
    prompt: { messages: [{ role: "user", text: expect.stringMatching(/^System: Now: .*\nhello$/) }], isExact: true },
  });
});

test("another model is asked the same without a tool, a message or a change of the session", async () => {
  const runId = await ask("Who is my dentist?", "replayed");
  const messages = async () => (await gw.rpc("chat.history", { sessionKey: "replayed" })).messages;
  const before = await messages();
  const runs = await gw.rpc<{ total: { runs: number } }>("usage.summary");

  const played = await gw.rpc<JsonObject>("runs.replay", { runId, model: "other/script" });

  expect(played).toMatchObject({
    runId,
    original: { model: "second/script", answer: "Dr Kane, says the note." },
    replay: {
      model: "other/script",
      answer: "It is Dr Kane.",
      calls: [{ name: "memory_search", arguments: { query: "dentist" } }],
      usage: { input: 300, output: 30, cost: expect.closeTo(0.0036) },
      turns: [
        { turn: 1, finish: "tool_calls" },
        { turn: 2, finish: "stop" },
      ],
    },
    ...{ isSame: false, isExact: true, notes: [] },
  });
  expect(other.requests[0]?.system).toBe(second.requests.at(-2)?.system.replaceAll(SECRET, "[redacted]"));
  expect(JSON.stringify(other.requests)).not.toContain(SECRET);
  expect(await messages()).toEqual(before);
  const counted = await eventually(async () => {
    const summary = await gw.rpc<{ rows: JsonObject[]; total: { runs: number } }>("usage.summary", { by: "model" });
    return summary.rows.some(({ replays }) => replays === 1) ? summary : undefined;
  });
  expect(counted.rows).toContainEqual(expect.objectContaining({ name: "other/script", runs: 0, replays: 1, input: 300, costUsd: 0.0036 }));
  expect(counted.total.runs).toBe(runs.total.runs);
});

test("a replay stops at a call whose result was never recorded", async () => {
  const runId = await ask("Who is my dentist?", "curious");
  const stopped = (played: JsonObject) => (played.replay as JsonObject).stopped;
  const before = calls;

  const wanted = stopped(await gw.rpc("runs.replay", { runId, model: "curious/script" }));
  expect(wanted).toEqual({ reason: "tool", tool: "send_it", arguments: { to: "bob", token: "[redacted]" } });
  expect(stopped(await gw.rpc("runs.replay", { runId, model: "curious/script" }))).toMatchObject({ arguments: { query: "prices" } });
  expect(stopped(await gw.rpc("runs.replay", { runId, model: "curious/script" }))).toMatchObject({
    reason: "fault",
    error: expect.stringContaining("invalid_request"),
  });
  expect(calls).toBe(before);
  await expect(gw.rpc("runs.replay", { runId, model: "other/none" })).rejects.toMatchObject({ details: { code: "INVALID_MODEL" } });
});

test("a tool with effects is not called again by a replay", async () => {
  const runId = await ask("send it", "sent");
  expect(calls).toBe(1);

  expect(await gw.rpc<JsonObject>("runs.replay", { runId, model: "second/script" })).toMatchObject({
    isSame: true,
    replay: { answer: "Dr Kane, says the note." },
  });
  expect(calls).toBe(1);
});

test("a secret in the arguments of an earlier call reaches no other model", async () => {
  await ask("send the key", "keyed");
  const runId = await ask("Who is my dentist?", "keyed");

  await gw.rpc("runs.replay", { runId, model: "other/script" });

  const { messages = [] } = other.requests.at(-2) ?? {};
  expect(messages.flatMap((one) => (one.role === "assistant" ? one.content : []))).toContainEqual(
    expect.objectContaining({ type: "toolCall", name: "send_it", args: { to: "[redacted]" } }),
  );
  expect(JSON.stringify(other.requests)).not.toContain(SECRET);
});

test("a trace goes with the transcript of its session", async () => {
  const runId = await ask("hello", "gone");
  expect(await rowsOf("run-trace")).toContain(runId);

  await gw.rpc("sessions.delete", { key: "gone" });

  expect(await rowsOf("run-trace")).not.toContain(runId);
  expect(await rowsOf("run-trace-index")).not.toContain(runId);
  await expect(explain({ runId })).rejects.toMatchObject({ message: expect.stringMatching(/is older or was deleted/) });
});

test("svc sessions explain and svc runs replay", async () => {
  const runId = await ask("Who is my dentist?", "cli");
  const run = (...args: [Parameters<typeof runCommand>[1], Parameters<typeof runCommand>[2]]) =>
    runCommand(() => gw.client({ caps: [] }), ...args);

  const { out, code } = await run(explainCommand, { values: {}, positionals: [runId] });
  expect(code).toBe(0);
  expect(out).toMatch(new RegExp(`^Run ${runId} of agent:main:cli, .*: answered in `));
  expect(out).toMatch(/\nAsked\n {2}Who is my dentist\?\n\nAnswered\n {2}Dr Kane, says the note\.\n/);
  expect(out).toMatch(/second\/script {2}3 messages, \d+ ms, stop, 200 tokens in, 20 out, \$0\.0002\n/);
  expect(out).toContain("\nPlugins about the prompt\n  Looked up with [redacted].\n");
  expect(out).toMatch(/1\. memory_search \{"query":"dentist"\} {2}\d+ ms\n {5}→ \{"results"/);
  expect(out).toMatch(/memory\/people\.md#L\d+(-L\d+)? {2}(\d\.\d\d|< 0\.01) {2}memory_search\n/);
  expect(out).not.toContain("Be brief");
  const whole = await run(explainCommand, { values: { session: "cli", prompt: true } });
  expect(whole.out).toContain("The key is [redacted]. Be brief.");
  expect(JSON.parse((await run(explainCommand, { values: { session: "cli", json: true } })).out)).toMatchObject({ runId });
  await expect(run(explainCommand, { values: {} })).rejects.toThrow("expected the id of a run, or --session <key>");

  const replayed = await run(replayCommand, { values: { model: "other/script" }, positionals: [runId] });
  expect(replayed.out).toMatch(/^second\/script, then: .*\n {2}→ memory_search .*\n {2}Dr Kane, says the note\.\n\nother\/script, now: /);
  expect(replayed.out).toMatch(/The answers differ\.\n$/);
  expect(replayed.code).toBe(0);
  await expect(run(replayCommand, { values: {}, positionals: [runId] })).rejects.toThrow("--model <provider/model>");
});

test("a model that quotes notes is explained by what it got: the message without the line before it", async () => {
  const request = { message: "Which tea?", sessionKey: "quoted", model: "quoting/script", trigger: "user" as const };
  const run = await gw.service("agents@1").run({ ...request, actor: { kind: "internal", scopes: [] } });
  await run.done;
  expect(quoting.requests[0]?.messages).toEqual([{ role: "user", content: [{ type: "text", text: "Which tea?" }] }]);
  const { prompt } = (await explain({ runId: run.runId })) as { prompt: JsonObject };
  expect(prompt).toMatchObject({ messages: [{ role: "user", text: "Which tea?" }], messageCount: 1, isExact: true });

  const { replay } = await gw.rpc<{ replay: JsonObject }>("runs.replay", { runId: run.runId, model: "quoting/script" });
  expect(replay).toMatchObject({ answer: "Still nothing." });
  expect(quoting.requests[1]?.messages).toEqual(quoting.requests[0]?.messages);
});
