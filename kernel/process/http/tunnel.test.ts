import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { createServer, type Server } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createVendorHttp } from "../../../sdk/embedding/http.ts";
import { eventually } from "../../../sdk/testing/eventually.ts";
import { makeCertificate } from "../../../test/servers/certificate.ts";
import { type ConnectProxy, startConnectProxy } from "../../../test/servers/connect-proxy.ts";
import { createHttpPool, type HttpPool } from "./pool.ts";

const HOST = "embeddings.example";
const KEY = "key-0123456789abcdef";
let folder: string;
let ca: string;
let server: Server;
let port: number;
let proxy: ConnectProxy;
const seen: IncomingMessage[] = [];
const opened: Array<() => unknown> = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-tunnel-"));
  const { cert, key } = await makeCertificate(folder, "tls", HOST);
  ca = await readFile(cert, "utf8");
  server = createServer({ cert: ca, key: await readFile(key) }, (req, res) => {
    seen.push(req);
    req.resume();
    res.setHeader("content-type", "application/json").end('{"ok":[1,2]}');
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  seen.length = 0;
  proxy = await startConnectProxy({ [`${HOST}:443`]: port });
});

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
  await proxy.close();
});

function pool(env: Record<string, string>, own: { connectMs?: number } = {}): HttpPool {
  const made = createHttpPool({ env, userAgent: "svc-plugin/acme", signal: new AbortController().signal, ca, ...own });
  opened.push(() => made.close());
  return made;
}

const withPassword = () => proxy.url.replace("http://", "http://me:pass-word@");

test("embedding calls to an https server go through the proxy, which sees host and port and nothing else", async () => {
  const { request } = pool({ HTTPS_PROXY: withPassword() });
  const http = createVendorHttp({ adapter: "acme", request, secrets: [KEY], signals: [] });

  for (let i = 0; i < 5; i++) {
    const call = {
      url: `https://${HOST}/v1/embeddings`,
      headers: { authorization: `Bearer ${KEY}` },
      json: { input: "a note" },
      timeoutMs: 5_000,
    };
    expect(await http.json(call)).toEqual({ ok: Float32Array.of(1, 2) });
  }

  expect(proxy.tunnels.map(({ target }) => target)).toEqual([`${HOST}:443`]);
  const [tunnelled] = proxy.tunnels;
  expect(tunnelled?.headers).toMatchObject({ host: `${HOST}:443`, "proxy-authorization": `Basic ${btoa("me:pass-word")}` });
  expect(JSON.stringify(tunnelled?.headers)).not.toContain(KEY);
  const passed = Buffer.concat(tunnelled?.passed ?? []).toString("latin1");
  expect(passed.length).toBeGreaterThan(500);
  for (const text of [KEY, "a note", "/v1/embeddings"]) expect(passed).not.toContain(text);
  expect(seen.map((req) => req.headers.authorization)).toEqual(Array(5).fill(`Bearer ${KEY}`));
  expect(seen.flatMap((req) => Object.keys(req.headers).filter((header) => header.startsWith("proxy-")))).toEqual([]);
});

test("NO_PROXY leaves the proxy out, and this machine is never asked for through it", async () => {
  const { request } = pool({ HTTPS_PROXY: proxy.url, NO_PROXY: HOST });
  // Nobody knows this name but the proxy.
  await expect(request(`https://${HOST}/`)).rejects.toMatchObject({
    code: "request-failed",
    message: expect.not.stringContaining("proxy"),
  });
  const local = pool({ HTTPS_PROXY: proxy.url }).request(`https://127.0.0.1:${port}/`);
  await expect(local).rejects.toMatchObject({ message: expect.stringContaining("ERR_TLS_CERT_ALTNAME_INVALID") });
  expect(proxy.tunnels).toEqual([]);
});

