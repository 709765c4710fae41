import { createPrivateKey, verify } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deviceProofText } from "../../sdk/protocol/device.ts";
import { limits } from "../../sdk/protocol/frames.ts";
import { eventually } from "../../sdk/testing/eventually.ts";
import { type FakeOpenAi, startFakeOpenAi } from "../fakes/openai-server.ts";
import { createDevice, type DeviceSocket, dial, far } from "../kernel/_devices.ts";
import { BareSocket, connectParams, type Frame } from "../kernel/_ws.ts";
import { configured, freshHome, gatewayIn, root, stopAll } from "./_cli.ts";
import type { Home, Running } from "./_process.ts";
import { writeLoudPlugin } from "./_storm.ts";

/** Secrets of the config; none of them may ever come out of the gateway. */
const secrets = { token: "conformance-token-7c1e", hooks: "conformance-hooks-90ab", model: "sk-conformance-0123456789" };
const local = { mode: "local", auth: { token: secrets.token } };
/** Everything the gateways have said to anybody, on the wire and in their output. */
const sockets: BareSocket[] = [];
const gateways: Running[] = [];

let vendor: FakeOpenAi;
let home: Home;
let gateway: Running;
let admin: BareSocket;
let silent: { socket: BareSocket; since: number; end: Promise<{ code: number; reason: string }> };

beforeAll(async () => {
  vendor = await startFakeOpenAi({ apiKey: secrets.model });
  const models = ["ok", "tool", "slow-drip", "403"].map((id) => ({ id }));
  home = await freshHome();
  await configured(home);
  const lab = { baseUrl: vendor.url, apiKey: { source: "env", id: "LAB_KEY" }, models };
  await configured(home, {
    gateway: local,
    hooks: { enabled: true, token: secrets.hooks },
    models: { providers: { lab } },
    agents: {
      defaults: { model: "lab/ok" },
      list: [
        { id: "main", default: true },
        { id: "broken", model: "lab/403" },
      ],
    },
    logging: { level: "trace" },
    plugins: await writeLoudPlugin(home),
  });
  const patient = join(root, "test/fixtures/patient-close.mjs");
  gateway = await gatewayIn(home, [], { LAB_KEY: secrets.model, NODE_OPTIONS: `--import ${patient}` });
  gateways.push(gateway);
  const since = performance.now();
  const socket = await challenged();
  silent = { socket, since, end: socket.end() };
  admin = await greeted({ scopes: ["operator.admin"], caps: ["tool-events"] });
});
afterAll(async () => {
  await stopAll();
  await vendor?.close();
});

const wsUrlOf = ({ port }: Running, host = "127.0.0.1") => `ws://${host}:${port}`;

interface Place {
  at?: string;
  headers?: Record<string, string>;
}

async function challenged({ at = wsUrlOf(gateway), headers = {} }: Place = {}): Promise<BareSocket> {
  const socket = new BareSocket(at, { headers });
  sockets.push(socket);
  await socket.frame((f) => f.event === "connect.challenge");
  return socket;
}

async function greeted(change: Record<string, unknown> = {}, place: Place = {}): Promise<BareSocket> {
  const socket = await challenged(place);
  const res = await socket.request("connect", "connect", connectParams(secrets.token, change));
  if (!res.ok) throw new Error(res.error.message);
  return socket;
}

/** A gateway of its own for checks that spend a budget or end it. */
async function another(change: object = {}): Promise<Running> {
  const one = await gatewayIn(await configured(await freshHome(), { gateway: { ...local, ...change } }));
  gateways.push(one);
  return one;
}

let asked = 0;
/** The answer to a request under a fresh id. */
function ask(socket: BareSocket, method: string, params: object = {}): Promise<Frame> {
  asked += 1;
  return socket.request(`q${asked}`, method, params);
}

const finalOf = (socket: BareSocket, id: string) =>
  socket.frame((f) => f.id === id && !["accepted", "in_flight", "started"].includes(f.payload?.status));
