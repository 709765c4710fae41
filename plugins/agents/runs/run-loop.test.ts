import type { JsonObject, RunRequest } from "svc/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentsGateway, createAgentsGateway, eventually, outline, record } from "../../../test/fixtures/agents-gateway.ts";

let gw: AgentsGateway;
beforeAll(async () => {
  gw = await createAgentsGateway();
});
afterAll(() => gw.close());

const internal: RunRequest["actor"] = { kind: "internal", scopes: [] };

describe("a run over the wire", () => {
  test("is accepted, told in events, and answered last", async () => {
    const client = await gw.client();
    const frames = record(client);

    const { accepted, final } = await gw.ask({ idempotencyKey: "wire-1", sessionKey: "wire" }, client);

    expect(accepted).toMatchObject({ runId: "wire-1", sessionKey: "agent:main:wire", agentId: "main", status: "accepted" });
    expect(accepted.acceptedAt).toBeTypeOf("number");
    expect(final).toMatchObject({
      runId: "wire-1",
      status: "ok",
      summary: "completed",
      result: {
        payloads: [{ text: "Hello from the script.", mediaUrl: null }],
        meta: { agentMeta: { provider: "script", model: "ok", usage: { input: 10, output: 5, cacheRead: 2, cacheWrite: 0, total: 17 } } },
      },
    });
    const run = outline(frames, "wire-1");
    expect(run.filter((l) => l !== "assistant" && l !== "chat delta")).toEqual([
      "lifecycle start",
      "chat status",
      "chat status",
      "lifecycle model",
      "usage",
      "chat final",
      "lifecycle end",
    ]);
    const phases = frames.filter((f) => f.payload.state === "status").map((f) => f.payload.phase);
    expect(phases).toEqual(["preparing_context", "starting_model"]);
    expect(run.at(-1)).toBe("lifecycle end");
  });

  test("numbers its events strictly upwards and ends with one terminal event, nothing behind it", async () => {
    const client = await gw.client();
    const frames = record(client);

    await gw.ask({ idempotencyKey: "wire-2", sessionKey: "wire" }, client);
    await client.request("health", {});

    const seqs = frames.filter((f) => f.event === "agent" && f.payload.runId === "wire-2").map((f) => Number(f.payload.seq));
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    const terminal = outline(frames, "wire-2").filter((l) => /lifecycle (end|error)/.test(l));
    expect(terminal).toEqual(["lifecycle end"]);
    expect(outline(frames, "wire-2").at(-1)).toBe("lifecycle end");
  });

  test("loses no text when deltas are merged", async () => {
    const client = await gw.client();
    const frames = record(client);

    const { final } = await gw.ask({ idempotencyKey: "flood-1", sessionKey: "flood", model: "script/flood" }, client);

    const text = (final.result as { payloads: Array<{ text: string }> }).payloads[0]?.text;
    const deltas = frames.filter((f) => f.event === "chat" && f.payload.state === "delta");
    expect(text?.split(" ")).toHaveLength(2_001);
    expect(deltas.map((f) => f.payload.deltaText).join("")).toBe(text);
    expect(deltas.length).toBeLessThan(2_000);
    const said = frames.filter((f) => f.event === "agent" && f.payload.stream === "assistant").map((f) => f.payload.data as JsonObject);
    expect(said.map((d) => d.delta).join("")).toBe(text);
    expect(said.at(-1)?.text).toBe(text);
  });

  test("shows no frame of external text while it is written, nor in its final answer", async () => {
    const client = await gw.client();
    const frames = record(client);

    const { final } = await gw.ask({ idempotencyKey: "quote-1", sessionKey: "quote", model: "script/quote" }, client);

    const shown = "It says:\nOrder 7\nThat is all.";
    const deltas = frames.filter((f) => f.event === "chat" && f.payload.state === "delta");
    expect(deltas.map((f) => f.payload.deltaText).join("")).toBe(shown);
    const said = frames.filter((f) => f.event === "agent" && f.payload.stream === "assistant").map((f) => f.payload.data as JsonObject);
    expect(said.at(-1)?.text).toBe(shown);
    expect(final).toMatchObject({ result: { payloads: [{ text: shown }] } });
    expect(JSON.stringify(frames)).not.toMatch(/UNTRUSTED|SECURITY NOTICE/);
    expect((await gw.history("quote")).at(-1)?.text).toBe(shown);
  });

  test("shows what a tool found without its frame", async () => {
    const client = await gw.client({ caps: ["tool-events"] });
    const frames = record(client);

    await gw.ask({ idempotencyKey: "framed-1", sessionKey: "framed", model: "script/framed-tool" }, client);

    const result = frames.map((f) => f.payload.data as JsonObject | undefined).find((data) => data?.phase === "result");
    expect(result?.result).toMatchObject({ content: [{ type: "text", text: "echo Order 7" }] });
  });

  test("a request without a message is refused", async () => {
    const client = await gw.client();
    await expect(client.request("agent" as string, { idempotencyKey: "x" })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringMatching(/^invalid agent params: at message: /),
    });
    await expect(gw.ask({ message: "  " })).rejects.toMatchObject({ code: "INVALID_REQUEST", message: "message or attachment required" });
  });

  test.each<[string, JsonObject, JsonObject]>([
    ["an unknown agent", { agentId: "zzz" }, { message: 'unknown agent id "zzz"', details: { code: "UNKNOWN_AGENT_ID", agentId: "zzz" } }],
    [
      "a key of another agent",
      { agentId: "main", sessionKey: "agent:echo:x" },
      { message: expect.stringContaining("invalid session key") },
    ],
    ["an unknown model", { model: "script/oks" }, { details: { code: "INVALID_MODEL", model: "script/oks", closest: "script/ok" } }],
    ["an unknown sessionId", { sessionId: "nope" }, { message: "No session found: nope" }],
  ])("%s is refused and nothing is stored", async (_name, params, error) => {
    const before = await gw.rpc<{ totalCount: number }>("sessions.list");
    await expect(gw.ask(params)).rejects.toMatchObject({ code: "INVALID_REQUEST", ...error });
    expect((await gw.rpc<{ totalCount: number }>("sessions.list")).totalCount).toBe(before.totalCount);
  });

  test("the session goes by its id, too", async () => {
    await gw.ask({ sessionKey: "by-id" });
    const { sessionId } = await gw.rpc<{ sessionId: string }>("chat.history", { sessionKey: "by-id" });

    const { accepted } = await gw.ask({ sessionId });

    expect(accepted.sessionKey).toBe("agent:main:by-id");
    await expect(gw.ask({ sessionId, sessionKey: "other" })).rejects.toMatchObject({
      message: expect.stringContaining("only one of them"),
    });
  });
});

