import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { door, seen } from "./_door.ts";
import { closeRawSockets, dial, upgradeRequest } from "./_raw.ts";
import { type BareSocket, challenged, connected, connectParams } from "./_ws.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({ plugins: [door] });
});
afterAll(() => gateway.close());
beforeEach(() => {
  seen.calls = [];
});
afterEach(closeRawSockets);

const request = (id: string, method: string, params = "{}") =>
  `{"type":"req","id":"${id}","method":${JSON.stringify(method)},"params":${params}}`;
const connectText = (params: string) => request("1", "connect", params);
const goodConnect = () => JSON.stringify(connectParams(gateway.token));

/** A text frame as a client sends it; masked with zeros. */
function frameOf(text: string | Buffer, opcode = 0x81): Buffer {
  const body = Buffer.from(text);
  const head =
    body.length < 126 ? Buffer.from([opcode, 0x80 | body.length]) : Buffer.from([opcode, 0xfe, body.length >> 8, body.length & 255]);
  return Buffer.concat([head, Buffer.alloc(4), body]);
}

describe("a first frame that is no connect ends the socket, runs nothing and says little:", () => {
  test.each<[string, string | Buffer, number]>([
    ["another method", request("1", "door.touch"), 1008],
    ["another method that nobody has", request("1", "__proto__"), 1008],
    ["no JSON", "hello", 1008],
    ["half of it", '{"type":"req","id":"1","method":"connect"', 1008],
    ["an array", `[${connectText("{}")}]`, 1008],
    ["null", "null", 1008],
    ["a number", "1", 1008],
    ["a string", '"connect"', 1008],
    ["nothing", "", 1008],
    ["a response", '{"type":"res","id":"1","ok":true,"payload":{}}', 1008],
    ["an event", '{"type":"event","event":"connect.challenge"}', 1008],
    ["a stray key", `{"type":"req","id":"1","method":"connect","params":{},"zzz":1}`, 1008],
    ["an id that is no string", '{"type":"req","id":1,"method":"connect","params":{}}', 1008],
    ["an id that is empty", '{"type":"req","id":"","method":"connect","params":{}}', 1008],
    ["params that are an array", '{"type":"req","id":"1","method":"connect","params":[]}', 1008],
    ["a method that is an object", '{"type":"req","id":"1","method":{"a":1},"params":{}}', 1008],
    ["bytes", Buffer.from(connectText("{}")), 1003],
    ["a path and a secret in every field", connectText('{"minProtocol":"/etc/passwd","token":"canary-secret"}'), 1008],
  ])("%s", async (_, first, code) => {
    const socket = await challenged(gateway);
    socket.send(first);
    const end = await socket.end();
    expect(end.code).toBe(code);
    expect(Buffer.byteLength(end.reason)).toBeLessThanOrEqual(123);
    expect(`${end.reason}${JSON.stringify(socket.frames.slice(1))}`).not.toMatch(/canary|\/tmp|\/home|test-token/);
    expect(seen.calls).toEqual([]);
  });
});

describe("what is pipelined behind a connect that fails never runs:", () => {
  test.each<[string, () => string]>([
    ["a wrong token", () => connectText(JSON.stringify(connectParams("wrong")))],
    ["bad params", () => connectText("{}")],
    ["another method", () => request("1", "health")],
  ])("%s and twenty requests in one write", async (_, first) => {
    const { write, received, ended } = await dial(gateway.gateway.port);
    write(upgradeRequest("/"));
    await eventually(() => received().includes("connect.challenge"));
    const behind = Array.from({ length: 20 }, (_unused, i) =>
      frameOf(request(`r${i}`, i % 2 ? "door.touch" : "connect", i % 2 ? "{}" : goodConnect())),
    );
    write(Buffer.concat([frameOf(first()), ...behind]));
    await ended;
    expect(received().match(/"type":"res"/g)).toHaveLength(1);
    expect(received()).not.toContain("hello-ok");
    expect(seen.calls).toEqual([]);
  });

  test("and behind one that succeeds everything does, in order", async () => {
    const socket = await challenged(gateway);
    socket.send(connectText(goodConnect()));
    await socket.frame((f) => f.id === "1");
    for (let i = 0; i < 20; i++) socket.send(request(`r${i}`, "door.touch"));
    await socket.frame((f) => f.id === "r19");
    expect(seen.calls).toHaveLength(20);
    await socket.close();
  });
});

describe("names of an object's own parts pollute nothing,", () => {
  const poison = ['{"__proto__":{"polluted":1}}', '{"constructor":{"prototype":{"polluted":1}}}', '{"prototype":{"polluted":1}}'];
  const clean = () =>
    expect([({} as Record<string, unknown>).polluted, (Object as unknown as Record<string, unknown>).polluted]).toEqual([
      undefined,
      undefined,
    ]);

  test.each(poison)("in a frame, in params and in a value: %s", async (text) => {
    const socket = await connected(gateway);
    socket.send(request("a", "door.touch", `{"value":${text}}`));
    await socket.frame((f) => f.id === "a");
    socket.send(request("b", "door.touch", text));
    expect((await socket.frame((f) => f.id === "b")).ok).toBe(text.includes("__proto__"));
    socket.send(`${text.slice(0, -1)},"type":"req","id":"c","method":"door.touch","params":{}}`);
    await socket.frame((f) => f.id === "c" || f.id === "invalid");
    clean();
    await socket.close();
  });

  test.each(poison)("in a body: %s", async (body) => {
    const res = await gateway.fetch("/door", { method: "POST", body });
    expect(res.status).toBe(200);
    await res.text();
    clean();
  });

  test.each(poison)("in a patch of the config, which refuses or skips it: %s", async (raw) => {
    const { hash } = await gateway.rpc<{ hash: string }>("config.get");
    await gateway.rpc("config.patch", { raw, baseHash: hash }).catch(() => undefined);
    await gateway.rpc("config.patch", { raw: `{"agents":${raw}}`, baseHash: hash }).catch(() => undefined);
    clean();
    const config = await gateway.rpc("config.get");
    expect(JSON.stringify(config)).not.toContain("polluted");
  });
});

