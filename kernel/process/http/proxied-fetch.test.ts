import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { eventually } from "../../../sdk/testing/eventually.ts";
import { type ConnectProxy, startConnectProxy } from "../../../test/servers/connect-proxy.ts";
import { needs } from "../../../test/servers/needs.ts";
import { startTlsFront, type TlsFront } from "../../../test/servers/tls-front.ts";
import { createProxiedFetch } from "./proxied-fetch.ts";

const { test } = needs("openssl");

const HOST = "weather.example";
const OTHER = "other.example";

let folder: string;
let server: Server;
let fronts: TlsFront[];
let ca: string;
let proxy: ConnectProxy;
let life: AbortController;
const seen: Array<{ host: string | undefined; path: string | undefined; type: string | undefined; body: string }> = [];

const answers: Record<string, (req: IncomingMessage, res: ServerResponse) => void> = {
  "/hello": (_req, res) => res.end("hello"),
  "/moved": (_req, res) => res.writeHead(307, { location: `https://${OTHER}/hello` }).end(),
  "/packed": (_req, res) => res.setHeader("content-encoding", "gzip").end(gzipSync("unpacked")),
  "/silent": () => undefined,
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-fetch-"));
  server = createServer(async (req, res) => {
    seen.push({ host: req.headers.host, path: req.url, type: req.headers["content-type"], body: await text(req) });
    answers[req.url ?? ""]?.(req, res);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  fronts = await Promise.all([HOST, OTHER].map((host) => startTlsFront(folder, host, url)));
  ca = (await Promise.all(fronts.map((front) => readFile(front.ca, "utf8")))).join("");
});

afterAll(async () => {
  for (const front of fronts) front.close();
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

beforeEach(async () => {
  seen.length = 0;
  life = new AbortController();
  proxy = await startConnectProxy(Object.fromEntries([HOST, OTHER].map((host, i) => [`${host}:443`, fronts[i]?.port ?? 0])));
});

afterEach(async () => {
  life.abort(new Error("the plugin stopped"));
  await proxy.close();
});

const through = (env: Record<string, string> = { HTTPS_PROXY: proxy.url.replace("http://", "http://me:pass-word@") }) =>
  createProxiedFetch({ env, signal: life.signal, ca });
const targets = () => proxy.tunnels.map(({ target }) => target);

test("requests to https servers go through the proxy over kept connections, and answers stay those of Node", async () => {
  const fetching = through();
  const first = await fetching(`https://${HOST}/hello`, { headers: { authorization: "Bearer key-0123456789" } });
  expect(first).toBeInstanceOf(Response);
  expect(await first.text()).toBe("hello");
  for (let i = 0; i < 5; i++) expect(await (await fetching(`https://${HOST}/packed`)).text()).toBe("unpacked");
  expect(new Set(targets())).toEqual(new Set([`${HOST}:443`]));
  // A request that starts in the turn in which the last one ended may find its connection not free yet.
  expect(proxy.tunnels.length).toBeLessThanOrEqual(2);
  expect(proxy.tunnels[0]?.headers["proxy-authorization"]).toBe(`Basic ${btoa("me:pass-word")}`);
  expect(Buffer.concat(proxy.tunnels[0]?.passed ?? []).toString("latin1")).not.toContain("key-0123456789");
});

test("a redirect to another server goes through the proxy, too", async () => {
  const answer = await through()(`https://${HOST}/moved`);
  expect([await answer.text(), answer.url, answer.redirected]).toEqual(["hello", `https://${OTHER}/hello`, true]);
  expect(targets()).toEqual([`${HOST}:443`, `${OTHER}:443`]);
});

test("forms, bytes and streams arrive as they were sent", async () => {
  const fetching = through();
  const form = new FormData();
  form.set("city", "Bern");
  const stream = new Blob(["in ", "pieces"]).stream();
  const bodies: RequestInit[] = [{ body: form }, { body: new URLSearchParams({ a: "b" }) }, { body: new Uint8Array([104, 105]) }];
  for (const init of [...bodies, { body: stream, duplex: "half" } as RequestInit])
    await (await fetching(`https://${HOST}/hello`, { method: "POST", ...init })).text();
  expect(seen.map(({ type }) => type?.split(";")[0])).toEqual([
    "multipart/form-data",
    "application/x-www-form-urlencoded",
    undefined,
    undefined,
  ]);
  expect(seen[0]?.body).toContain("Bern");
  expect(seen.slice(1).map(({ body }) => body)).toEqual(["a=b", "hi", "in pieces"]);
});

test("an abort and the end of the plugin end a request", async () => {
  const fetching = through();
  const stop = new AbortController();
  const aborted = expect(fetching(`https://${HOST}/silent`, { signal: stop.signal })).rejects.toThrow("enough");
  const ended = expect(fetching(`https://${HOST}/silent`)).rejects.toThrow("fetch failed");
  await eventually(() => seen.length === 2);
  stop.abort(new Error("enough"));
  await aborted;
  life.abort(new Error("the plugin stopped"));
  await ended;
});

test("a proxy that refuses is named by the cause, without its password", async () => {
  proxy.mode = 407;
  const error: unknown = await through()(`https://${HOST}/hello`).catch((e: unknown) => e);
  expect(error).toMatchObject({ message: "fetch failed", cause: { code: "proxy-failed", message: expect.stringContaining(proxy.url) } });
  expect(String((error as Error).cause)).not.toContain("pass-word");
  const wrong = through({ HTTPS_PROXY: "socks5://p" })(`https://${HOST}/hello`);
  await expect(wrong).rejects.toMatchObject({ cause: { code: "proxy-failed" } });
});

test("hosts of NO_PROXY, this machine and an environment without proxies are asked directly", async () => {
  // A group of hosts: no connection goes there, and none is tried for long.
  const direct = through({ HTTPS_PROXY: proxy.url, NO_PROXY: "224.0.0.0/4" })("https://224.0.0.1/hello");
  await expect(direct).rejects.toMatchObject({ message: "fetch failed", cause: expect.not.objectContaining({ code: "proxy-failed" }) });
  const local = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hello`;
  expect(await (await through({ HTTP_PROXY: proxy.url })(local)).text()).toBe("hello");
  expect(await (await through({})(local)).text()).toBe("hello");
  expect(proxy.tunnels).toEqual([]);
});