const eventsOf = (socket: BareSocket, event: string, runId: string): Frame[] =>
  socket.frames.filter((f) => f.event === event && f.payload.runId === runId).map((f) => f.payload);
const run = (socket: BareSocket, key: string, more: object = {}) =>
  socket.send({ type: "req", id: key, method: "agent", params: { message: "Where is the router?", idempotencyKey: key, ...more } });
const isGapless = (socket: BareSocket) => socket.frames.filter((f) => f.seq !== undefined).every((f, i) => f.seq === i + 1);

test("1. a client that sends nothing gets one challenge and, after 15 s, 1008", async () => {
  expect(await silent.end).toEqual({ code: 1008, reason: "handshake timeout" });
  expect(performance.now() - silent.since).toBeGreaterThanOrEqual(14_900);
  expect(silent.socket.frames).toEqual([
    { type: "event", event: "connect.challenge", payload: { nonce: expect.stringMatching(/^[\da-f-]{36}$/), ts: expect.any(Number) } },
  ]);
});

test("2. another method first is answered under its id, then 1008", async () => {
  const socket = await challenged();
  socket.send('{"type":"req","id":"1","method":"health"}');
  expect(await socket.end()).toEqual({ code: 1008, reason: "invalid handshake: first request must be connect" });
  expect(socket.frames.slice(1)).toMatchObject([{ type: "res", id: "1", ok: false, error: { code: "INVALID_REQUEST" } }]);
});

test("3. minProtocol 5 is 1002", async () => {
  const socket = await challenged();
  const res = await ask(socket, "connect", connectParams(secrets.token, { minProtocol: 5, maxProtocol: 5 }));
  expect(res.error.details).toMatchObject({ code: "PROTOCOL_MISMATCH", expectedProtocol: 4 });
  expect(await socket.end()).toEqual({ code: 1002, reason: "protocol mismatch" });
});

test("4. a wrong token is unauthorized, AUTH_TOKEN_MISMATCH and 1008", async () => {
  const socket = await challenged();
  const { error } = await ask(socket, "connect", connectParams("wrong"));
  expect(error.message).toBe("unauthorized: gateway token mismatch (provide gateway auth token)");
  expect(error.details.code).toBe("AUTH_TOKEN_MISMATCH");
  expect(await socket.end()).toEqual({ code: 1008, reason: error.message });
});

test("5. a connect of 70,000 bytes, and 26 MiB + 1 after hello-ok, are 1009 without an answer", async () => {
  const early = await challenged();
  const connect = JSON.stringify({ type: "req", id: "1", method: "connect", params: connectParams(secrets.token, { userAgent: "" }) });
  early.send(connect.replace('"userAgent":""', `"userAgent":"${"x".repeat(70_000 - connect.length)}"`));
  expect((await early.end()).code).toBe(1009);
  expect(early.frames).toHaveLength(1);

  const late = await greeted();
  late.ws.send("x".repeat(26 * 1024 * 1024 + 1));
  expect((await late.end()).code).toBe(1009);
  expect(late.frames.filter((f) => f.type === "res")).toHaveLength(1);
});

test("6. a read-only connection that calls config.set is FORBIDDEN with MISSING_SCOPE, and goes on", async () => {
  const reader = await greeted({ scopes: ["operator.read"] });
  const { error } = await ask(reader, "config.set", { raw: "{}", baseHash: "x" });
  expect(error).toMatchObject({
    code: "FORBIDDEN",
    message: "missing scope: operator.admin",
    details: { code: "MISSING_SCOPE", missingScope: "operator.admin", requiredScopes: ["operator.admin"] },
  });
  expect((await ask(reader, "health")).ok).toBe(true);
  await reader.close();
});

test("7. an unknown method is told to an administrator, and confirmed to nobody else", async () => {
  expect((await ask(admin, "foo.bar")).error).toMatchObject({ code: "INVALID_REQUEST", message: "unknown method: foo.bar" });
  const reader = await greeted({ scopes: ["operator.read"] });
  expect((await ask(reader, "foo.bar")).error).toEqual((await ask(reader, "config.set")).error);
  await reader.close();
});

