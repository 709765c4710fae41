import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fixture } from "./_fixtures.ts";
import { type BareSocket, challenged, connected, connectParams } from "./_ws.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({ plugins: [fixture("leaky")], env: { SVC_HANDSHAKE_TIMEOUT_MS: "1500" } });
});
afterAll(() => gateway.close());

describe("a handshake", () => {
  test("begins with a challenge and ends with hello-ok", async () => {
    const socket = await connected(gateway);

    expect(socket.frames[0]).toMatchObject({
      type: "event",
      event: "connect.challenge",
      payload: { nonce: expect.stringMatching(/^[0-9a-f-]{36}$/), ts: expect.any(Number) },
    });
    expect(socket.frames[0].seq).toBeUndefined();
    expect(socket.hello).toMatchObject({
      type: "hello-ok",
      protocol: 4,
      server: { version: "0.0.0-test", connId: expect.any(String), bootId: expect.any(String) },
      features: {
        methods: expect.arrayContaining(["health", "config.get", "leaky.ping"]),
        events: expect.arrayContaining(["tick", "shutdown"]),
        capabilities: [],
      },
      snapshot: {
        presence: [expect.objectContaining({ mode: "gateway", reason: "self" })],
        health: expect.objectContaining({ ok: true, channels: {} }),
        stateVersion: { presence: expect.any(Number), health: expect.any(Number) },
        uptimeMs: expect.any(Number),
        sessionDefaults: { defaultAgentId: "main", mainKey: "main", mainSessionKey: "agent:main:main", scope: "per-sender" },
        authMode: "token",
        stateDir: gateway.stateDir,
      },
      auth: { role: "operator", scopes: ["operator.admin", "operator.read", "operator.write"] },
      policy: {
        maxPayload: 26_214_400,
        maxBufferedBytes: 52_428_800,
        tickIntervalMs: 30_000,
        attachments: { maxBytes: 20_971_520, maxImageBytes: 6_291_456 },
      },
      limits: { maxPreauthPayload: 65_536, handshakeTimeoutMs: 15_000, idempotencyTtlMs: 300_000, idempotencyMax: 1_000 },
    });
    expect(socket.hello.features.methods).not.toContain("connect");
    await socket.close();
  });

  test("tells paths to administrators and presence to readers only", async () => {
    const reader = await connected(gateway, { scopes: ["operator.read"] });
    const nobody = await connected(gateway, { scopes: [] });

    expect(reader.hello.snapshot.stateDir).toBeUndefined();
    expect(reader.hello.snapshot.presence).toHaveLength(1);
    expect(nobody.hello.snapshot.presence).toEqual([]);
    await Promise.all([reader.close(), nobody.close()]);
  });

  test.each([
    ["backend", { id: "gateway-client", mode: "backend" }, ["operator.admin"]],
    ["cli", { id: "cli", mode: "cli" }, ["operator.admin"]],
    ["a probe", { id: "svc-probe", mode: "probe" }, []],
    ["any other client", { id: "test", mode: "test" }, []],
  ])("grants %s on direct loopback what the table says", async (_, client, granted) => {
    const socket = await connected(gateway, { client: { version: "1", platform: "x", ...client }, scopes: ["operator.admin"] });
    expect(socket.hello.auth.scopes).toEqual(granted);
    await socket.close();
  });

  test("grants a probe at most the read scope, and never invented scopes", async () => {
    const probe = await connected(gateway, {
      client: { id: "cli", mode: "probe", version: "1", platform: "x" },
      scopes: ["operator.read", "operator.write"],
    });
    const odd = await connected(gateway, { scopes: ["operator.*", "OPERATOR.ADMIN", " operator.admin", "operator.read"] });
    expect(probe.hello.auth.scopes).toEqual(["operator.read"]);
    expect(odd.hello.auth.scopes).toEqual(["operator.read"]);
    await Promise.all([probe.close(), odd.close()]);
  });
});

