import { definePlugin, type JsonObject, type MessageRow, type ModelRequest, type ToolCall, z } from "svc/sdk";
import { createTestGateway, eventually, type FakeTurn, fakeClock, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

/** Turns with tools: side by side, one after the other, in circles, to the last one, and with a message in between. */

const MAX_TURNS = 8;
const SKIPPED = "Skipped due to queued user message.";

let respond: (req: ModelRequest) => FakeTurn = () => "done";
const model = fakeModel(Array.from({ length: 500 }, () => (req: ModelRequest) => respond(req)));
const clock = fakeClock();
let gateway: TestGateway;
/** Acts of tools, in order. */
const log: string[] = [];
const held: Array<() => void> = [];

const release = () => held.splice(0).forEach((go) => void go());
const hold = (signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    held.push(resolve);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

const tools = definePlugin({
  id: "turn-tools",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const input = z.object({ n: z.number().default(0) });
    const tool = (
      name: string,
      run: (n: number, call: ToolCall) => Promise<string> | string,
      more: { readOnly?: boolean; timeoutMs?: number } = {},
    ) => ctx.registerTool({ name, description: name, input, ...more, run: ({ n }, call) => run(n, call) });
    const logged =
      (name: string) =>
      async (n: number, { signal }: ToolCall) => {
        log.push(`${name} ${n} begins`);
        await hold(signal);
        log.push(`${name} ${n} ends`);
        return `${name} ${n}`;
      };
    tool("look", logged("look"), { readOnly: true });
    tool("put", logged("put"));
    tool("say", (n) => `said ${n}`);
    const stopped = () => Promise.reject(new Error("This operation was aborted"));
    tool("hang", (_, { signal }) => hold(signal).then(() => "never", stopped), { timeoutMs: 5_000 });
    tool("tell", async (_, { signal, update }) => {
      for (const line of ["one", "two", "three"]) update(line);
      await hold(signal);
      return "told";
    });
  },
});

beforeAll(async () => {
  const agents = { defaults: { skipBootstrap: true, model: "fake/script", maxTurns: MAX_TURNS, heartbeat: { every: "0m" } } };
  gateway = await createTestGateway({ plugins: ["store", "agents", tools], models: [model], config: { agents }, clock });
});
beforeEach(() => {
  model.requests.splice(0);
  log.splice(0);
  held.splice(0);
});
afterAll(() => gateway.close());

const ask = async (sessionKey: string, message = "Go.") => {
  const run = await gateway.service("agents@1").run({ message, sessionKey, trigger: "user", actor: { kind: "internal", scopes: [] } });
  return run.done;
};

/** The calls in the first answer, then `text`. */
const callOnce = (calls: Array<[string, number]>, text = "done") => {
  let isFirst = true;
  respond = () => {
    const turn = isFirst ? { toolCalls: calls.map(([name, n]) => ({ name, args: { n } })) } : text;
    isFirst = false;
    return turn;
  };
};

/** Results that the model reads in its newest request. */
const results = () => (model.requests.at(-1)?.messages ?? []).flatMap((m) => (m.role === "tool" ? [m.text] : []));

async function rowsOf(sessionKey: string): Promise<MessageRow[]> {
  const store = gateway.service("store@2");
  const { sessionId = "" } = (await store.sessions.get(`agent:main:${sessionKey}`)) ?? {};
  return store.messages.page(sessionId, { limit: 100 });
}

test("neighbouring calls of tools that only read run together; their results are in the order of the calls", async () => {
  callOnce([
    ["look", 1],
    ["look", 2],
    ["look", 3],
  ]);
  const done = ask("together");
  await eventually(() => held.length === 3);
  held.reverse();
  release();
  expect(await done).toMatchObject({ status: "ok", text: "done" });

  expect(log).toEqual(["look 1 begins", "look 2 begins", "look 3 begins", "look 3 ends", "look 2 ends", "look 1 ends"]);
  expect(results()).toEqual(["look 1", "look 2", "look 3"]);
});

test("a call that changes something runs alone, before what follows it and after what came before", async () => {
  callOnce([
    ["look", 1],
    ["put", 2],
    ["look", 3],
    ["look", 4],
  ]);
  const done = ask("alone");
  for (const waiting of [1, 1, 2]) {
    await eventually(() => held.length === waiting);
    release();
  }
  await done;

  expect(log.slice(0, 4)).toEqual(["look 1 begins", "look 1 ends", "put 2 begins", "put 2 ends"]);
  expect(log.slice(4, 6)).toEqual(["look 3 begins", "look 4 begins"]);
  expect(results()).toEqual(["look 1", "put 2", "look 3", "look 4"]);
});

test("no more than eight calls run together", async () => {
  callOnce(Array.from({ length: 10 }, (_, n) => ["look", n]));
  const done = ask("eight");
  await eventually(() => held.length === 8);
  expect(log).toHaveLength(8);
  release();
  await eventually(() => held.length === 2);
  release();
  await done;
  expect(results()).toEqual(Array.from({ length: 10 }, (_, n) => `look ${n}`));
});

test("a call that takes longer than its tool may is a result that says so, and the run goes on", async () => {
  callOnce([["hang", 0]], "went on");
  const done = ask("hangs");
  await eventually(() => held.length === 1);
  await clock.advance(4_999);
  expect(model.requests).toHaveLength(1);
  await clock.advance(1);
  expect(await done).toMatchObject({ status: "ok", text: "went on" });
  expect(results()).toEqual([expect.stringContaining("timed out")]);
});

test("the same call with the same result is told of at the third time, and after the fifth the model has to answer", async () => {
  respond = ({ toolChoice }) => (toolChoice === "none" ? "all the same" : { toolCalls: [{ name: "say", args: { n: 7 } }] });
  expect(await ask("circles")).toMatchObject({ status: "ok", text: "all the same" });

  expect(results().map((text) => text.includes("third call with the same arguments"))).toEqual([false, false, true, false, false]);
  expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([undefined, undefined, undefined, undefined, undefined, "none"]);
  expect(model.requests.at(-1)?.tools).toEqual(model.requests[0]?.tools);
});

test("after as many turns as there may be the model answers without tools, and the run is no error", async () => {
  let n = 0;
  respond = ({ toolChoice }) => (toolChoice === "none" ? "as far as I know" : { toolCalls: [{ name: "say", args: { n: ++n } }] });
  expect(await ask("turns")).toMatchObject({ status: "ok", text: "as far as I know", stopReason: "stop" });

  expect(model.requests).toHaveLength(MAX_TURNS);
  const last = model.requests.at(-1);
  expect(last?.tools).toEqual(model.requests[0]?.tools);
  expect(JSON.stringify(last?.messages.at(-1))).toContain("Answer now with what you know");
  expect((await rowsOf("turns")).filter(({ role }) => role === "toolResult")).toHaveLength(MAX_TURNS - 1);
});

test("calls in the last turn of a vendor that cannot forbid them are not carried out; its words are the answer", async () => {
  let n = 0;
  respond = ({ toolChoice }) => ({
    ...(toolChoice === "none" ? { text: "in words" } : {}),
    toolCalls: [{ name: "say", args: { n: ++n } }],
  });
  expect(await ask("stubborn")).toMatchObject({ status: "ok", text: "in words", toolCalls: [] });
  expect((await rowsOf("stubborn")).filter(({ role }) => role === "toolResult")).toHaveLength(MAX_TURNS - 1);
});

describe("a message that joins a turn at work", () => {
  const send = (message: string) =>
    gateway.rpc<JsonObject>("chat.send", { sessionKey: "steered", message, queueMode: "steer", idempotencyKey: `steer-${message}` });

  test("is read before the calls that have not begun: they are skipped", async () => {
    callOnce([
      ["put", 1],
      ["put", 2],
      ["look", 3],
      ["look", 4],
    ]);
    await send("Put them away.");
    await eventually(() => held.length === 1);
    expect(await send("Stop putting.")).toMatchObject({ status: "started" });
    release();
    expect(await gateway.rpc("agent.wait", { runId: "steer-Put them away." })).toMatchObject({ status: "ok" });

    expect(log).toEqual(["put 1 begins", "put 1 ends"]);
    const messages = model.requests.at(-1)?.messages ?? [];
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "tool", "tool", "user"]);
    expect(results()).toEqual(["put 1", SKIPPED, SKIPPED, SKIPPED]);
    expect(JSON.stringify(messages.at(-1))).toContain("Stop putting.");
    expect(model.requests).toHaveLength(2);
    const rows = (await rowsOf("steered")).filter(({ role }) => role === "toolResult");
    expect(rows.map(({ isError = false }) => isError)).toEqual([false, true, true, true]);
  });
});

test("lines of progress reach who watches the run: the first at once, then the newest of each quarter of a second", async () => {
  callOnce([["tell", 0]]);
  const client = await gateway.client();
  const seen: unknown[] = [];
  client.on("agent", ({ stream, data }) => {
    if (stream === "tool" && data.phase === "update") seen.push(data.partialResult);
  });
  const done = client.request(
    "agent",
    { sessionKey: "progress", message: "Go.", idempotencyKey: "progress-1" },
    { onAccepted: () => undefined },
  );
  await eventually(() => held.length === 1);
  const lines = (...texts: string[]) => texts.map((text) => ({ content: [{ type: "text", text }] }));
  await eventually(() => seen.length === 1);
  expect(seen).toEqual(lines("one"));
  await clock.advance(249);
  await client.request("health", {});
  expect(seen).toEqual(lines("one"));
  await clock.advance(1);
  await eventually(() => seen.length === 2);
  expect(seen).toEqual(lines("one", "three"));
  release();
  await done;
});