test("8. agent without a message is an invalid request that names it", async () => {
  const { error } = await ask(admin, "agent", { idempotencyKey: "c8" });
  expect(error).toMatchObject({ code: "INVALID_REQUEST", message: expect.stringMatching(/^invalid agent params: .*message/) });
});

test("9. the key of a run that is under way is in flight; of one that is over it gives the same final answer", async () => {
  run(admin, "c9");
  admin.send({ type: "req", id: "c9 again", method: "agent", params: { message: "another text", idempotencyKey: "c9" } });
  const repeat = await admin.frame((f) => f.id === "c9 again");
  expect(repeat.payload).toEqual({ runId: "c9", status: "in_flight", sessionKey: "agent:main:main", agentId: "main" });
  const final = await finalOf(admin, "c9");
  expect(final).toMatchObject({ ok: true, payload: { runId: "c9", status: "ok", summary: "completed" } });
  const later = await ask(admin, "agent", { message: "a third text", idempotencyKey: "c9" });
  expect({ ...later, id: "c9" }).toEqual(final);
});

test("10. of one run the inner seq only grows, one lifecycle event is terminal, and the final answer comes last", async () => {
  run(admin, "c10", { model: "lab/tool" });
  const final = await finalOf(admin, "c10");
  const frames = admin.frames.filter((f) => f.id === "c10" || f.payload?.runId === "c10");
  const events = eventsOf(admin, "agent", "c10");
  expect(frames.at(0)).toMatchObject({ id: "c10", payload: { status: "accepted" } });
  expect(frames.at(-1)).toBe(final);
  expect(new Set(events.map((e) => e.stream))).toContain("tool");
  expect(events.every((e, i) => i === 0 || e.seq > events[i - 1].seq)).toBe(true);
  expect(events[0]).toMatchObject({ seq: 1, stream: "lifecycle", data: { phase: "start" } });
  expect(events.filter((e) => e.stream === "lifecycle" && ["end", "error"].includes(e.data.phase))).toEqual([events.at(-1)]);
  await ask(admin, "health");
  expect(eventsOf(admin, "agent", "c10")).toHaveLength(events.length);
});

test("11. a failed model call ends in ok:false with payload and error", async () => {
  run(admin, "c11", { agentId: "broken" });
  const final = await finalOf(admin, "c11");
  expect(final).toMatchObject({ ok: false, payload: { runId: "c11", status: "error" }, error: { code: "UNAVAILABLE" } });
  expect(final.payload.summary).toBe(final.error.message);
});

test("12. chat.abort in mid-stream: the chat ends aborted, and no delta comes after", async () => {
  const params = { sessionKey: "c12", message: "count", idempotencyKey: "c12" };
  await ask(admin, "sessions.create", { key: "c12", model: "lab/slow-drip" });
  const seen = vendor.nextRequest();
  expect((await ask(admin, "chat.send", params)).payload).toEqual({ runId: "c12", status: "started" });
  await admin.frame((f) => f.event === "chat" && f.payload.runId === "c12" && f.payload.state === "delta");
  const { payload } = await ask(admin, "chat.abort", { sessionKey: "c12", runId: "c12" });
  expect(payload).toEqual({ ok: true, aborted: true, runIds: ["c12"] });
  expect(await (await seen).ended).toEqual({ aborted: true });
  await admin.frame((f) => f.event === "chat" && f.payload.runId === "c12" && f.payload.state === "aborted");
  await ask(admin, "sessions.patch", { key: "c12", model: "lab/ok" });
  await ask(admin, "chat.send", { ...params, idempotencyKey: "c12 after" });
  await admin.frame((f) => f.event === "chat" && f.payload.runId === "c12 after" && f.payload.state === "final");
  const states = eventsOf(admin, "chat", "c12").map((c) => c.state);
  expect(states.at(-1)).toBe("aborted");
  expect(states.filter((s) => ["aborted", "final", "error"].includes(s))).toHaveLength(1);
});