describe("failures", () => {
  async function failed(params: JsonObject): Promise<{ error: JsonObject; run: string[] }> {
    const client = await gw.client();
    const frames = record(client);
    const key = crypto.randomUUID();
    const error = await gw.ask({ idempotencyKey: key, sessionKey: `fail-${key}`, ...params }, client).then(
      () => ({ message: "did not fail" }),
      (e: JsonObject) => e,
    );
    return { error, run: outline(frames, key) };
  }

  test("a failed model call answers with payload and error", async () => {
    const { error, run } = await failed({ model: "script/refused" });

    expect(error).toMatchObject({
      code: "UNAVAILABLE",
      message: "the request was refused",
      details: { code: "INVALID_REQUEST" },
      payload: { status: "error", summary: "the request was refused" },
    });
    expect(run.slice(-2)).toEqual(["chat error", "lifecycle error"]);
  });

  test.each([
    ["nothing at all", "empty", "EMPTY_RESPONSE"],
    ["a withheld answer", "filtered", "REFUSAL"],
    ["a refused key", "locked", "AUTH"],
    ["a tool asked for over and over", "circles", "TURN_LIMIT"],
  ])("%s", async (_name, script, code) => {
    const { error } = await failed({ agentId: "locked", model: `script/${script}` });
    expect(error).toMatchObject({ code: "UNAVAILABLE", details: { code } });
  });

  test("a line cut in the middle keeps what was shown, and nothing is said twice", async () => {
    const { error, run } = await failed({ model: "script/broken", sessionKey: "cut" });

    expect(error).toMatchObject({ details: { code: "NETWORK" }, message: "the line was cut" });
    expect(run.filter((l) => l === "chat delta")).toHaveLength(1);
    expect(await gw.history("cut")).toMatchObject([{ role: "user" }, { role: "assistant", text: "half an ans", stopReason: "error" }]);
  });

  test("an overloaded model is asked again", async () => {
    const { final } = await gw.ask({ sessionKey: "flaky", model: "script/flaky" });
    expect(final).toMatchObject({ result: { payloads: [{ text: "ok at try 3" }] } });
  });

  test("a chosen model that fails is never replaced, also while it rests", async () => {
    for (let time = 1; time <= 2; time++) {
      const request = { message: "hi", sessionKey: "chosen", model: "script/locked", trigger: "user" as const, actor: internal };
      const { done } = await gw.service("agents@1").run(request);
      expect(await done).toMatchObject({ status: "error", code: "AUTH", model: "locked" });
    }
  });

  test("a fallback steps in for the agent's own model when that fails, and the events name both", async () => {
    const model = { primary: "script/locked", fallbacks: ["script/ok"] };
    const spare = await createAgentsGateway({ config: { agents: { list: [{ id: "main", model }] } } });
    try {
      const client = await spare.client();
      const frames = record(client);
      const { final } = await spare.ask({ idempotencyKey: "failover", sessionKey: "failover" }, client);

      expect(final).toMatchObject({ result: { meta: { agentMeta: { model: "ok" } } } });
      const models = frames
        .filter((f) => (f.payload.data as JsonObject | undefined)?.phase === "model")
        .map((f) => (f.payload.data as JsonObject).model);
      expect(models).toEqual(["locked", "ok"]);
    } finally {
      await spare.close();
    }
  });

  test("a run out of time ends with TIMEOUT and keeps what was shown", async () => {
    const handle = await gw
      .service("agents@1")
      .run({ message: "hi", sessionKey: "agent:hang:late", trigger: "user", timeoutMs: 2_000, actor: internal });

    expect(await handle.done).toMatchObject({ status: "error", code: "TIMEOUT", stopReason: "timeout" });
    expect(await gw.history("agent:hang:late")).toMatchObject([
      { role: "user" },
      { role: "assistant", text: "partial ", aborted: true, stopReason: "timeout" },
    ]);
    expect(await gw.rpc("sessions.describe", { key: "agent:hang:late" })).toMatchObject({ session: { status: "timeout" } });
  });

  test("an answer cut by its budget says so", async () => {
    const { final } = await gw.ask({ sessionKey: "short", model: "script/short" });
    expect(final).toMatchObject({ result: { payloads: [{ text: "cut o" }], meta: { stopReason: "length" } } });
  });

  test("a conversation that is too long for the model loses its older half once", async () => {
    await gw.ask({ sessionKey: "long", message: "one" });
    const { final } = await gw.ask({ sessionKey: "long", message: "two", model: "script/long" });
    expect(final).toMatchObject({ result: { payloads: [{ text: "fits now" }] } });
  });
});

