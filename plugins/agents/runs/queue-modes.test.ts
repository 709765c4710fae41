import type { JsonObject, SvcConfigInput } from "svc/sdk";
import { afterAll, describe, expect, test } from "vitest";
import { type AgentsGateway, createAgentsGateway, eventually, outline, record } from "../../../test/fixtures/agents-gateway.ts";

let gw: AgentsGateway;
const gateways = new Map<string, AgentsGateway>();
afterAll(async () => {
  for (const each of gateways.values()) await each.close();
});

let tests = 0;
/** Id of a run of the present test. */
const id = (message: string) => `${tests} ${message}`;

/** A gateway with this config; tests that want the same one share it. */
const start = async (queue: NonNullable<SvcConfigInput["messages"]>["queue"]) => {
  tests += 1;
  const name = JSON.stringify(queue);
  gw = gateways.get(name) ?? (await createAgentsGateway({ config: { messages: { queue: { debounceMs: 0, ...queue } } } }));
  gateways.set(name, gw);
};
const send = (sessionKey: string, message: string, more: JsonObject = {}) =>
  gw.rpc<JsonObject>("chat.send", { sessionKey, message, idempotencyKey: id(message), ...more });
const wait = (message: string) => gw.rpc<JsonObject>("agent.wait", { runId: id(message) });

/** Messages the model was given, as `role text`; its script repeats them. */
async function seenBy(sessionKey: string): Promise<string[]> {
  const last = (await gw.history(sessionKey)).at(-1);
  const said = JSON.parse(last?.text ?? "[]") as
    | Array<{ role: string; text?: string; content?: Array<{ text: string }> }>
    | { messages: [] };
  const messages = Array.isArray(said) ? said : said.messages;
  return (messages as Array<{ role: string; text?: string; content?: Array<{ text: string }> }>).map(
    (m) => `${m.role}: ${m.text ?? m.content?.map((c) => c.text).join(" + ")}`,
  );
}

describe("collect", () => {
  test("messages that met a turn are answered together by the next one", async () => {
    await start({});
    const key = "agent:held:collect";
    const client = await gw.client();
    const frames = record(client);
    await send(key, "one");
    await gw.waiting();
    for (const message of ["two", "three", "four"]) expect(await send(key, message)).toEqual({ runId: id(message), status: "started" });
    await gw.rpc("sessions.patch", { key, model: "script/echo" });
    await gw.release();

    expect(await wait("two")).toMatchObject({ status: "ok", stopReason: "stop" });
    for (const joined of ["three", "four"]) expect(await wait(joined)).toMatchObject({ status: "ok", stopReason: "merged" });
    expect(await seenBy(key)).toEqual(["user: one", "assistant: one two", "user: two + three + four"]);
    expect((await gw.history(key)).filter((m) => m.role === "assistant")).toHaveLength(2);

    await client.request("health", {});
    expect(outline(frames, id("three"))).toEqual(["lifecycle start", "chat final", "lifecycle end"]);
    const final = frames.find((f) => f.payload.runId === id("three") && f.payload.state === "final");
    expect(final?.payload).toMatchObject({ stopReason: "merged" });
    expect(final?.payload).not.toHaveProperty("message");
  });

  test("the turn begins when nobody has written for the configured time", async () => {
    await start({ debounceMs: 400 });
    const key = "agent:held:debounce";
    await send(key, "one");
    await gw.waiting();
    await send(key, "two");
    await gw.release();
    await wait("one");
    await send(key, "three");

    await gw.waiting();
    await gw.release();
    expect(await wait("two")).toMatchObject({ status: "ok", stopReason: "stop" });
    expect(await wait("three")).toMatchObject({ status: "ok", stopReason: "merged" });
  });

  test("a repeat of a message that joined another turn is answered as that turn was, also by a later reader", async () => {
    await start({});
    const key = "agent:held:repeat";
    await send(key, "one");
    await gw.waiting();
    for (const message of ["two", "three"]) await send(key, message);
    await gw.release();
    await gw.waiting();
    expect(await send(key, "three")).toEqual({ runId: id("three"), status: "in_flight" });
    await gw.release();
    await wait("three");

    expect(await send(key, "three")).toEqual({ runId: id("three"), status: "ok" });
    expect(await gw.history(key)).toHaveLength(5);
  });

  test("the order of a transcript is the one in which it was read, for every later turn", async () => {
    await start({});
    const key = "agent:held:later";
    await send(key, "one");
    await gw.waiting();
    for (const message of ["two", "three"]) await send(key, message);
    await gw.release();
    await gw.waiting();
    await gw.release();
    await wait("three");
    await gw.rpc("sessions.patch", { key, model: "script/echo" });

    await send(key, "last");
    await wait("last");

    expect(await seenBy(key)).toEqual(["user: one", "assistant: one two", "user: two + three", "assistant: one two", "user: last"]);
  });

  test("a joined message can be taken back alone, its turn goes on", async () => {
    await start({});
    const key = "agent:held:take-back";
    await send(key, "one");
    await gw.waiting();
    for (const message of ["two", "three"]) await send(key, message);
    await gw.release();
    await gw.waiting();

    expect(await gw.rpc("chat.abort", { sessionKey: key, runId: id("three") })).toEqual({ ok: true, aborted: true, runIds: [id("three")] });
    expect(await wait("three")).toMatchObject({ status: "error", code: "ABORTED", stopReason: "rpc" });
    expect(await gw.rpc("sessions.describe", { key })).toMatchObject({ session: { status: "running" } });
    await gw.release();
    expect(await wait("two")).toMatchObject({ status: "ok" });
    expect(await gw.rpc("sessions.describe", { key })).toMatchObject({ session: { status: "done" } });
  });

  test("a turn that fails fails for all it answers", async () => {
    await start({});
    const key = "agent:held:fails";
    await send(key, "one");
    await gw.waiting();
    await gw.rpc("sessions.patch", { key, model: "script/refused" });
    for (const message of ["two", "three"]) await send(key, message);
    await gw.release();

    for (const runId of ["two", "three"]) expect(await wait(runId)).toMatchObject({ status: "error", code: "INVALID_REQUEST" });
    await expect(send(key, "three")).rejects.toMatchObject({ payload: { runId: id("three"), status: "error" } });
  });
});