test.each([
  [407, "asks for a user and a password, or rejects the given ones (407)"],
  [403, `refused a connection to ${HOST}:443 (403)`],
  [502, `refused a connection to ${HOST}:443 (502)`],
  ["reset", `cannot be used for a connection to ${HOST}:443: ECONNRESET`],
  ["hang", "did not answer within 0.3 s"],
] as const)("a proxy that answers %s is named by the error, without its password", async (mode, problem) => {
  proxy.mode = mode;
  const { request } = pool({ HTTPS_PROXY: withPassword() }, { connectMs: 300 });
  const message = `the proxy ${proxy.url} ${problem}; check HTTPS_PROXY and NO_PROXY`;
  await expect(request(`https://${HOST}/`)).rejects.toMatchObject({ code: "proxy-failed", message });

  const http = createVendorHttp({ adapter: "acme", request, secrets: [KEY], signals: [] });
  const call = http.json({ url: `https://${HOST}/v1/embeddings`, headers: {}, json: {}, timeoutMs: 5_000 });
  await expect(call).rejects.toMatchObject({ fault: "network", message: `embedding adapter "acme": ${message}` });
  expect(seen).toEqual([]);
});

test("a refused tunnel is closed, also where the proxy leaves its side open", async () => {
  let closed = 0;
  const lasting = createTcpServer((socket) => {
    socket.on("data", () => socket.write("HTTP/1.1 403 No\r\n\r\n"));
    socket.on("error", () => undefined).on("close", () => closed++);
  });
  lasting.listen(0, "127.0.0.1");
  await once(lasting, "listening");
  opened.push(() => lasting.close());
  const { request } = pool({ HTTPS_PROXY: `http://127.0.0.1:${(lasting.address() as AddressInfo).port}` });

  await expect(request(`https://${HOST}/`)).rejects.toMatchObject({ code: "proxy-failed" });

  await eventually(() => closed === 1);
});

test("a proxy that is not there is named", async () => {
  // A port that the system gives to nobody; one that was just closed may be another test's by now.
  const url = "http://127.0.0.1:1";
  const error = await pool({ HTTPS_PROXY: url })
    .request(`https://${HOST}/`)
    .catch((e: Error) => e);
  expect(error).toMatchObject({ code: "proxy-failed", message: expect.stringContaining(`the proxy ${url} cannot be used`) });
  expect((error as Error).message).toContain("ECONNREFUSED");
});

test("a server behind the proxy that breaks off is named with the way to it", async () => {
  const broken = createTcpServer((socket) => void socket.on("error", () => undefined).once("data", () => socket.resetAndDestroy()));
  broken.listen(0, "127.0.0.1");
  await once(broken, "listening");
  opened.push(() => broken.close());
  const other = await startConnectProxy({ "api.example:443": (broken.address() as AddressInfo).port });
  opened.push(() => other.close());
  await expect(pool({ HTTPS_PROXY: other.url }).request("https://api.example/")).rejects.toMatchObject({
    code: "request-failed",
    message: `https://api.example: the connection failed: ECONNRESET (through the proxy ${other.url})`,
  });
});

test("plain http goes through a tunnel, too, so that a header with a key is in no proxy's log", async () => {
  const plain = createTcpServer((socket) => {
    socket.on("error", () => undefined).once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"));
  });
  plain.listen(0, "127.0.0.1");
  await once(plain, "listening");
  opened.push(() => plain.close());
  const other = await startConnectProxy({ "models.example:80": (plain.address() as AddressInfo).port });
  opened.push(() => other.close());
  const { body } = await pool({ http_proxy: other.url }).request("http://models.example/v1", { headers: { authorization: KEY } });
  expect(await text(body)).toBe("hi");
  expect(other.tunnels.map(({ target }) => target)).toEqual(["models.example:80"]);
});

test("the end of the plugin ends a tunnel that is being made", async () => {
  proxy.mode = "hang";
  const life = new AbortController();
  const { request, close } = createHttpPool({ env: { HTTPS_PROXY: proxy.url }, userAgent: "a", signal: life.signal });
  const asked = expect(request(`https://${HOST}/`)).rejects.toThrow("the plugin stopped");
  await eventually(() => proxy.tunnels.length === 1);
  life.abort(new Error("the plugin stopped"));
  await asked;
  await close();
});