describe("tools", () => {
  test("a tool call runs, its result goes back, and all of it is in the transcript", async () => {
    const { final } = await gw.ask({ sessionKey: "tools", model: "script/tool", message: "ping?" });

    expect(final).toMatchObject({ result: { payloads: [{ text: "Let me look." }, { text: "The tool said: echo ping" }] } });
    expect(await gw.history("tools")).toMatchObject([
      { role: "user", text: "ping?" },
      {
        role: "assistant",
        text: "Let me look.[toolCall]",
        content: [{}, { type: "toolCall", id: "t1", name: "say_back", arguments: { text: "ping" } }],
      },
      { role: "toolResult", text: "echo ping", toolCallId: "t1", toolName: "say_back", details: { said: "ping" } },
      { role: "assistant", text: "The tool said: echo ping", stopReason: "stop" },
    ]);
  });

  test("the connection that started the run sees the tool; others see a plain step", async () => {
    const [own, other, plain] = [await gw.client(), await gw.client(), await gw.client({ caps: [] })];
    const [ownFrames, otherFrames, plainFrames] = [record(own), record(other), record(plain)];

    await gw.ask({ idempotencyKey: "seen", sessionKey: "tools", model: "script/tool" }, own);
    await Promise.all([other.request("health", {}), plain.request("health", {})]);

    const steps = (frames: typeof ownFrames) => outline(frames, "seen").filter((l) => /^(tool|item)/.test(l));
    expect(steps(ownFrames)).toEqual(["tool start", "tool result"]);
    expect(steps(otherFrames)).toEqual([]);
    expect(steps(plainFrames)).toEqual(["item start", "item end"]);
    const result = ownFrames.find((f) => (f.payload.data as JsonObject | undefined)?.phase === "result");
    expect(result?.payload.data).toMatchObject({
      name: "say_back",
      toolCallId: "t1",
      isError: false,
      result: { content: [{ type: "text", text: "echo ping" }], details: { said: "ping" } },
    });
  });

  test.each([
    ["arguments that are not JSON", "script/bad-args", "not valid JSON"],
    ["arguments of a wrong type", "script/wrong-args", "invalid say_back arguments: at text"],
    ["a tool that does not exist", "script/no-such-tool", "Tool not available: nowhere"],
    ["a tool that throws", "script/breaking-tool", "out of order"],
  ])("%s are told to the model, and the run goes on", async (_name, model, told) => {
    const { final } = await gw.ask({ sessionKey: "tool-errors", model });
    expect((final.result as { payloads: Array<{ text: string }> }).payloads[1]?.text).toContain(told);
  });

  test("a tool can be called without a run, under the same policy", async () => {
    const agents = gw.service("agents@1");
    const target = { agentId: "main", sessionKey: "agent:main:main", signal: new AbortController().signal };
    expect(await agents.invokeTool("say_back", { text: "x" }, target)).toMatchObject({ content: [{ text: "echo x" }] });
    await expect(agents.invokeTool("nowhere", {}, target)).rejects.toMatchObject({ code: "tool-not-found" });
    await expect(agents.invokeTool("say_back", {}, target)).rejects.toMatchObject({ code: "invalid-tool-args" });
  });
});