describe("steer", () => {
  test("a message is put before the next model call of the turn at work", async () => {
    await start({ mode: "steer" });
    const key = "agent:look:steer";
    await send(key, "find it");
    await gw.waiting();
    await send(key, "in the cellar");
    await gw.release();

    expect(await wait("in the cellar")).toMatchObject({ status: "ok", stopReason: "merged" });
    expect(await wait("find it")).toMatchObject({ status: "ok", stopReason: "stop" });
    expect(await seenBy(key)).toEqual(["user: find it", "assistant: ", "tool: released", "user: in the cellar"]);
    expect((await gw.history(key)).map((m) => m.role)).toEqual(["user", "assistant", "user", "toolResult", "assistant"]);
    const told = await gw.rpc<JsonObject>("sessions.explain", { runId: id("in the cellar") });
    expect(told).toMatchObject({ runId: id("find it"), joined: [id("in the cellar")], asked: "find it\n\nin the cellar" });
    const texts = ["find it", "", "released", "in the cellar"];
    expect(told.prompt).toMatchObject({
      turn: 2,
      isExact: true,
      messages: texts.map((text) => ({ text: expect.stringMatching(new RegExp(`(^|\\n)${text}$`)) })),
    });
  });

  test("without a further model call it gets a turn of its own", async () => {
    await start({ mode: "steer" });
    const key = "agent:held:late";
    await send(key, "one");
    await gw.waiting();
    await send(key, "two");
    await gw.release();
    await gw.waiting();
    await gw.release();

    expect(await wait("two")).toMatchObject({ status: "ok", stopReason: "stop" });
    expect((await gw.history(key)).filter((m) => m.role === "assistant")).toHaveLength(2);
  });
});

describe("a conversation that is made shorter while messages wait", () => {
  test("keeps the question of each: its turn reads it word for word", async () => {
    await start({ mode: "followup" });
    const key = "agent:held:shorter";
    await send(key, "zero");
    await gw.waiting();
    await gw.release();
    await wait("zero");
    await send(key, "one");
    await gw.waiting();
    for (const message of ["two", "three", "four"]) await send(key, message);
    await gw.rpc("sessions.patch", { key, model: "script/echo" });

    expect(await gw.rpc("sessions.compact", { key })).toMatchObject({ compacted: true });
    await gw.release();
    await wait("four");

    const { messages } = await gw.rpc<{ messages: Array<{ role: string; content: Array<{ text: string }>; __svc: JsonObject }> }>(
      "chat.history",
      { sessionKey: key, maxChars: 500_000 },
    );
    const answers = messages.filter(({ role, __svc }) => role === "assistant" && __svc.kind === undefined).slice(-3);
    const asked = answers.map(({ content }) => {
      const seen = JSON.parse(content[0]?.text ?? "{}") as { messages: Array<{ content: Array<{ text: string }> }> };
      return seen.messages.at(-1)?.content.at(-1)?.text;
    });
    expect(asked).toEqual(["two", "three", "four"]);
  });
});

