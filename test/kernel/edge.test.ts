import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { fixture } from "./_fixtures.ts";
import { BareSocket, challenged, connectParams } from "./_ws.ts";

const open = new Set<Socket>();
afterEach(() => {
  for (const socket of open) socket.destroy();
  open.clear();
});

/** A bare TCP connection that never closes by itself, and what came back on it. */
async function dial(to: TestGateway): Promise<{ socket: Socket; received(): string; ended: Promise<unknown> }> {
  const socket = connect({ port: to.gateway.port, host: "127.0.0.1", allowHalfOpen: true });
  open.add(socket);
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
  });
  socket.on("error", () => undefined);
  const ended = once(socket, "end");
  await once(socket, "connect");
  return { socket, received: () => text, ended };
}

async function send(to: TestGateway, request: string): Promise<string> {
  const { socket, received, ended } = await dial(to);
  socket.write(request);
  await ended;
  return received();
}

const upgrade = (path: string, headers = "") =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${headers}\r\n`;
const statusOf = (answer: string) => Number(answer.split(" ", 2)[1]);

describe("on the edge", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await createTestGateway({ plugins: [fixture("leaky")] });
  });
  afterAll(() => gateway.close());
  const get = (path: string, headers = "") => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`;
  const lines = (count: number) => Array.from({ length: count }, (_, i) => `X-${i}: 1\r\n`).join("");

  test("100 header lines are taken, 101 are 431", async () => {
    expect(statusOf(await send(gateway, get("/healthz", `${lines(98)}Connection: close\r\n`)))).toBe(200);
    const answer = await send(gateway, get("/healthz", `${lines(99)}Connection: close\r\n`));
    expect(statusOf(answer)).toBe(431);
    expect(answer).toContain("X-Content-Type-Options: nosniff");
  });

  test("a head of more than 16 KiB is 431, and a URL of 100 KB does not get in", async () => {
    expect(statusOf(await send(gateway, get("/healthz", `X: ${"x".repeat(17_000)}\r\n`)))).toBe(431);
    expect(statusOf(await send(gateway, get(`/${"x".repeat(100_000)}`)))).toBe(431);
  });

  test("pipelined requests are answered in order, and no request is the last of a connection", async () => {
    const { socket, received } = await dial(gateway);
    socket.write(Array.from({ length: 1_001 }, (_, i) => get("/healthz", `X-Request-Id: r${i}\r\n`)).join(""));
    const answers = () => received().split("HTTP/1.1 ").slice(1);
    await eventually(() => answers().length === 1_001);
    const ids = answers().map((answer) => /^200 .*x-request-id: r(\d+)/s.exec(answer)?.[1]);
    expect(ids).toEqual(Array.from({ length: 1_001 }, (_, i) => String(i)));
    expect(received()).not.toContain("Connection: close");
  });

  test.each([
    ["two lengths", "POST /leaky HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
    ["length and chunks", "POST /leaky HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["an odd transfer encoding", "POST /leaky HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"],
    ["a space before the colon", "GET /leaky HTTP/1.1\r\nHost : h\r\n\r\n"],
    ["no Host", "GET /leaky HTTP/1.1\r\n\r\n"],
  ])("%s is 400 and the end of the connection", async (_, request) => {
    const answer = await send(gateway, request);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 400"]);
  });

  test.each([
    "//leaky",
    "/leaky/",
    "/LEAKY",
    "/%6ceaky",
    "/leaky;x",
    "/./leaky",
    "/x/../leaky",
    "/leaky%2Ftree%2Fa",
    "http://127.0.0.1/leaky",
    "http://127.0.0.1/healthz",
  ])("%s is not the path that it resembles", async (path) => {
    const answer = await send(gateway, get(path, `Authorization: Bearer ${gateway.token}\r\nConnection: close\r\n`));
    expect(statusOf(answer)).toBe(404);
  });

  test.each(["gzip", "GZIP", "br", "identity, gzip"])("a body that calls itself %s is refused, not unpacked", async (encoding) => {
    const res = await gateway.fetch("/leaky", { method: "POST", body: "{}", headers: { "content-encoding": encoding } });
    expect([res.status, await res.json()]).toMatchObject([400, { error: { type: "content_encoding" } }]);
    expect((await gateway.fetch("/leaky", { method: "POST", body: "{}", headers: { "content-encoding": "identity" } })).status).toBe(200);
  });

  test("a wrong token is answered before a byte of the body has come", async () => {
    const { socket, received } = await dial(gateway);
    socket.write("POST /leaky HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong\r\nContent-Length: 50\r\n\r\n");
    await eventually(() => received().startsWith("HTTP/1.1 401"));
  });

  test.each([
    ["a path nobody owns", upgrade("/nowhere"), 404],
    ["forwarded headers", upgrade("/", "Forwarded: for=192.0.2.1\r\n"), 403],
    ["real-ip headers", upgrade("/", "X-Real-IP: 127.0.0.1\r\n"), 403],
  ])("an upgrade with %s is refused, and the connection ends though the client holds it open", async (_, request, status) => {
    const { socket, received, ended } = await dial(gateway);
    socket.write(request);
    await ended;
    expect(statusOf(received())).toBe(status);
    const gone = new Promise((resolve) => socket.once("close", resolve));
    const push = setInterval(() => socket.write("x"), 20);
    await gone;
    clearInterval(push);
  });

  test("a client that never answers the close frame is cut after two seconds", async () => {
    const { socket, received, ended } = await dial(gateway);
    socket.write(upgrade("/"));
    await eventually(() => received().includes("connect.challenge"));
    const mask = Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x7b]); // the text "{", masked with zeros
    socket.write(mask);
    await eventually(() => received().includes("invalid request frame"));
    await ended;
  });

  test("a frame that says it is a terabyte is refused at its head", async () => {
    const { socket, received, ended } = await dial(gateway);
    socket.write(upgrade("/"));
    await eventually(() => received().includes("connect.challenge"));
    socket.write(Buffer.from([0x81, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    await ended;
    expect(received()).toContain("\u0003\u00f1"); // close code 1009
  });

  test("fragments without an end are refused at 64 KiB in all", async () => {
    const { socket, received, ended } = await dial(gateway);
    socket.write(upgrade("/"));
    await eventually(() => received().includes("connect.challenge"));
    const part = (opcode: number) => Buffer.concat([Buffer.from([opcode, 0xfe, 0x40, 0x00, 0, 0, 0, 0]), Buffer.alloc(0x4000, 0x20)]);
    socket.write(part(0x01));
    for (let i = 0; i < 4; i++) socket.write(part(0x00));
    await ended;
    expect(received()).toContain("\u0003\u00f1");
  });

  test("compression is not negotiated", async () => {
    const { socket, received } = await dial(gateway);
    socket.write(upgrade("/", "Sec-WebSocket-Extensions: permessage-deflate\r\n"));
    await eventually(() => received().includes("\r\n\r\n"));
    expect(received()).not.toMatch(/sec-websocket-extensions/i);
  });

  test("a secret in the URL or in a cookie opens nothing", async () => {
    for (const name of ["token", "access_token", "auth", "key"]) {
      const socket = new BareSocket(`${gateway.wsUrl}/?${name}=${gateway.token}`, { headers: { cookie: `${name}=${gateway.token}` } });
      await socket.frame((f) => f.event === "connect.challenge");
      const res = await socket.request("1", "connect", connectParams("", { auth: {} }));
      expect(res.error.details.code).toBe("AUTH_TOKEN_MISSING");
      expect((await fetch(`${gateway.url}/leaky?${name}=${gateway.token}`)).status).toBe(401);
    }
  });
});

describe("a gateway without a secret", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await createTestGateway({ plugins: [fixture("leaky")], config: { gateway: { auth: { mode: "none" } } } });
  });
  afterAll(() => gateway.close());

  test("serves local callers, by address and by name", async () => {
    expect((await fetch(`${gateway.url}/leaky`)).status).toBe(200);
    expect(statusOf(await send(gateway, "GET /leaky HTTP/1.1\r\nHost: localhost:1\r\nConnection: close\r\n\r\n"))).toBe(200);
    const socket = await challenged(gateway);
    expect((await socket.request("1", "connect", connectParams("", { auth: {} }))).ok).toBe(true);
    await socket.close();
  });

  test.each(["/leaky", "/healthz", "/readyz", "/nowhere"])(
    "answers 403 on %s when it was reached by a name of somebody else",
    async (path) => {
      const answer = await send(gateway, `GET ${path} HTTP/1.1\r\nHost: evil.example:18789\r\nConnection: close\r\n\r\n`);
      expect(statusOf(answer)).toBe(403);
    },
  );

  test("refuses an upgrade that names another host, and a page of another site", async () => {
    const refused = await send(gateway, upgrade("/").replace("Host: 127.0.0.1", "Host: evil.example"));
    expect(statusOf(refused)).toBe(403);
    expect((await fetch(`${gateway.url}/leaky`, { headers: { origin: "http://evil.example" } })).status).toBe(401);
    const socket = await challenged(gateway, { origin: "http://evil.example" });
    const res = await socket.request("1", "connect", connectParams("", { auth: {} }));
    expect(res.error.details.code).toBe("CONTROL_UI_ORIGIN_NOT_ALLOWED");
  });
});