test("of a key that stands twice the last one is checked and used, in a frame and in params", async () => {
  const good = await challenged(gateway);
  good.send(`{"type":"req","id":"1","method":"health","method":"connect","params":{},"params":${goodConnect()}}`);
  expect((await good.frame((f) => f.id === "1")).ok).toBe(true);
  const bad = await challenged(gateway);
  bad.send(connectText(`${goodConnect().slice(0, -1)},"auth":{"token":"wrong"}}`));
  expect((await bad.frame((f) => f.id === "1")).error.details.code).toBe("AUTH_TOKEN_MISMATCH");
  const late = await challenged(gateway);
  late.send(connectText(`${goodConnect().slice(0, -1)},"auth":{"token":"${gateway.token}","token":"wrong"}}`));
  expect((await late.frame((f) => f.id === "1")).error.details.code).toBe("AUTH_TOKEN_MISMATCH");
  await good.close();
});

describe("a method that nobody has is unknown, whatever it is called:", () => {
  let socket: BareSocket;
  beforeAll(async () => {
    socket = await connected(gateway);
  });
  afterAll(() => socket.close());

  test.each([
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "valueOf",
    "door",
    "door.",
    ".touch",
    "door.touch\u0000",
    "DOOR.TOUCH",
    " door.touch",
    "door.touch ",
    "door..touch",
    "\u202edoor.touch",
    "x".repeat(10_000),
  ])("$0", async (method) => {
    const id = `id-${Math.random()}`;
    socket.send({ type: "req", id, method, params: {} });
    const res = await socket.frame((f) => f.id === id);
    expect(res).toMatchObject({ ok: false, error: { code: "INVALID_REQUEST" } });
    expect(res.error.message).toMatch(/^unknown method: /);
    expect(seen.calls).toEqual([]);
  });

  test("the empty name is no request at all", async () => {
    socket.send({ type: "req", id: "empty", method: "", params: {} });
    expect((await socket.frame((f) => f.id === "empty")).error.message).toMatch(/^invalid request frame/);
  });
});

describe("what is nested too deep or has too many keys is refused, and the gateway goes on:", () => {
  const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
  const wide = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":0`).join(",")}}`;

  test.each<[string, () => string, boolean]>([
    ["62 levels in a value", () => nested(62), true],
    ["100,000 levels of objects", () => nested(100_000), false],
    ["100,000 levels of arrays", () => `${"[".repeat(100_000)}${"]".repeat(100_000)}`, false],
    ["a million keys", () => wide(1_000_000), false],
  ])("%s in a frame", async (_, value, fine) => {
    const socket = await connected(gateway);
    socket.send(request("1", "door.touch", `{"value":${value()}}`));
    const res = await socket.frame((f) => f.id === "1" || f.id === "invalid");
    expect(res.ok).toBe(fine);
    if (!fine) expect(res.error.code).toBe("INVALID_REQUEST");
    expect((await socket.request("2", "health")).ok).toBe(true);
    await socket.close();
  });

  test.each<[string, () => string, number]>([
    ["100,000 levels", () => nested(100_000), 400],
    ["a million keys", () => wide(1_000_000), 200],
  ])("%s in a body neither crash nor stall", async (_, body, status) => {
    const res = await gateway.fetch("/door", { method: "POST", body: body() });
    expect(res.status).toBe(status);
    await res.arrayBuffer();
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  });
});

describe("text that is none, or that steers a terminal,", () => {
  test.each([
    ["before", false],
    ["after", true],
  ])("that is no UTF-8 closes with 1007 %s hello", async (_, isEstablished) => {
    const socket = isEstablished ? await connected(gateway) : await challenged(gateway);
    for (const bytes of [Buffer.from([0x22, 0xc3, 0x28, 0x22])]) socket.ws.send(bytes, { binary: false });
    expect((await socket.end()).code).toBe(1007);
  });

  test.each(['"\\ud800"', '"\\udfff\\ud800"', '"\\u0000"', '"\\u202e\\u2066"', '"\\u001b[2J\\r\\n"'])(
    "as JSON %s comes back as it was, in an escaped form",
    async (text) => {
      const socket = await connected(gateway);
      socket.send(request("1", "door.touch", `{"value":${text}}`));
      expect((await socket.frame((f) => f.id === "1")).payload.value).toBe(JSON.parse(text));
      await socket.close();
    },
  );

  test("in a client's name does not reach the log unescaped", async () => {
    const name = "evil\r\n\u001b[2J\u202eadmin";
    const client = { id: "test", version: name, platform: name, mode: "test", displayName: name };
    const socket = await challenged(gateway, { "user-agent": "x".repeat(8_000) });
    await socket.request("1", "connect", connectParams(gateway.token, { client, userAgent: `${name}${"y".repeat(5_000)}` }));
    await socket.close();
    for (const { message } of gateway.logs) expect(message).not.toMatch(/\p{Cc}|\p{Bidi_Control}|y{300}|x{300}/u);
  });
});