test("13. clients of different scopes see different events, each without a gap", async () => {
  const crowd = await Promise.all([["operator.admin"], ["operator.read"], ["operator.approvals"], []].map((scopes) => greeted({ scopes })));
  const guest = await greeted({ client: { id: "test", version: "1", platform: "x", mode: "test" } });
  run(admin, "c13", { model: "lab/tool" });
  await finalOf(admin, "c13");
  await guest.close();
  const { hash } = (await ask(admin, "config.get")).payload;
  await ask(admin, "config.patch", { raw: '{"agents":{"defaults":{"skipBootstrap":true}}}', baseHash: hash });
  await admin.frame((f) => f.event === "config.changed");
  await ask(admin, "health", { probe: true });
  for (const socket of crowd) await ask(socket, "health");
  const counts = crowd.map((socket) => new Set(socket.frames.filter((f) => f.seq).map((f) => f.event)));
  expect([...crowd, admin].map(isGapless)).toEqual([true, true, true, true, true]);
  expect(counts.map((names) => names.has("agent"))).toEqual([true, true, false, false]);
  expect(counts.map((names) => names.has("config.changed"))).toEqual([true, true, false, false]);
  await Promise.all(crowd.map((socket) => socket.close()));
});

test("14. a client that stops reading is cut as a slow consumer; others get everything in order meanwhile", async () => {
  const [slow, fast, speaker] = await Promise.all([greeted(), greeted(), greeted()]);
  for (const socket of [slow, fast]) await ask(socket, "loud.listen", { topic: "bulk" });
  // Counted, not read: it has to get to the close frame, which is behind all that waits for it; the gateway waits a minute for that instead of two seconds.
  slow.ws.removeAllListeners("message");
  let heard = 0;
  slow.ws.on("message", () => {
    heard += 1;
  });
  const said = () => fast.frames.filter((f) => f.event === "plugin.loud.said").map((f) => f.payload.i);
  const say = async (events: number) => expect((await ask(speaker, "loud.say", { events, bytes: 1_000_000, topic: "bulk" })).ok).toBe(true);
  const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
  const allowed = Math.floor(limits.maxBufferedBytes / 1_001_000);
  // More than the system keeps of a connection.
  const beyond = 24;

  slow.ws.pause();
  await say(allowed);
  await eventually(() => said().length === allowed);
  await say(beyond);
  slow.ws.resume();

  expect(await slow.end()).toEqual({ code: 1008, reason: "slow consumer" });
  expect(heard).toBeLessThan(allowed + beyond);
  await eventually(() => said().length === allowed + beyond);
  expect(said()).toEqual([...numbers(allowed), ...numbers(beyond)]);
  expect(isGapless(fast)).toBe(true);
  await Promise.all([fast.close(), speaker.close()]);
});

test("15. of 31 writes in a minute the last is refused with the time to wait", async () => {
  const socket = await greeted({}, { at: wsUrlOf(await another()) });
  const errors: Frame[] = [];
  for (let i = 0; i < 31; i++) errors.push((await ask(socket, "config.patch", { raw: "{}" })).error);
  expect(new Set(errors.slice(0, 30).map((e) => e.code))).toEqual(new Set(["INVALID_REQUEST"]));
  expect(errors[30]).toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringMatching(/^rate limit exceeded for config\.patch; retry after \d+s$/),
    retryable: true,
    details: { code: "RATE_LIMITED", method: "config.patch", limit: "30 per 60s" },
  });
  expect(errors[30].retryAfterMs).toBeGreaterThan(0);
  expect(errors[30].retryAfterMs).toBeLessThanOrEqual(60_000);
  await socket.close();
});

