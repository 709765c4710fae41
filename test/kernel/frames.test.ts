import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fixture } from "./_fixtures.ts";
import { connected } from "./_ws.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({ plugins: [fixture("leaky")] });
});
afterAll(() => gateway.close());

describe("after the handshake", () => {
  test.each([
    ["{", "invalid request frame: not JSON", "invalid"],
    ['{"type":"req","id":"7"}', /^invalid request frame: at method: /, "7"],
    ['{"type":"req","id":"8","method":"health","extra":1}', /^invalid request frame: /, "8"],
    ['{"type":"req","id":"9","method":"health","params":[]}', /^invalid request frame: at params: /, "9"],
  ])("%s is answered and the socket stays", async (text, message, id) => {
    const socket = await connected(gateway);
    socket.send(text);
    const res = await socket.frame((f) => f.type === "res" && f.id === id);
    expect(res.error).toMatchObject({
      code: "INVALID_REQUEST",
      message: typeof message === "string" ? message : expect.stringMatching(message),
    });
    expect((await socket.request("ok", "health")).ok).toBe(true);
    await socket.close();
  });

  test("the twentieth bad frame within a minute closes it", async () => {
    const socket = await connected(gateway);
    for (let i = 0; i < 20; i++) socket.send("{");
    expect(await socket.end()).toEqual({ code: 1008, reason: "too many invalid frames" });
  });

  test("a binary one closes with 1003", async () => {
    const socket = await connected(gateway);
    socket.send(Buffer.from('{"type":"req","id":"1","method":"health"}'));
    expect((await socket.end()).code).toBe(1003);
    expect(socket.frames.some((f) => f.id === "1")).toBe(false);
  });

  test("a second connect is an invalid request", async () => {
    const socket = await connected(gateway);
    expect((await socket.request("2", "connect", {})).error.code).toBe("INVALID_REQUEST");
    await socket.close();
  });
});

describe("a request", () => {
  test("without the scope is FORBIDDEN and the socket stays open", async () => {
    const socket = await connected(gateway, { scopes: ["operator.read"] });
    const res = await socket.request("1", "leaky.ping", {});
    expect(res.error).toEqual({
      code: "FORBIDDEN",
      message: "missing scope: operator.write",
      details: { code: "MISSING_SCOPE", missingScope: "operator.write", requiredScopes: ["operator.write"] },
    });
    expect((await socket.request("2", "health")).ok).toBe(true);
    await socket.close();
  });

  test.each(["foo.bar", "__proto__", "constructor", "toString", "he\u0000alth"])(
    "for the unknown method %j is confirmed to administrators only",
    async (method) => {
      const admin = await connected(gateway);
      const reader = await connected(gateway, { scopes: ["operator.read"] });
      expect((await admin.request("1", method)).error).toMatchObject({ code: "INVALID_REQUEST", message: `unknown method: ${method}` });
      expect((await reader.request("1", method)).error).toMatchObject({ code: "FORBIDDEN", details: { missingScope: "operator.admin" } });
      await Promise.all([admin.close(), reader.close()]);
    },
  );

  test("with bad params names path and rule", async () => {
    const socket = await connected(gateway);
    const res = await socket.request("1", "leaky.ping", { word: 7, stray: true });
    expect(res.error.code).toBe("INVALID_REQUEST");
    expect(res.error.message).toMatch(/^invalid leaky\.ping params: at word: .*; at root: unexpected property 'stray'$/);
    await socket.close();
  });

  test("of two phases answers twice with one id", async () => {
    const socket = await connected(gateway);
    socket.send({ type: "req", id: "1", method: "leaky.ping", params: { accept: true, word: "w" } });
    await socket.frame((f) => f.id === "1" && f.payload?.word === "w");
    expect(socket.frames.filter((f) => f.id === "1").map((f) => f.payload)).toEqual([
      { status: "accepted" },
      { greeting: "hello", word: "w" },
    ]);
    await socket.close();
  });

  test("that failed with a payload carries both", async () => {
    const socket = await connected(gateway);
    expect(await socket.request("1", "leaky.ping", { fail: true })).toEqual({
      type: "res",
      id: "1",
      ok: false,
      payload: { status: "error" },
      error: { code: "UNAVAILABLE", message: "asked to fail" },
    });
    await socket.close();
  });
});

describe("events", () => {
  test("reach only who subscribed and may read, numbered without gaps per connection", async () => {
    const subscribed = await connected(gateway);
    const other = await connected(gateway);
    for (let i = 0; i < 3; i++) await subscribed.request(String(i), "leaky.ping", { word: String(i) });

    const said = subscribed.frames.filter((f) => f.event === "plugin.leaky.said");
    expect(said.map((f) => f.payload.word)).toEqual(["0", "1", "2"]);
    const seqs = subscribed.frames.filter((f) => f.seq !== undefined).map((f) => f.seq);
    expect(seqs).toEqual(seqs.map((_, i) => i + 1));
    expect(other.frames.some((f) => f.event === "plugin.leaky.said")).toBe(false);
    await Promise.all([subscribed.close(), other.close()]);
  });

  test("presence follows who comes and goes, with its state version", async () => {
    const watcher = await connected(gateway);
    const guest = await connected(gateway, { client: { id: "test", version: "9", platform: "x", mode: "test", displayName: "guest" } });
    const came = await watcher.frame(
      (f) => f.event === "presence" && f.payload.presence.some((p: { host?: string }) => p.host === "guest"),
    );
    expect(came.stateVersion).toEqual({ presence: expect.any(Number), health: expect.any(Number) });
    await guest.close();
    const left = await watcher.frame((f) => f.event === "presence" && f.stateVersion.presence > came.stateVersion.presence);
    expect(left.payload.presence).toHaveLength(1);
    await watcher.close();
  });
});

test("a stop says shutdown before the close frame on every socket", async () => {
  const own = await createTestGateway({ plugins: [] });
  const sockets = await Promise.all([connected(own), connected(own, { scopes: [] }), connected(own)]);

  const closing = own.close();
  const ends = await Promise.all(sockets.map((s) => s.end()));
  await closing;

  expect(ends).toEqual(Array(3).fill({ code: 1001, reason: "gateway stopping" }));
  for (const socket of sockets) expect(socket.frames.at(-1)).toMatchObject({ event: "shutdown", payload: { reason: "test over" } });
});

test("a client that stops reading is cut as a slow consumer and the others get everything", async () => {
  const own = await createTestGateway({ plugins: [fixture("leaky")] });
  try {
    const slow = await connected(own);
    const fast = await connected(own);
    await slow.request("1", "leaky.ping", {});
    await fast.request("1", "leaky.ping", {});
    slow.ws.pause();
    const word = "x".repeat(4_000_000);
    for (let i = 0; i < 20; i++) await fast.request(`f${i}`, "leaky.ping", { word });
    expect(fast.frames.filter((f) => f.event === "plugin.leaky.said" && f.payload.word === word)).toHaveLength(20);
    slow.ws.resume();
    await eventually(() => slow.closed !== undefined);
    expect([1006, 1008]).toContain(slow.closed?.code);
    await fast.close();
  } finally {
    await own.close();
  }
});