describe("which mode", () => {
  test("the message's own, else what /queue set for the session, else the config", async () => {
    await start({ mode: "followup" });
    const key = "agent:held:which";
    expect(await gw.rpc("chat.send", { sessionKey: key, message: "/queue interrupt", idempotencyKey: id("q") })).toEqual({
      runId: id("q"),
      status: "ok",
      queueMode: "interrupt",
    });
    await send(key, "one");
    await gw.waiting();
    await send(key, "two");
    expect(await wait("one")).toMatchObject({ status: "error", stopReason: "superseded" });
    await gw.waiting();
    await send(key, "three", { queueMode: "followup" });
    expect(await gw.rpc("agent.wait", { runId: id("three"), timeoutMs: 0 })).toMatchObject({ status: "pending" });

    await gw.rpc("chat.send", { sessionKey: key, message: "/queue default", idempotencyKey: id("q2") });
    await send(key, "four");
    expect(await gw.rpc("agent.wait", { runId: id("four"), timeoutMs: 0 })).toMatchObject({ status: "pending" });
    await gw.rpc("chat.abort", { sessionKey: key });
    expect((await gw.history(key)).map((m) => m.text)).not.toContain("/queue default");
  });

  test("a word that is no mode is told what there is, and its key stays free", async () => {
    await start({});
    await expect(gw.rpc("chat.send", { sessionKey: "x", message: "/queue fast", idempotencyKey: id("k") })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringContaining("expected collect"),
    });
    expect(await gw.rpc("chat.send", { sessionKey: "x", message: "/queue collect", idempotencyKey: id("k") })).toMatchObject({
      status: "ok",
    });
  });

  test("a caller of `agent` gets a turn of its own, whatever the config says", async () => {
    await start({ mode: "collect" });
    const sessionKey = "agent:held:agent";
    const first = gw.ask({ sessionKey, message: "one" });
    await gw.waiting();
    const others = ["two", "three"].map((message) => gw.ask({ sessionKey, message }));
    await eventually(async () => (await gw.history(sessionKey)).length === 3);
    for (let turn = 0; turn < 3; turn++) {
      await gw.waiting();
      await gw.release();
    }

    for (const { final } of await Promise.all([first, ...others])) {
      expect(final).toMatchObject({ status: "ok", result: { payloads: [{ text: "one two" }] } });
    }
  });
});

describe("more than may wait", () => {
  const busy = async (queue: NonNullable<SvcConfigInput["messages"]>["queue"]) => {
    await start({ cap: 2, mode: "followup", ...queue });
    await send("agent:held:cap", "first");
    await gw.waiting();
    for (const message of ["a", "b"]) await send("agent:held:cap", message);
  };
  const seen = async () => {
    await gw.rpc("sessions.patch", { key: "agent:held:cap", model: "script/echo" });
    await gw.release();
    await wait("c");
    return seenBy("agent:held:cap");
  };

  test("the newest is refused when the config says so", async () => {
    await busy({ drop: "new" });
    await expect(send("agent:held:cap", "c")).rejects.toMatchObject({ code: "UNAVAILABLE", retryable: true, details: { code: "BUSY" } });
    expect((await gw.history("agent:held:cap")).map((m) => m.text)).toEqual(["first", "a", "b"]);
  });

  test("the oldest loses its turn and is not read any more", async () => {
    await busy({ drop: "old" });
    expect(await send("agent:held:cap", "c")).toMatchObject({ status: "started" });

    expect(await wait("a")).toMatchObject({ status: "error", code: "ABORTED", stopReason: "superseded" });
    expect(await seen()).toEqual(["user: first", "assistant: one two", "user: b", expect.stringMatching(/^assistant: /), "user: c"]);
    expect((await gw.history("agent:held:cap")).map((m) => m.text)).toContain("a");
  });

  test("or is summed up for the next turn", async () => {
    await busy({ mode: "collect", drop: "summarize" });
    await send("agent:held:cap", "c");

    expect(await wait("a")).toMatchObject({ status: "error", stopReason: "superseded" });
    expect(await seen()).toEqual([
      "user: first",
      "assistant: one two",
      "user: [While you were busy, 1 message got no answer:]\n- a + b + c",
    ]);
  });

  test("a run of a program never makes way for a message", async () => {
    await start({ cap: 1, drop: "old", mode: "followup" });
    const sessionKey = "agent:held:program";
    await send(sessionKey, "first");
    await gw.waiting();
    const asked = gw.ask({ sessionKey, message: "program" });
    await eventually(async () => (await gw.history(sessionKey)).length === 2);

    await expect(send(sessionKey, "second")).rejects.toMatchObject({ details: { code: "BUSY" } });
    await gw.release();
    await gw.waiting();
    await gw.release();
    expect((await asked).final).toMatchObject({ status: "ok" });
  });
});