test("16. of two writers with one baseHash one wins and the other learns the new hash", async () => {
  const { hash } = (await ask(admin, "config.get")).payload;
  const write = (maxChars: number) => {
    const raw = JSON.stringify({ agents: { defaults: { bootstrapMaxChars: maxChars } } });
    return ask(admin, "config.patch", { raw, baseHash: hash });
  };
  const answers = await Promise.all([write(1_000), write(2_000)]);
  const [won] = answers.filter((a) => a.ok);
  const [lost] = answers.filter((a) => !a.ok);
  expect(lost.error).toMatchObject({
    code: "INVALID_REQUEST",
    message: "config changed since last load; re-run config.get and retry",
    details: { code: "CONFLICT", currentHash: won.payload.hash },
  });
});

test("17. SIGTERM: the shutdown event precedes the close frame on every socket", async () => {
  const one = await another();
  const at = wsUrlOf(one);
  const scopes = [["operator.admin"], ["operator.read"], [], ["operator.read"]];
  const crowd = await Promise.all(scopes.map((s) => greeted({ scopes: s }, { at })));
  expect(await one.kill("SIGTERM")).toBe(0);
  for (const socket of crowd) {
    expect(await socket.end()).toEqual({ code: 1001, reason: "gateway stopping" });
    expect(socket.frames.at(-1)).toMatchObject({ event: "shutdown", payload: { reason: "gateway stopping" } });
  }
});

// The published test vector of a device signature: the seed is the bytes 0 to 31.
const seed = Buffer.from(Array.from({ length: 32 }, (_, i) => i));
const privateKey = createPrivateKey({
  key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]),
  format: "der",
  type: "pkcs8",
});
const vector = createDevice(privateKey);
const vectorClient = { id: "cli", mode: "cli", version: "0.3.1", platform: "linux", deviceFamily: "Server" };

test("18. the device vector verifies, and each single-field change fails with its own code", async () => {
  const claim = {
    deviceId: vector.id,
    connect: { client: vectorClient, role: "operator", scopes: ["operator.read", "operator.write"], auth: { token: "s3cret-token" } },
    signedAt: 1_767_225_600_000,
    nonce: "0f6d1c1e-1111-4222-8333-444455556666",
  } as Parameters<typeof deviceProofText>[1];
  const signature = "S_E9DShDySeSunlwsQ-LlGQcImdz7nEi0stw1J2Hb5ZbTx18d2km4v2fVudXECU2uBboqKbvgfJsiMBQX6ToCg";
  expect(vector.publicKey).toBe("A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg");
  expect(vector.id).toBe("56475aa75463474c0285df5dbf2bcab73da651358839e9b77481b2eab107708c");
  expect(vector.sign(deviceProofText(3, claim))).toBe(signature);
  expect(verify(null, Buffer.from(deviceProofText(3, claim)), privateKey, Buffer.from(signature, "base64url"))).toBe(true);

  const change = { client: vectorClient, scopes: ["operator.read", "operator.write"] };
  const attempt = async (spoil?: (params: Frame) => void) => {
    const socket: DeviceSocket = await dial({ wsUrl: wsUrlOf(gateway), token: secrets.token });
    sockets.push(socket);
    const res = await socket.connect(vector, change, spoil);
    if (res.ok) await socket.close();
    else expect((await socket.end()).code).toBe(1008);
    return res;
  };
  expect(await attempt()).toMatchObject({ ok: true, payload: { auth: { role: "operator", scopes: change.scopes } } });
  const other = createDevice();
  const spoils: Array<[string, (params: Frame) => void]> = [
    ["DEVICE_ID_MISMATCH", (p) => Object.assign(p.device, { id: other.id })],
    ["DEVICE_ID_MISMATCH", (p) => Object.assign(p.device, { publicKey: other.publicKey })],
    ["PUBLIC_KEY_INVALID", (p) => Object.assign(p.device, { publicKey: "AAAA" })],
    ["SIGNATURE_EXPIRED", (p) => Object.assign(p.device, { signedAt: p.device.signedAt - 130_000 })],
    ["NONCE_REQUIRED", (p) => Object.assign(p.device, { nonce: "" })],
    ["NONCE_MISMATCH", (p) => Object.assign(p.device, { nonce: claim.nonce })],
    ["SIGNATURE_INVALID", (p) => Object.assign(p.device, { signature: signature })],
    ["SIGNATURE_INVALID", (p) => Object.assign(p.device, { signedAt: p.device.signedAt + 1 })],
    ["SIGNATURE_INVALID", (p) => Object.assign(p.client, { mode: "probe" })],
    ["SIGNATURE_INVALID", (p) => Object.assign(p.client, { platform: "mac" })],
    ["SIGNATURE_INVALID", (p) => Object.assign(p.client, { deviceFamily: "Phone" })],
    ["SIGNATURE_INVALID", (p) => p.scopes.pop()],
  ];
  const codes: string[] = [];
  for (const [, spoil] of spoils) codes.push((await attempt(spoil)).error.details.code);
  expect(codes).toEqual(spoils.map(([code]) => `DEVICE_AUTH_${code}`));
});