describe("a refused handshake", () => {
  const client = { id: "gateway-client", version: "1.0.0", platform: "test", mode: "backend" };

  test.each([
    ["text that is not JSON", "hello"],
    ["an array", "[]"],
    ["null", "null"],
    ["a response", '{"type":"res","id":"1","ok":true}'],
    ["an empty text", ""],
    ["a request without a method", '{"type":"req","id":"1"}'],
  ])("%s as the first frame closes the socket without an answer", async (_, text) => {
    const socket = await challenged(gateway);
    socket.send(text);
    expect(await socket.end()).toEqual({ code: 1008, reason: "invalid request frame" });
    expect(socket.frames).toHaveLength(1);
  });

  test("another method first is answered and closed", async () => {
    const socket = await challenged(gateway);
    const res = await socket.request("1", "health");
    expect(res).toMatchObject({
      ok: false,
      error: { code: "INVALID_REQUEST", message: "invalid handshake: first request must be connect" },
    });
    expect(await socket.end()).toEqual({ code: 1008, reason: "invalid handshake: first request must be connect" });
  });

  test.each([
    ["a stray key", { zzz: 1 }, "invalid connect params: at root: unexpected property 'zzz'"],
    ["a stray key below", { client: { ...client, extra: true } }, "invalid connect params: at client: unexpected property 'extra'"],
    ["an unknown client id", { client: { ...client, id: "me" } }, /^invalid connect params: at client\.id: /],
    ["a token that is no string", { auth: { token: ["x"] } }, /^invalid connect params: at auth\.token: /],
    ["an unknown role", { role: "king" }, "invalid role"],
  ])("%s is named", async (_, change, message) => {
    const socket = await challenged(gateway);
    const res = await socket.request("1", "connect", connectParams(gateway.token, change));
    expect(res).toMatchObject({
      ok: false,
      error: { code: "INVALID_REQUEST", message: typeof message === "string" ? message : expect.stringMatching(message) },
    });
    expect((await socket.end()).code).toBe(1008);
  });

  test("no common protocol closes with 1002 and tells the range", async () => {
    const socket = await challenged(gateway);
    const res = await socket.request("1", "connect", connectParams(gateway.token, { minProtocol: 5, maxProtocol: 6 }));
    expect(res.error).toEqual({
      code: "INVALID_REQUEST",
      message: "protocol mismatch",
      details: { code: "PROTOCOL_MISMATCH", clientMinProtocol: 5, clientMaxProtocol: 6, expectedProtocol: 4 },
    });
    expect((await socket.end()).code).toBe(1002);
  });

  test.each([
    ["a missing token", {}, "unauthorized: gateway token missing (provide gateway auth token)", "AUTH_TOKEN_MISSING", "token_missing"],
    [
      "a wrong token",
      { token: "wrong" },
      "unauthorized: gateway token mismatch (provide gateway auth token)",
      "AUTH_TOKEN_MISMATCH",
      "token_mismatch",
    ],
    [
      "an empty token",
      { token: "" },
      "unauthorized: gateway token missing (provide gateway auth token)",
      "AUTH_TOKEN_MISSING",
      "token_missing",
    ],
  ])("%s is unauthorized with advice", async (_, auth, message, code, authReason) => {
    const socket = await challenged(gateway);
    const res = await socket.request("1", "connect", connectParams("", { auth }));
    expect(res.error).toMatchObject({ code: "INVALID_REQUEST", message, details: { code, authReason, canRetryWithDeviceToken: false } });
    expect(await socket.end()).toEqual({ code: 1008, reason: message });
  });

  test.each(["http://evil.example", "null", "http://127.0.0.1.evil.example", "http://localhost.evil.example:1"])(
    "origin %s is refused with the line to add",
    async (origin) => {
      const socket = await challenged(gateway, { origin });
      const res = await socket.request("1", "connect", connectParams(gateway.token));
      expect(res.error).toMatchObject({
        message: `origin not allowed: add "${origin}" to gateway.controlUi.allowedOrigins`,
        details: { code: "CONTROL_UI_ORIGIN_NOT_ALLOWED" },
      });
    },
  );

  test("the gateway's own origin is accepted, and the control UI must send one", async () => {
    const own = await challenged(gateway, { origin: gateway.url });
    expect((await own.request("1", "connect", connectParams(gateway.token))).ok).toBe(true);
    const ui = await challenged(gateway);
    const res = await ui.request("1", "connect", connectParams(gateway.token, { client: { ...client, id: "svc-control-ui", mode: "ui" } }));
    expect(res.error.details.code).toBe("CONTROL_UI_ORIGIN_NOT_ALLOWED");
    await own.close();
  });

  test("a node needs a device", async () => {
    const socket = await challenged(gateway);
    const res = await socket.request("1", "connect", connectParams(gateway.token, { role: "node" }));
    expect(res.error).toMatchObject({
      code: "NOT_PAIRED",
      message: "device identity required",
      details: { code: "DEVICE_IDENTITY_REQUIRED" },
    });
  });

  test("requests pipelined behind it never run", async () => {
    const socket = await challenged(gateway);
    for (const [i, method] of ["connect", ...Array(20).fill("leaky.ping")].entries())
      socket.send({ type: "req", id: String(i), method, params: {} });
    await socket.end();
    expect(socket.frames.filter((f) => f.type === "res")).toHaveLength(1);
  });

  test("silence ends it", async () => {
    const socket = await challenged(gateway);
    expect(await socket.end()).toEqual({ code: 1008, reason: "handshake timeout" });
  });

  test("more than 64 KiB before hello-ok closes with 1009 and no answer; a large frame afterwards is fine", async () => {
    const big = await challenged(gateway);
    big.send({ type: "req", id: "1", method: "connect", params: { pad: "x".repeat(70_000) } });
    expect((await big.end()).code).toBe(1009);
    expect(big.frames).toHaveLength(1);

    const socket = await connected(gateway);
    expect((await socket.request("1", "leaky.ping", { word: "x".repeat(1_000_000) })).ok).toBe(true);
    socket.send(`{"type":"req","id":"2","method":"leaky.ping","params":{"word":"${"x".repeat(26_214_400)}"}}`);
    expect((await socket.end()).code).toBe(1009);
  });

  test("a binary frame closes with 1003", async () => {
    const socket = await challenged(gateway);
    socket.send(Buffer.from([1, 2, 3]));
    expect((await socket.end()).code).toBe(1003);
  });
});