describe("a caller with tools and a history of its own", () => {
  const weather = {
    name: "get_weather",
    description: "Weather of a city",
    inputSchema: { type: "object", properties: { city: { type: "string" } } },
  };
  const run = async (request: Partial<RunRequest>) => {
    const handle = await gw
      .service("agents@1")
      .run({ message: "hi", trigger: "user", actor: internal, clientTools: [weather], ...request });
    return handle.done;
  };

  test("a call of its tool ends the run, the answer to it goes on", async () => {
    const first = await run({ sessionKey: "agent:client:a", message: "Rain?" });
    expect(first).toMatchObject({
      status: "ok",
      stopReason: "tool_calls",
      text: "Let me look.",
      toolCalls: [{ id: "t1", name: "get_weather", args: { city: "Bonn" } }],
    });

    const second = await run({ sessionKey: "agent:client:a", message: "", toolResults: [{ toolCallId: "t1", text: "rain" }] });
    expect(second).toMatchObject({ status: "ok", stopReason: "stop", text: "The tool said: rain" });
    expect(await gw.history("agent:client:a")).toMatchObject([
      { role: "user" },
      { role: "assistant", stopReason: "tool_calls" },
      { role: "toolResult", toolName: "get_weather", text: "rain" },
      { role: "assistant" },
    ]);
  });

  test("the agent's own calls of the same turn run first", async () => {
    const first = await run({ sessionKey: "agent:main:mixed", model: "script/client-and-own" });
    expect(first.toolCalls).toEqual([{ id: "ext1", name: "get_weather", args: { city: "Bonn" } }]);

    const second = await run({
      sessionKey: "agent:main:mixed",
      model: "script/client-and-own",
      message: "",
      toolResults: [{ toolCallId: "ext1", text: "rain" }],
    });
    expect(second.text).toBe("All: echo mine | rain");
  });

  test("a tool with the name of one of the agent's is refused", async () => {
    await expect(run({ clientTools: [{ ...weather, name: "say_back" }] })).rejects.toMatchObject({ code: "client-tool-conflict" });
  });

  test("history, extra instructions, sampling and tool choice reach the model; turns the session holds are not stored twice", async () => {
    const said = (role: "user" | "assistant", text: string) => ({ role, content: [{ type: "text" as const, text }] });
    const request = {
      sessionKey: "agent:echo:h",
      extraSystem: "Answer in rhyme.",
      sampling: { temperature: 0.5 },
      toolChoice: "required" as const,
      thinking: "high",
    };

    const first = JSON.parse((await run({ ...request, message: "two", history: [said("user", "one"), said("assistant", "1")] })).text);
    expect(first.messages.map((m: JsonObject) => m.text ?? (m.content as Array<{ text: string }>)[0]?.text)).toEqual(["one", "1", "two"]);
    expect(first).toMatchObject({ toolChoice: "required", sampling: { temperature: 0.5 }, thinking: "high" });
    expect(first.system.endsWith("Answer in rhyme.")).toBe(true);
    expect(first.tools).toEqual(["break_down", "say_back", "wait_here", "get_weather"]);

    const answer = (await gw.history("agent:echo:h"))[3]?.text ?? "";
    await run({
      ...request,
      message: "three",
      history: [said("user", "one"), said("assistant", "1"), said("user", "two"), said("assistant", answer)],
    });
    expect((await gw.history("agent:echo:h")).map((m) => m.role)).toEqual(["user", "assistant", "user", "assistant", "user", "assistant"]);
  });

  test("events of a handle end with the run; leaving them stops nothing", async () => {
    const handle = await gw.service("agents@1").run({ message: "hi", sessionKey: "agent:main:handle", trigger: "user", actor: internal });
    expect(handle).toMatchObject({ state: "started", sessionKey: "agent:main:handle", agentId: "main" });
    for await (const event of handle.events()) {
      expect(event.seq).toBe(1);
      break;
    }
    expect(await handle.done).toMatchObject({ status: "ok", text: "Hello from the script." });

    const seen: string[] = [];
    for await (const { stream, data } of handle.events()) seen.push(data.phase === undefined ? stream : `${stream} ${data.phase}`);
    expect(seen).toEqual(["lifecycle start", "lifecycle model", "assistant", "usage", "lifecycle end"]);
  });
});