test("19. of 11 wrong tokens from one address that is not loopback the 11th is AUTH_RATE_LIMITED", async () => {
  const own = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find((a) => !a.internal && a.family === "IPv4")?.address;
  const one = await another({ bind: "lan", trustedProxies: ["127.0.0.1"] });
  // A machine without any other address comes through the proxy.
  const place = own ? { at: wsUrlOf(one, own) } : { at: wsUrlOf(one), headers: far() };
  const errors: Frame[] = [];
  for (let i = 0; i < 11; i++) errors.push((await ask(await challenged(place), "connect", connectParams("wrong"))).error);
  expect(errors.slice(0, 10).map((e) => e.details.code)).toEqual(Array(10).fill("AUTH_TOKEN_MISMATCH"));
  expect(errors[10]).toMatchObject({
    code: "INVALID_REQUEST",
    message: "unauthorized: too many failed authentication attempts (retry later)",
    retryable: true,
    details: { code: "AUTH_RATE_LIMITED", recommendedNextStep: "wait_then_retry" },
  });
  expect(errors[10].retryAfterMs).toBeGreaterThan(290_000);
  await (await greeted({}, { at: wsUrlOf(one) })).close();
});

async function logOf({ stateDir }: Home): Promise<string> {
  const names = (await readdir(join(stateDir, "logs"), { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  return (await Promise.all(names.map((entry) => readFile(join(entry.parentPath, entry.name), "utf8")))).join("\n");
}

test("20. no payload, event or log line contains a configured secret", async () => {
  const hello = admin.frames.find((f) => f.payload?.type === "hello-ok").payload;
  const methods = hello.features.methods.filter((m: string) => !m.startsWith("gateway.restart") && m !== "connect");
  for (const method of methods) await ask(admin, method);
  for (const agentId of ["main", "broken"]) {
    run(admin, `c20 ${agentId}`, { agentId });
    await finalOf(admin, `c20 ${agentId}`);
  }
  const { raw, hash } = (await ask(admin, "config.get")).payload;
  const known = secrets.token.slice(0, -1);
  await ask(admin, "config.set", { raw: `${raw},`, baseHash: hash });
  await ask(admin, "config.set", { raw: raw.replace('"local"', '"nowhere"'), baseHash: hash });
  await ask(admin, "logs.tail", { limit: 5_000, maxBytes: 1_000_000 });
  await ask(await challenged(), "connect", connectParams(`${secrets.token} `));
  expect(await gateway.kill("SIGTERM")).toBe(0);

  const said = [
    ...sockets.flatMap((socket) => socket.frames.map((frame) => JSON.stringify(frame))),
    ...gateways.flatMap(({ out }) => [out.stdout, out.stderr]),
    ...(await logOf(home)).split("\n"),
  ];
  expect(said.length).toBeGreaterThan(500);
  expect(said.some((text) => text.includes("__SVC_REDACTED__"))).toBe(true);
  for (const secret of [known, secrets.hooks, secrets.model]) expect(said.filter((text) => text.includes(secret))).toEqual([]);
});
