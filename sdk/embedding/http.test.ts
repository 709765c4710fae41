import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { createTestRequests } from "../testing/test-requests.ts";
import { createVendorHttp, type VendorHttp } from "./http.ts";

const KEY = "key-0123456789abcdef";
const opened: Array<() => Promise<void> | void> = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

interface Served {
  url: string;
  requests: IncomingMessage[];
  connections: number;
  server: ReturnType<typeof createServer>;
}

async function serve(handle: RequestListener): Promise<Served> {
  const server = createServer((req, res) => {
    served.requests.push(req);
    handle(req, res);
  });
  const served: Served = { url: "", requests: [], connections: 0, server };
  server.on("connection", () => {
    served.connections++;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  served.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  opened.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return served;
}

function client(signals: AbortSignal[] = []): VendorHttp {
  const requests = createTestRequests();
  opened.push(() => requests.close());
  const http = createVendorHttp({ adapter: "acme", request: requests.request, secrets: [KEY], signals });
  opened.push(() => http.close());
  return http;
}

const headers = { authorization: `Bearer ${KEY}` };
const json = (value: unknown) => (req: IncomingMessage, res: ServerResponse) => {
  req.resume();
  res.setHeader("content-type", "application/json").end(JSON.stringify(value));
};
const fault = (name: string, text = "") => expect.objectContaining({ fault: name, message: expect.stringContaining(text) });

test("calls share a connection that stays open", async () => {
  const served = await serve(json({ ok: [1, 2] }));
  const http = client();

  for (let i = 0; i < 3; i++) {
    expect(await http.json({ url: `${served.url}/a`, headers, json: { i }, timeoutMs: 5_000 })).toEqual({ ok: Float32Array.of(1, 2) });
  }

  expect(served.connections).toBe(1);
  expect(served.requests[0]).toMatchObject({
    method: "POST",
    headers: { ...headers, "content-type": "application/json", "user-agent": "svc" },
  });
});

test("a connection that the server has just closed is replaced without anybody noticing, unless the call must not be sent twice", async () => {
  const used = new WeakSet();
  const served = await serve((req, res) => {
    if (used.has(req.socket)) return void req.socket.destroy();
    used.add(req.socket);
    json({})(req, res);
  });
  const http = client();
  const ask = (isOnce: boolean) => http.json({ url: served.url, headers, json: {}, timeoutMs: 5_000, isOnce });
  await ask(false);

  expect(await ask(false)).toEqual({});
  await expect(ask(true)).rejects.toEqual(fault("network", "ECONNRESET"));
  expect(served.connections).toBe(2);
});

test("an abort closes the socket, during the wait and during the answer", async () => {
  const served = await serve((req, res) => {
    req.resume();
    if (req.url === "/slow") res.writeHead(200).write('{"a":');
  });
  const http = client();
  for (const path of ["/silent", "/slow"]) {
    const stop = new AbortController();
    const call = http.json({ url: served.url + path, headers, json: {}, timeoutMs: 60_000, signal: stop.signal });
    const rejected = expect(call).rejects.toThrow("enough");
    await eventually(() => served.requests.some((req) => req.url === path));
    stop.abort(new Error("enough"));
    await rejected;
    await eventually(() => served.requests.every((req) => req.socket.destroyed));
  }
  await expect(http.json({ url: served.url, headers, timeoutMs: 1, signal: AbortSignal.abort(new Error("early")) })).rejects.toThrow(
    "early",
  );
});

test("many calls and many providers at once are no leak that Node has to warn of", async () => {
  const warnings: string[] = [];
  const note = (warning: Error) => void warnings.push(warning.message);
  process.on("warning", note);
  opened.push(() => void process.off("warning", note));
  const served = await serve(json({}));
  const plugin = new AbortController();
  const clients = Array.from({ length: 12 }, () => client([plugin.signal]));
  const [http] = clients;
  await Promise.all(Array.from({ length: 12 }, () => http?.json({ url: served.url, headers, timeoutMs: 60_000 })));
  expect(warnings).toEqual([]);
});

test("silence beyond the limit is a timeout", async () => {
  const served = await serve((req) => void req.resume());
  await expect(client().json({ url: served.url, headers, timeoutMs: 50 })).rejects.toEqual(fault("timeout", "no answer within 0.05 s"));
});

test("close, the end of the plugin and the end of the provider reject what is under way", async () => {
  const served = await serve((req) => void req.resume());
  const ended = new AbortController();
  for (const end of [(http: VendorHttp) => http.close(), () => ended.abort()]) {
    const http = client([ended.signal]);
    const before = served.requests.length;
    const rejected = expect(http.json({ url: served.url, headers, timeoutMs: 60_000 })).rejects.toEqual(fault("network", "closed"));
    await eventually(() => served.requests.length > before);
    end(http);
    await rejected;
    await expect(http.json({ url: served.url, headers, timeoutMs: 60_000 })).rejects.toEqual(fault("network", "closed"));
    http.close();
  }
  const late = client([ended.signal]);
  await expect(late.json({ url: served.url, headers, timeoutMs: 60_000 })).rejects.toEqual(fault("network", "closed"));
});

test("a redirect is an error that names the other origin and takes no key along", async () => {
  const other = await serve(json({}));
  const served = await serve((_req, res) => void res.writeHead(307, { location: `${other.url}/x` }).end());

  await expect(client().json({ url: served.url, headers, json: {}, timeoutMs: 5_000 })).rejects.toEqual(fault("model", other.url));
  expect(other.requests).toEqual([]);
});

test("an error body is cut at 8 KiB and shows no key, not even a half one at the cut", async () => {
  const body = `${" ".repeat(8_185)}${KEY} more`;
  const served = await serve((_req, res) => void res.writeHead(500).end(body));

  const error = await client()
    .json({ url: served.url, headers, timeoutMs: 5_000 })
    .catch((e: Error) => e);

  expect(error).toMatchObject({ fault: "overloaded", status: 500 });
  expect((error as Error).message).not.toContain(KEY.slice(0, 6));
});

test.each([
  ["html", "<html>"],
  ["nothing", ""],
  ["half an answer", '{"data":[{"embedding":[0.1,0.2'],
])("an answer of %s is bad-response", async (_name, text) => {
  const served = await serve((_req, res) => void res.end(text));
  await expect(client().json({ url: served.url, headers, timeoutMs: 5_000 })).rejects.toEqual(fault("bad-response"));
});

test("an answer of more than 64 MiB is given up", async () => {
  const piece = `[${"0.125,".repeat(17_000)}0],`;
  const served = await serve((_req, res) => {
    res.write("[");
    const more = () => {
      while (res.write(piece));
      res.once("drain", more);
    };
    more();
  });
  await expect(client().json({ url: served.url, headers, timeoutMs: 60_000 })).rejects.toEqual(fault("bad-response", "64 MiB"));
  await eventually(() => served.requests.every((req) => req.socket.destroyed));
});

test("an answer that is no JSON is not repeated: a key may be in it", async () => {
  const served = await serve((req, res) => void res.end(`"${req.headers.authorization}`));
  const error = await client()
    .json({ url: served.url, headers: { authorization: KEY }, timeoutMs: 5_000 })
    .catch((e: Error) => e);
  expect(error).toEqual(fault("bad-response", "not JSON"));
  expect((error as Error).message).not.toContain(KEY.slice(0, 6));
  const bare = await serve((req, res) => void res.end(`${req.headers.authorization}`));
  const other = await client()
    .json({ url: bare.url, headers: { authorization: KEY }, timeoutMs: 5_000 })
    .catch((e: Error) => e);
  expect((other as Error).message).not.toContain(KEY.slice(0, 6));
});

test("an answer that breaks off, and a server that is not there, are network", async () => {
  const served = await serve((_req, res) => {
    res.writeHead(200, { "content-length": "1000" });
    res.write("{", () => res.destroy());
  });
  await expect(client().json({ url: served.url, headers, timeoutMs: 5_000 })).rejects.toEqual(fault("network"));
  const gone = await serve(() => undefined);
  gone.server.close();
  await once(gone.server, "close");
  opened.pop();
  await expect(client().json({ url: gone.url, headers, timeoutMs: 5_000 })).rejects.toEqual(fault("network", "ECONNREFUSED"));
});

test("an address of another protocol is refused", async () => {
  await expect(client().json({ url: "ftp://host.example/", headers, timeoutMs: 5_000 })).rejects.toEqual(fault("model", "ftp:"));
});

async function text(chunks: AsyncIterable<Buffer>): Promise<string> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all).toString();
}