test("the first answer gives the session its title, preview and sums, and says how full its context is", async () => {
  await gw.ask({ sessionKey: "sums", message: "Where is the router?\nIt blinks." });
  await gw.ask({ sessionKey: "sums", message: "And the modem?" });

  expect(await gw.rpc("sessions.describe", { key: "sums" })).toMatchObject({
    session: {
      status: "done",
      derivedTitle: "Where is the router?",
      lastMessagePreview: "Hello from the script.",
      inputTokens: 24,
      outputTokens: 10,
      totalTokens: 17,
      hasActiveRun: false,
    },
  });
});

test("health tells of agents, sessions and queues", async () => {
  const health = await eventually(() => gw.rpc<JsonObject>("health", { probe: true }));
  expect(health).toMatchObject({
    defaultAgentId: "main",
    heartbeatSeconds: 1_800,
    queues: { queued: 0 },
    sessions: { count: expect.any(Number) },
  });
  expect((health.agents as JsonObject[])[0]).toMatchObject({
    agentId: "main",
    isDefault: true,
    heartbeat: { enabled: true, every: "30m" },
  });
  const client = await gw.client();
  expect(client.hello?.snapshot.sessionDefaults).toEqual({
    defaultAgentId: "main",
    mainKey: "main",
    mainSessionKey: "agent:main:main",
    scope: "per-sender",
  });
});
