import { definePlugin, z } from "svc/sdk";
import { createTestGateway, type FakeTurn, fakeModel, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDevice, dial, far, gatewayWithProxy, pairFar } from "./_devices.ts";
import { type BareSocket, challenged, connected, connectParams, type Frame } from "./_ws.ts";

describe("connect is judged in the order of the contract", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await gatewayWithProxy();
  });
  afterAll(() => gateway?.close());

  test("params, protocol, role, origin, credentials, proof, pairing, scopes: each hides all that come after it", async () => {
    const known = createDevice();
    await (await pairFar(gateway, known, { scopes: ["operator.read"] })).close();
    const wrong: Array<[string, (params: Frame, headers: Record<string, string>) => void]> = [
      ["invalid connect params", (p) => Object.assign(p, { zzz: 1 })],
      ["protocol mismatch", (p) => Object.assign(p, { minProtocol: 5, maxProtocol: 5 })],
      ["invalid role", (p) => Object.assign(p, { role: "king" })],
      ["origin not allowed", (_, headers) => Object.assign(headers, { origin: "https://evil.example" })],
      ["unauthorized: gateway token mismatch", (p) => Object.assign(p, { auth: { token: "wrong" } })],
      ["device signature invalid", (p) => Object.assign(p.device, { signature: "AAAA" })],
      ["pairing required", (p) => Object.assign(p, { scopes: ["operator.read", "operator.admin"] })],
    ];
    const told: string[] = [];
    for (let first = 0; first <= wrong.length; first++) {
      const left = wrong.slice(first).map(([, spoil]) => spoil);
      const headers: Record<string, string> = far();
      for (const spoil of left) spoil({ device: {} }, headers);
      const socket = await dial(gateway, headers);
      // The device signs its scopes; everything else is spoilt after that.
      const isWider = first < wrong.length;
      const scopes = isWider ? ["operator.read", "operator.admin"] : ["operator.read"];
      const res = await socket.connect(known, { scopes }, (p) => {
        for (const spoil of left) spoil(p, {});
      });
      told.push(res.ok ? "hello-ok" : res.error.message);
      if (res.ok) await socket.close();
      else await socket.end();
    }
    expect(told).toEqual([...wrong.map(([start]) => expect.stringMatching(new RegExp(`^${start}`))), "hello-ok"]);
  });

  test("a reason longer than 123 bytes is cut in the close frame, not in the answer", async () => {
    const origin = `https://${"ä".repeat(120)}.example`;
    const socket = await challenged(gateway, { origin: encodeURI(origin) });
    const { error } = await socket.request("1", "connect", connectParams(gateway.token));
    const { code, reason } = await socket.end();
    expect(error.message.length).toBeGreaterThan(123);
    expect(code).toBe(1008);
    expect(Buffer.byteLength(reason)).toBe(123);
    expect(error.message.startsWith(reason)).toBe(true);
  });
});