test("a download follows a redirect to another origin without the key", async () => {
  const other = await serve((_req, res) => void res.end("the file"));
  const served = await serve((req, res) => {
    const [, to] = /^\/to\/(.+)$/.exec(req.url ?? "") ?? [];
    res.writeHead(302, { location: to === "same" ? "/to/other" : to === "other" ? `${other.url}/file` : "https://10.0.0.1/file" }).end();
  });
  const http = client();

  expect(await text(http.download({ url: `${served.url}/to/same`, headers, timeoutMs: 5_000 }))).toBe("the file");

  expect(served.requests.map((req) => req.headers.authorization)).toEqual([headers.authorization, headers.authorization]);
  expect(other.requests.map((req) => req.headers.authorization)).toEqual([undefined]);
  await expect(text(http.download({ url: `${served.url}/to/inside`, headers, timeoutMs: 5_000 }))).rejects.toEqual(
    fault("model", "10.0.0.1"),
  );
});

test("a download that nobody reads on closes its socket", async () => {
  const served = await serve((_req, res) => void res.writeHead(200).write("a"));
  for await (const chunk of client().download({ url: served.url, headers, timeoutMs: 60_000 })) {
    expect(chunk.toString()).toBe("a");
    break;
  }
  await eventually(() => served.requests.every((req) => req.socket.destroyed));
});

test("a server that answers without reading the request gets no more of it", async () => {
  const server = createTcpServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.pause();
      socket.write("HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno");
    });
    opened.push(() => void socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  opened.push(() => void server.close());
  let isOver = false;
  async function* chunks() {
    try {
      for (let i = 0; i < 640; i++) yield Buffer.alloc(64 * 1024);
    } finally {
      isOver = true;
    }
  }
  const body = { bytes: 640 * 64 * 1024, chunks: chunks() };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(client().json({ url, headers, body, timeoutMs: 60_000 })).rejects.toEqual(fault("too-long"));
  await eventually(() => isOver);
});

test("a body in pieces is sent with its length", async () => {
  const served = await serve((req, res) => {
    void req
      .toArray()
      .then((chunks) => res.end(JSON.stringify({ got: Buffer.concat(chunks).toString(), length: req.headers["content-length"] })));
  });
  async function* chunks() {
    yield Buffer.from("one ");
    yield Buffer.from("two");
  }
  const answer = await client().json({ url: served.url, headers, body: { bytes: 7, chunks: chunks() }, timeoutMs: 5_000 });
  expect(answer).toEqual({ got: "one two", length: "7" });
});