test("over the budget of silent sockets the oldest goes and the newcomer is served", async () => {
  const silent: BareSocket[] = [];
  for (let i = 0; i < 32; i++) silent.push(await challenged(gateway));

  const client = await connected(gateway);

  expect(client.hello.type).toBe("hello-ok");
  expect((await (silent[0] as BareSocket).end()).code).toBe(1006);
  expect(silent[31]?.closed).toBeUndefined();
  await Promise.all([...silent.slice(1), client].map((s) => s.close()));
});

test("a password gateway takes the password and says so when it is wrong", async () => {
  const other = await createTestGateway({ plugins: [], config: { gateway: { auth: { mode: "password", password: "a long password" } } } });
  try {
    const good = await challenged(other);
    expect((await good.request("1", "connect", connectParams("", { auth: { password: "a long password" } }))).ok).toBe(true);
    const wrong = await challenged(other);
    const res = await wrong.request("1", "connect", connectParams("", { auth: { password: "no" } }));
    expect(res.error.details.code).toBe("AUTH_PASSWORD_MISMATCH");
    await good.close();
  } finally {
    await other.close();
  }
});

test("too many wrong tokens lock a remote address out, also for the right one, on ws and http alike, with a retry time", async () => {
  const headers = { "x-forwarded-for": "192.0.2.7" };
  const strict = await createTestGateway({
    plugins: [fixture("leaky")],
    config: { gateway: { trustedProxies: ["127.0.0.1"], auth: { token: "test-token-5f2d9a", rateLimit: { maxAttempts: 3 } } } },
  });
  try {
    for (let i = 0; i < 3; i++) {
      const socket = await challenged(strict, headers);
      const res = await socket.request("1", "connect", connectParams("wrong"));
      expect(res.error.details.code).toBe("AUTH_TOKEN_MISMATCH");
    }
    const socket = await challenged(strict, headers);
    const res = await socket.request("1", "connect", connectParams(strict.token));
    expect(res.error).toMatchObject({
      code: "INVALID_REQUEST",
      retryable: true,
      details: { code: "AUTH_RATE_LIMITED", recommendedNextStep: "wait_then_retry" },
    });
    expect(res.error.retryAfterMs).toBeGreaterThan(290_000);
    const http = await strict.fetch("/leaky", { headers });
    expect(http.status).toBe(429);
    expect(Number(http.headers.get("retry-after"))).toBeGreaterThan(290);
  } finally {
    await strict.close();
  }
});
