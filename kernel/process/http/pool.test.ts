import { once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { eventually } from "../../../sdk/testing/eventually.ts";
import { undiciFiles } from "./load-undici.ts";
import { createHttpPool, type HttpPool, type HttpPoolOptions, poolLimits } from "./pool.ts";

const opened: Array<() => Promise<unknown> | void> = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function serve(handle: RequestListener) {
  const server = createServer(handle);
  const served = { url: "", connections: 0, open: 0, server };
  server.on("connection", (socket) => {
    served.connections++;
    served.open++;
    socket.on("close", () => served.open--);
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

function pool(own: Partial<HttpPoolOptions> = {}): HttpPool {
  const made = createHttpPool({ env: {}, userAgent: "svc-plugin/acme", signal: new AbortController().signal, ...own });
  opened.push(() => made.close());
  return made;
}

const bodyOf = async (answer: ReturnType<HttpPool["request"]>) => text((await answer).body);

test.each(Object.values(undiciFiles))("%s is a file of the package", (file) => {
  expect(createRequire(import.meta.url).resolve(file)).toContain("undici");
});

test("a request that has ended before it begins loads the client and opens no connection", async () => {
  const require = createRequire(import.meta.url);
  const paths = Object.values(undiciFiles).map((file) => require.resolve(file));
  for (const path of paths) delete require.cache[path];
  vi.resetModules();
  const served = await serve((_req, res) => res.end());
  const fresh = (await import("./pool.ts")).createHttpPool({ env: {}, userAgent: "svc-plugin/acme", signal: new AbortController().signal });
  opened.push(() => fresh.close());
  expect(paths.filter((path) => require.cache[path])).toEqual([]);

  await expect(fresh.request(served.url, { signal: AbortSignal.abort(new Error("ended")) })).rejects.toThrow("ended");

  expect(paths.filter((path) => !require.cache[path]?.loaded)).toEqual([]);
  expect(served.connections).toBe(0);
});

test("many requests after each other go over one connection, under the plugin's name", async () => {
  const agents = new Set<string | undefined>();
  const served = await serve((req, res) => {
    agents.add(req.headers["user-agent"]);
    res.setHeader("x-two", ["a", "b"]).end(req.url);
  });
  const { request } = pool();

  for (let i = 0; i < 50; i++) expect(await bodyOf(request(`${served.url}/a?n=${i}`))).toBe(`/a?n=${i}`);

  expect(served.connections).toBe(1);
  const { status, headers } = await request(served.url, { headers: { "User-Agent": "mine" } });
  expect({ status, two: headers["x-two"] }).toEqual({ status: 200, two: "a, b" });
  expect([...agents]).toEqual(["svc-plugin/acme", "mine"]);
});

test("200 requests at once share 64 connections, in the order of their arrival", async () => {
  const order: string[] = [];
  const held: ServerResponse[] = [];
  let isOpen = false;
  const served = await serve((req, res) => {
    order.push(req.url ?? "");
    if (isOpen) res.end(req.url);
    else held.push(res);
  });
  const { request } = pool();
  const paths = Array.from({ length: 200 }, (_, i) => `/${i}`);

  const answers = Promise.all(paths.map((path) => bodyOf(request(served.url + path))));
  await eventually(() => held.length === poolLimits.maxConnections);
  isOpen = true;
  for (const res of held) res.end(res.req.url);

  expect(await answers).toEqual(paths);
  expect(served.connections).toBe(poolLimits.maxConnections);
  expect(new Set(order.slice(0, 64))).toEqual(new Set(paths.slice(0, 64)));
});

test("200 requests at once to a server that is not there fail, all of them", async () => {
  const gone = await serve(() => undefined);
  gone.server.close();
  await once(gone.server, "close");
  opened.pop();
  const { request } = pool();
  const outcomes = await Promise.allSettled(Array.from({ length: 200 }, () => request(gone.url)));
  const messages = new Set(outcomes.map((one) => one.status === "rejected" && one.reason.message));
  expect([...messages]).toEqual([`${gone.url}: the connection failed: ECONNREFUSED`]);
});

test("a request beyond the queue is refused, and one that is aborted leaves it", async () => {
  const held: ServerResponse[] = [];
  const served = await serve((_req, res) => void held.push(res));
  const { request } = pool();
  const stop = new AbortController();
  const places = poolLimits.maxConnections + poolLimits.maxWaiting;
  const all = Array.from({ length: places }, () => request(served.url, { signal: stop.signal }).catch((error: Error) => error.message));
  await eventually(() => held.length === poolLimits.maxConnections);

  await expect(request(served.url)).rejects.toMatchObject({ code: "too-many-requests-waiting" });
  stop.abort(new Error("enough"));
  expect(new Set(await Promise.all(all))).toEqual(new Set(["enough"]));
  await eventually(() => held.every((res) => res.destroyed));
  served.server.removeAllListeners("request").on("request", (_req, res) => res.end("again"));
  expect(await bodyOf(request(served.url))).toBe("again");
});

test("one signal may end any number of requests, and nobody is warned of a leak", async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error) => void warnings.push(name);
  process.on("warning", onWarning);
  opened.push(() => void process.off("warning", onWarning));
  const served = await serve((_req, res) => res.end("ok"));
  const { request } = pool();
  const { signal } = new AbortController();
  expect(await Promise.all(Array.from({ length: 40 }, () => bodyOf(request(served.url, { signal }))))).toEqual(Array(40).fill("ok"));
  await nextTurn();
  expect(warnings).not.toContain("MaxListenersExceededWarning");
});

test("connections to one server more than 32 take the place of idle ones, and wait for none that is in use", async () => {
  const { request } = pool();
  const servers = await Promise.all(Array.from({ length: poolLimits.maxOrigins }, () => serve((_req, res) => res.end("ok"))));
  for (const { url } of servers) expect(await bodyOf(request(url))).toBe("ok");
  const more = await serve((_req, res) => res.end("more"));
  expect(await bodyOf(request(more.url))).toBe("more");
  await eventually(() => servers[0]?.open === 0);
  expect(servers[1]?.open).toBe(1);

  let arrived = 0;
  const inUse = [...servers.slice(1), more];
  for (const { server } of inUse) server.removeAllListeners("request").on("request", () => arrived++);
  for (const { url } of inUse) void request(url).catch(() => undefined);
  await eventually(() => arrived === poolLimits.maxOrigins);
  await expect(request(servers[0]?.url ?? "")).rejects.toMatchObject({ code: "too-many-requests-waiting" });
});

test("a response that its reader destroys gives its connection up, one that is read gives it back", async () => {
  const begun: ServerResponse[] = [];
  const served = await serve((_req, res) => {
    begun.push(res);
    res.writeHead(200).write("a");
  });
  const { request } = pool();
  for (let i = 0; i < 40; i++) {
    const { body } = await request(served.url);
    body.destroy();
  }
  await eventually(() => begun.length === 40 && begun.every((res) => res.destroyed));
});

test("the end of the plugin ends requests, bodies, those in the queue and connections", async () => {
  const served = await serve((req, res) => req.url === "/body" && res.writeHead(200).write("a"));
  const life = new AbortController();
  const { request, close } = pool({ signal: life.signal });
  const { body } = await request(`${served.url}/body`);
  const reading = expect(text(body)).rejects.toThrow("the plugin stopped");
  const waiting = Array.from({ length: 100 }, () => expect(request(served.url)).rejects.toThrow("the plugin stopped"));
  await eventually(() => served.open === poolLimits.maxConnections);

  life.abort(new Error("the plugin stopped"));
  await Promise.all([reading, ...waiting, close()]);
  await eventually(() => served.open === 0);
  await expect(request(served.url)).rejects.toThrow("the plugin stopped");
});

test("a connection to a host that does not answer ends with the plugin, not ten seconds later", async () => {
  // A listener whose backlog nobody empties still accepts in the system; TLS is what never begins there.
  const server = createTcpServer((socket) => void socket.on("error", () => undefined).on("close", () => closed++));
  let closed = 0;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  opened.push(() => void server.close());
  const life = new AbortController();
  const { request } = pool({ signal: life.signal });
  const asked = expect(request(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)).rejects.toThrow("the plugin stopped");
  await once(server, "connection");
  life.abort(new Error("the plugin stopped"));
  await asked;
  await eventually(() => closed === 1, 2_000);
});

test("a connection that does not come about ends at the limit for connecting, not at that of the request", async () => {
  // A listener that says nothing: TLS never begins.
  const server = createTcpServer((socket) => void socket.resume().on("error", () => undefined));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  opened.push(() => void server.close());
  const { request } = pool({ connectMs: 200 });

  const asked = request(`https://127.0.0.1:${(server.address() as AddressInfo).port}`, { timeoutMs: 10_000 });

  await expect(asked).rejects.toMatchObject({ code: "request-failed", message: expect.stringContaining("ETIMEDOUT") });
});

test("a response that nobody listens to may break, be aborted or end with the plugin", async () => {
  const begun: ServerResponse[] = [];
  const served = await serve((_req, res) => {
    begun.push(res);
    res.writeHead(200).write("a");
  });
  const [life, gone] = [new AbortController(), new AbortController()];
  const { request } = pool({ signal: life.signal });
  const bodies = [await request(served.url), await request(served.url, { signal: gone.signal }), await request(served.url)];

  begun[0]?.destroy();
  gone.abort(new Error("gone"));
  await eventually(() => bodies.slice(0, 2).every(({ body }) => body.closed));
  life.abort(new Error("the plugin stopped"));
  await eventually(() => bodies.every(({ body }) => body.closed)); // an error that nobody handles fails the run
});

test("silence is a timeout: of the connection, of the head, in the queue, in the body", async () => {
  const served = await serve((req, res) => void (req.url === "/body" && res.writeHead(200).write("a")));
  const { request } = pool();
  const late = { code: "response-timeout", message: `${served.url}: no answer within 0.2 s` };
  await expect(request(served.url, { timeoutMs: 200 })).rejects.toMatchObject(late);
  const { body } = await request(`${served.url}/body`, { timeoutMs: 200 });
  await expect(text(body)).rejects.toMatchObject(late);
  const first = Array.from({ length: poolLimits.maxConnections }, () => request(served.url).catch(() => undefined));
  await expect(request(served.url, { timeoutMs: 200 })).rejects.toMatchObject(late);
  void first;
});

test.each([
  ["ftp://host.example/", "expected an address with http or https, got ftp:"],
  ["no address", "expected an address such as https://host/path"],
  ["https://me:pass@host.example/", "credentials do not belong into the address; send a header"],
])("an address that cannot be asked is refused: %s", async (address, problem) => {
  await expect(pool().request(address)).rejects.toMatchObject({ code: "invalid-request", message: `request: ${problem}` });
});

test("a header that cannot be sent is refused without its value", async () => {
  const served = await serve((_req, res) => res.end());
  const error = await pool()
    .request(served.url, { headers: { authorization: "Bearer key\nx: y" } })
    .catch((e: Error) => e);
  expect(error).toMatchObject({ code: "invalid-request" });
  expect((error as Error).message).not.toContain("key");
});

test.each(["CONNECT", "connect"])("%s, which types do not allow, is refused and takes no connection", async (method) => {
  const served = await serve((_req, res) => res.end());
  const asked = pool().request(served.url, { method: method as "GET" });
  await expect(asked).rejects.toMatchObject({
    code: "invalid-request",
    message: "request: expected a method other than CONNECT; it opens a tunnel",
  });
  expect(served.connections).toBe(0);
});

test("a signal of another library ends a request, too", async () => {
  const served = await serve(() => undefined);
  const listeners = new Set<() => void>();
  const signal = {
    aborted: false,
    reason: new Error("enough"),
    addEventListener: (_: string, listener: () => void) => listeners.add(listener),
    removeEventListener: (_: string, listener: () => void) => listeners.delete(listener),
  };
  const asked = pool().request(served.url, { signal: signal as unknown as AbortSignal });
  await eventually(() => served.open === 1);
  for (const listener of listeners) listener();
  await expect(asked).rejects.toBe(signal.reason);
  expect(listeners.size).toBe(0);
});

test("a redirect is an answer and is not followed", async () => {
  const served = await serve((_req, res) => void res.writeHead(302, { location: "https://elsewhere.example/" }).end());
  const { status, headers, body } = await pool().request(served.url);
  body.resume();
  expect([status, headers.location]).toEqual([302, "https://elsewhere.example/"]);
});

test("a kept connection that the server closes is replaced for what may arrive twice, once, and never for a body in pieces", async () => {
  const used = new WeakSet();
  let arrived = 0;
  const served = await serve((req, res) => {
    arrived++;
    if (used.has(req.socket)) return void req.socket.destroy();
    used.add(req.socket);
    req.resume();
    res.end("ok");
  });
  const failed = { code: "request-failed", message: expect.stringContaining("ECONNRESET") };
  const table: Array<[Parameters<HttpPool["request"]>[1], boolean]> = [
    [{}, true],
    [{ method: "POST", body: "a" }, false],
    [{ method: "POST", body: "a", idempotent: true }, true],
    [{ idempotent: false }, false],
  ];
  for (const [options, isReplaced] of table) {
    const { request } = pool();
    await bodyOf(request(served.url));
    arrived = 0;
    if (isReplaced) expect(await bodyOf(request(served.url, options))).toBe("ok");
    else await expect(request(served.url, options)).rejects.toMatchObject(failed);
    expect(arrived).toBe(isReplaced ? 2 : 1);
  }
});

test("a body in pieces whose request fails is closed, and nobody has to listen to it", async () => {
  const served = await serve((req) => void req.socket.destroy());
  const { request } = pool();
  for (const url of [served.url, "http://127.0.0.1:1"]) {
    const chunks = new Readable({ read: () => undefined });
    chunks.push("a"); // the first of two
    await expect(request(url, { method: "POST", body: { bytes: 2, chunks } })).rejects.toMatchObject({ code: "request-failed" });
    await eventually(() => chunks.closed); // an error that nobody handles fails the run
  }
});

test("a first connection that breaks is not tried again", async () => {
  let arrived = 0;
  const served = await serve((req) => {
    arrived++;
    req.socket.destroy();
  });
  await expect(pool().request(served.url)).rejects.toMatchObject({ code: "request-failed" });
  expect(arrived).toBe(1);
});