describe("a run on the wire (10, 11, 12)", () => {
  const large = "0123456789".repeat(10_000);
  const tools = definePlugin({
    id: "rows",
    version: "1.0.0",
    svc: { api: "*" },
    setup(ctx) {
      ctx.registerTool({ name: "much", description: "Says much", input: z.object({}), run: () => large });
      ctx.registerTool({ name: "wide", description: "Says much in few characters", input: z.object({}), run: () => "ä".repeat(40_000) });
      ctx.registerTool({ name: "edge", description: "Says as much as is shown", input: z.object({}), run: () => large.slice(0, 65_536) });
    },
  });
  const failing = { text: "Half an ", fault: "rate_limit" as const };
  const turns: FakeTurn[] = [
    {
      toolCalls: [
        { name: "much", args: {} },
        { name: "wide", args: {} },
        { name: "edge", args: {} },
      ],
      usage: { output: 3 },
    },
    "Done.",
    failing,
    "Fine.",
    "Again.",
  ];
  let gateway: TestGateway;
  let socket: BareSocket;
  beforeAll(async () => {
    gateway = await createTestGateway({
      plugins: ["store", "agents", tools],
      models: [fakeModel(turns)],
      config: { agents: { list: [{ id: "main" }, { id: "work" }] } },
    });
    socket = await connected(gateway, { caps: ["tool-events"] });
  });
  afterAll(() => gateway?.close());

  const run = async (id: string, params: object = {}) => {
    socket.send({ type: "req", id, method: "agent", params: { message: "go", idempotencyKey: id, ...params } });
    return socket.frame((f) => f.id === id && f.payload?.status !== "accepted");
  };
  const payloads = (event: string, runId: string): Frame[] =>
    socket.frames.filter((f) => f.event === event && f.payload.runId === runId).map((f) => f.payload);

  test("accepted comes before the first event, then start, model, tools, usage, text and the end", async () => {
    const final = await run("r1");
    const frames = socket.frames.filter((f) => f.id === "r1" || (f.event === "agent" && f.payload.runId === "r1"));
    expect(frames[0]).toMatchObject({
      id: "r1",
      payload: { runId: "r1", sessionKey: "agent:main:main", agentId: "main", status: "accepted", acceptedAt: expect.any(Number) },
    });
    const kinds = payloads("agent", "r1").map(({ stream, data }) => (data.phase ? `${stream} ${data.phase}` : stream));
    expect(kinds[0]).toBe("lifecycle start");
    expect(kinds.filter((kind) => kind === "lifecycle model")).toHaveLength(1);
    expect(kinds.indexOf("lifecycle model")).toBeLessThan(kinds.indexOf("tool start"));
    expect(kinds.filter((kind) => kind.startsWith("tool "))).toEqual(Array(3).fill(["tool start", "tool result"]).flat());
    expect(kinds).toContain("usage");
    expect(kinds.at(-1)).toBe("lifecycle end");
    expect(payloads("agent", "r1").find(({ data }) => data.phase === "model").data).toEqual({
      phase: "model",
      provider: "fake",
      model: "script",
    });
    expect(final.payload).toMatchObject({ status: "ok", summary: "completed", result: { payloads: [{ text: "Done.", mediaUrl: null }] } });
  });

  test("a tool's result is shown up to 64 KiB and cut beyond", () => {
    const results = payloads("agent", "r1").filter(({ stream, data }) => stream === "tool" && data.phase === "result");
    const of = (name: string) => results.find(({ data }) => data.name === name).data;
    expect(of("edge")).not.toHaveProperty("truncated");
    expect(of("edge").result.content[0].text).toHaveLength(65_536);
    for (const name of ["much", "wide"]) {
      const { text } = of(name).result.content[0];
      expect(of(name).truncated).toBe(true);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_536);
      expect(Buffer.byteLength(text)).toBeGreaterThan(65_530);
      expect(text).not.toContain("\ufffd");
    }
  });

  test("a failure ends the chat with its kind and what is known of the model", async () => {
    const final = await run("r2");
    expect(final).toMatchObject({ ok: false, error: { code: "UNAVAILABLE", details: { code: "RATE_LIMIT" } } });
    const ends = payloads("chat", "r2").filter(({ state }) => ["final", "aborted", "error"].includes(state));
    expect(ends).toEqual([
      expect.objectContaining({
        state: "error",
        errorMessage: final.error.message,
        errorKind: "rate_limit",
        errorDetail: expect.objectContaining({ provider: "fake", model: "script", failoverReason: "rate_limit" }),
      }),
    ]);
  });

  test.each(["agent", "chat.send"])("%s for one agent's session in another's name is an invalid request", async (method) => {
    const params = { message: "go", idempotencyKey: `other ${method}`, sessionKey: "agent:main:main", agentId: "work" };
    expect((await socket.request(`other ${method}`, method, params)).error).toMatchObject({ code: "INVALID_REQUEST" });
  });

  test("an unknown agent is told by its own code", async () => {
    const { error } = await socket.request("zzz", "agent", { message: "go", idempotencyKey: "zzz", agentId: "zzz" });
    expect(error).toMatchObject({
      code: "INVALID_REQUEST",
      message: 'unknown agent id "zzz"',
      details: { code: "UNKNOWN_AGENT_ID", agentId: "zzz" },
    });
  });

  test("sessions.preview looks at the first 64 keys", async () => {
    const keys = Array.from({ length: 65 }, (_, i) => `none-${i}`);
    const { previews } = (await socket.request("preview", "sessions.preview", { keys })).payload;
    expect(previews).toHaveLength(64);
    expect(previews[63]).toMatchObject({ status: "missing", items: [] });
  });

  test("sessions.changed tells every change of a session by its reason, and its runs by their phase", async () => {
    expect((await socket.request("subscribe", "sessions.subscribe", {})).payload).toEqual({ subscribed: true });
    const key = "rows";
    const calls: Array<[string, object]> = [
      ["sessions.create", { key }],
      ["sessions.patch", { key, label: "Rows" }],
      ["sessions.compact", { key, maxLines: 1 }],
      ["sessions.reset", { key }],
      ["sessions.delete", { key }],
    ];
    for (const [method, params] of calls) {
      expect((await socket.request(method, method, params)).ok, method).toBe(true);
      if (method === "sessions.create") expect((await run("r3", { sessionKey: key })).ok).toBe(true);
    }
    await socket.request("after", "health");
    const told = socket.frames.filter((f) => f.event === "sessions.changed" && f.payload.sessionKey === "agent:main:rows");
    expect(told.map(({ payload }) => payload.reason ?? payload.phase)).toEqual([
      ...["create", "send", "start", "end", "patch", "compact", "reset", "delete"],
    ]);
    expect(told.map(({ payload }) => payload.session?.key)).toEqual([...Array(7).fill("agent:main:rows"), undefined]);
    expect(told.at(-1).payload.sessionId).toEqual(expect.any(String));
  });

  test("a chat is acknowledged at once, in flight while it runs, and ok afterwards, under one key", async () => {
    const params = { sessionKey: "main", message: "go", idempotencyKey: "c1" };
    const [first, second] = await Promise.all([socket.request("c1", "chat.send", params), socket.request("c1 too", "chat.send", params)]);
    expect([first.payload, second.payload]).toEqual([
      { runId: "c1", status: "started" },
      { runId: "c1", status: "in_flight" },
    ]);
    await socket.frame((f) => f.event === "chat" && f.payload.runId === "c1" && f.payload.state === "final");
    const later = await socket.request("c1 later", "agent.wait", { runId: "c1" });
    expect(later.payload).toMatchObject({ runId: "c1", status: "ok" });
    expect((await socket.request("c1 again", "chat.send", params)).payload).toEqual({ runId: "c1", status: "ok" });
    expect(payloads("agent", "c1").filter(({ data }) => data.phase === "start")).toHaveLength(1);
  });
});
