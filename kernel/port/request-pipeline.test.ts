import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { eventually } from "svc/sdk/testing";
import { afterEach, expect, test } from "vitest";
import { createSlowConsumers } from "./fanout/slow-consumers.ts";
import { answerClientError } from "./listen.ts";
import { createRequestPipeline } from "./request-pipeline.ts";

const MB = 1024 * 1024;
const bounds = { maxBytes: 50 * MB, maxTotalBytes: 24 * MB, stallBytes: MB, stallProgressBytes: 16_384, stallMs: 30_000 };

let server: Server;
const clients: Socket[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** A server whose requests begin when the test answers them, unless it has a handler. */
async function serve(options: { handler?: RequestListener; maxWaiting?: number } = {}) {
  const time = { now: 0 };
  const begun: Array<{ req: IncomingMessage; res: ServerResponse }> = [];
  const accepted: Socket[] = [];
  const outbound = createSlowConsumers(bounds, () => time.now);
  const pipeline = createRequestPipeline({ outbound, handler: (req, res) => void begun.push({ req, res }), ...options });
  let arrived = 0;
  server = createServer((req, res) => {
    arrived += 1;
    pipeline.handle(req, res);
  });
  server.on("connection", (socket) => void accepted.push(socket));
  server.on("upgrade", (_req, socket) => {
    if (pipeline.release(socket)) socket.end("HTTP/1.1 101 Switching Protocols\r\n\r\n");
    else socket.destroy();
  });
  server.on("clientError", (error, socket) => pipeline.breakOff(socket, () => answerClientError(error, socket)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const pass = (ms: number) => {
    time.now += ms;
    outbound.look();
  };
  return { begun, accepted, outbound, pass, arrived: () => arrived };
}

async function dial() {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  clients.push(socket);
  let isClosed = false;
  let text = "";
  socket.on("error", () => undefined);
  socket.on("close", () => {
    isClosed = true;
  });
  const read = () => socket.on("data", (chunk) => (text += chunk.toString("latin1")));
  await once(socket, "connect");
  return { socket, read, received: () => text, isClosed: () => isClosed };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost:a\r\n\r\n`;
const bodies = (text: string) => [...text.matchAll(/\r\n\r\n(\/\d+)/g)].map((match) => match[1]);

test("a pipelined request begins when the answer before it is out, and answers keep their order", async () => {
  const { begun } = await serve();
  const { socket, read, received } = await dial();
  read();
  socket.write(get("/0") + get("/1") + get("/2"));

  for (let i = 0; i < 3; i++) {
    await eventually(() => begun.length === i + 1);
    begun[i]?.res.end(`/${i}`);
  }

  await eventually(() => bodies(received()).length === 3);
  expect(bodies(received())).toEqual(["/0", "/1", "/2"]);
});

test("a connection whose requests wait is not read, however much it sends, and is read again once they are answered", async () => {
  const total = 8_000;
  let isOpen = false;
  const waiting: ServerResponse[] = [];
  const answer = (res: ServerResponse) => res.end(res.req.url);
  const { accepted, arrived } = await serve({ handler: (_req, res) => (isOpen ? answer(res) : waiting.push(res)) });
  const { socket, read, received } = await dial();
  read();
  const paths = Array.from({ length: total }, (_, i) => `/${i}`);

  socket.write(paths.map(get).join(""));
  const other = await dial();
  other.read();
  other.socket.write(get("/1"));
  await eventually(() => waiting.length === 2);

  expect(arrived()).toBeLessThan(3_000);
  expect(accepted[0]?.bytesRead).toBeLessThan(100_000);
  isOpen = true;
  for (const res of waiting) answer(res);
  await eventually(() => received().endsWith(`/${total - 1}`));
  expect(bodies(received())).toEqual(paths);
});

test("a client that goes away while few of its requests wait is noticed", async () => {
  const { begun } = await serve();
  const { socket } = await dial();
  socket.write(get("/0") + get("/1"));
  await eventually(() => begun.length === 1);

  socket.destroy();

  await once(begun[0]?.res as ServerResponse, "close");
});

test("a request beyond those that may wait on all connections ends its own connection and no other; a connection that goes makes room", async () => {
  const { begun } = await serve({ maxWaiting: 10 });
  const [first, second, third] = [await dial(), await dial(), await dial()];
  first.socket.write(get("/0").repeat(11));
  await eventually(() => begun.length === 1);
  third.socket.write(get("/0"));
  await eventually(() => begun.length === 2);

  second.socket.write(get("/0").repeat(2));

  await eventually(second.isClosed);
  expect([first.isClosed(), third.isClosed()]).toEqual([false, false]);
  first.socket.destroy();
  await once(begun[0]?.res as ServerResponse, "close");
  const next = await dial();
  next.socket.write(get("/0").repeat(2));
  await eventually(() => begun.length === 4);
  expect(next.isClosed()).toBe(false);
});

test("a client that takes nothing of its answer for 30 s is closed, whatever is still waiting behind it; one that reads stays", async () => {
  const { begun, pass, accepted } = await serve({ handler: (_req, res) => void res.end(Buffer.alloc(20 * MB)) });
  const [deaf, reader] = [await dial(), await dial()];
  deaf.socket.write(get("/0").repeat(3));
  await eventually(() => (accepted[0]?.writableLength ?? 0) > 0);
  reader.read();
  reader.socket.write(get("/0"));
  await eventually(() => reader.received().length > 20 * MB);

  pass(5_000);
  for (let i = 0; i < 6; i++) pass(5_000);

  await eventually(() => accepted[0]?.destroyed);
  expect(reader.isClosed()).toBe(false);
  expect(begun).toEqual([]);
});

test("unsent answers of all connections together are bounded: the connection with most of them is closed", async () => {
  const sizes = new Map([
    ["/1", 20 * MB],
    ["/2", 10 * MB],
  ]);
  const { accepted, outbound } = await serve({ handler: (req, res) => void res.end(Buffer.alloc(sizes.get(req.url ?? "") ?? 0)) });
  const [large, small] = [await dial(), await dial()];
  large.socket.write(get("/1"));
  await eventually(() => outbound.total() > 10 * MB);

  small.socket.write(get("/2"));

  await eventually(() => accepted[0]?.destroyed);
  expect(accepted[1]?.destroyed).toBe(false);
});

test("an upgrade behind requests that are not answered yet ends the connection; alone it goes through", async () => {
  const { begun } = await serve();
  const upgrade = "GET / HTTP/1.1\r\nHost:a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
  const [mixed, plain] = [await dial(), await dial()];
  for (const { read } of [mixed, plain]) read();

  mixed.socket.write(get("/0") + upgrade);
  plain.socket.write(get("/1"));
  await eventually(() => begun.length === 2);
  begun.find(({ req }) => req.url === "/1")?.res.end("/1");
  await eventually(() => bodies(plain.received()).length === 1);
  plain.socket.write(upgrade);

  await eventually(mixed.isClosed);
  await eventually(() => plain.received().includes(" 101 "));
  expect(mixed.received()).toBe("");
});

const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
const brokenBody = "POST /3 HTTP/1.1\r\nHost:a\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n";

test.each([
  ["bytes that belong to no request", "\0 \0"],
  ["a request whose body cannot be read", brokenBody],
])("%s behind requests that came whole are answered 400 after those, each of which gets its own answer", async (_, rest) => {
  const { begun } = await serve();
  const client = await dial();
  client.read();
  client.socket.write(get("/1") + get("/2") + rest);
  for (const path of ["/1", "/2"]) {
    await eventually(() => begun.at(-1)?.req.url === path);
    begun.at(-1)?.res.end(path);
  }
  await eventually(client.isClosed);
  expect(statuses(client.received())).toEqual([200, 200, 400]);
  expect(begun).toHaveLength(2);
});

test("what follows a request that asks for the end of the connection changes nothing of its answer", async () => {
  const { begun } = await serve();
  const client = await dial();
  client.read();
  client.socket.write(get("/1").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n") + get("/2"));
  await eventually(() => begun.length === 1);
  begun[0]?.res.end("/1");
  await eventually(client.isClosed);
  expect(statuses(client.received())).toEqual([200]);
});

test("a body that cannot be read is answered 400 at once, although its request is being served", async () => {
  const { begun } = await serve();
  const client = await dial();
  client.read();
  client.socket.write(brokenBody);
  await eventually(client.isClosed);
  expect(statuses(client.received())).toEqual([400]);
  expect(begun).toHaveLength(1);
});
