import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isPublicAddress } from "./address-guard.ts";
import { fetchPublic } from "./guarded-fetch.ts";

let server: Server;
let answer: RequestListener;
let port: number;
const asked: string[] = [];
beforeEach(async () => {
  asked.length = 0;
  server = createServer((request, response) => {
    asked.push(`${request.headers.host} ${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

/** Names and their addresses; the one server of the test stands behind 127.0.0.1. */
const names: Record<string, string[]> = { "files.test": ["127.0.0.1"], "both.test": ["127.0.0.1", "10.0.0.1"], "inner.test": ["10.0.0.1"] };
const lookup: LookupFunction = (name, _options, done) =>
  done(
    null,
    (names[name] ?? []).map((address) => ({ address, family: 4 })),
  );
const fetched = (url: string, maxBytes = 100) =>
  fetchPublic(url, {
    maxBytes,
    signal: AbortSignal.timeout(10_000),
    lookup,
    isAllowed: (address) => address === "127.0.0.1" || isPublicAddress(address),
  });

describe("an address", () => {
  test.each(["8.8.8.8", "1.1.1.1", "2606:4700::1111", "2a00:1450::1"])("%s is public", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  const own = [
    "127.0.0.1",
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "169.254.169.254",
    "172.31.0.1",
    "192.168.1.1",
    "192.0.0.8",
    "198.19.0.1",
    "224.0.0.1",
    "255.255.255.255",
  ];
  const six = [
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::7f00:1",
    "fe80::1",
    "fc00::1",
    "fd12::1",
    "ff02::1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "2002:7f00:1::",
    "2001::1",
    "2001:db8::1",
    "100::1",
  ];
  test.each([...own, ...six, "localhost", ""])("%j is not", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe("a file of the web", () => {
  test("is fetched with its type, without credentials, over three redirects at most", async () => {
    let hops = 3;
    answer = (_request, response) => {
      if (hops-- > 0) response.writeHead(302, { location: `/hop${hops}` }).end();
      else response.writeHead(200, { "content-type": "image/png" }).end("bytes");
    };
    const { content, mime } = await fetched(`http://files.test:${port}/a`);
    expect([content.toString(), mime, asked.length]).toEqual(["bytes", "image/png", 4]);
    hops = 4;
    await expect(fetched(`http://files.test:${port}/a`)).rejects.toThrow("answered 302");
  });

  test.each([
    "http://10.0.0.1/",
    "http://0x7f.1:1/",
    "http://2130706433/",
    "http://0177.1/",
    "http://[::1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::]/",
    "http://169.254.169.254/latest/meta-data",
    "http://inner.test/",
    "http://both.test/",
  ])("is not fetched from an address that is not public: %s", async (url) => {
    const strict = fetchPublic(url, { maxBytes: 100, signal: AbortSignal.timeout(10_000), lookup });
    await expect(strict).rejects.toThrow("the address of the file is not public");
    await expect(strict).rejects.toMatchObject({ isPermanent: true });
  });

  test("is not fetched where one of several addresses, or a redirect, leads inside", async () => {
    await expect(fetched(`http://both.test:${port}/`)).rejects.toThrow("is not public");
    for (const location of ["http://inner.test/", "http://10.0.0.1/", "http://[fd00::1]/"]) {
      answer = (_request, response) => response.writeHead(301, { location }).end();
      await expect(fetched(`http://files.test:${port}/`)).rejects.toThrow("is not public");
    }
    answer = (_request, response) => response.writeHead(301, { location: "file:///etc/passwd" }).end();
    await expect(fetched(`http://files.test:${port}/`)).rejects.toThrow("expected an http or https address");
  });

  test("is tried again when its server speaks another protocol instead", async () => {
    answer = (request) => request.socket.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    await expect(fetched(`http://files.test:${port}/`)).rejects.toMatchObject({ name: "NotDispatchedError" });
  });

  test.each(["http://[", "//files.test:99999/"])("is refused when its server redirects to %s", async (location) => {
    answer = (_request, response) => response.writeHead(302, { location }).end();
    await expect(fetched(`http://files.test:${port}/`)).rejects.toMatchObject({ name: "SendRefusedError", isPermanent: true });
  });

  test.each([
    "ftp://files.test/",
    "file:///etc/passwd",
    "http://user:word@files.test/",
    "nonsense",
    `http://files.test/${"x".repeat(2_000)}`,
  ])("is refused for what its address is: %s", async (url) => {
    await expect(fetched(url)).rejects.toMatchObject({ isPermanent: true });
  });

  test("is fetched from the hosts and over the redirects that its rules allow, and within their time", async () => {
    const rules = { maxBytes: 100, signal: AbortSignal.timeout(10_000), lookup, isAllowed: () => true };
    const isHostAllowed = (host: string) => host === "files.test";
    answer = (_request, response) => response.writeHead(200).end("bytes");
    expect((await fetchPublic(`http://FILES.test:${port}/`, { ...rules, isHostAllowed })).content.toString()).toBe("bytes");
    await expect(fetchPublic(`http://inner.test:${port}/`, { ...rules, isHostAllowed })).rejects.toThrow("inner.test is not on the list");
    answer = (_request, response) => response.writeHead(302, { location: `http://inner.test:${port}/` }).end();
    await expect(fetchPublic(`http://files.test:${port}/`, { ...rules, isHostAllowed })).rejects.toThrow(
      /^a host that the address redirects to is not on the list/,
    );
    await expect(fetchPublic(`http://files.test:${port}/`, { ...rules, maxRedirects: 0 })).rejects.toThrow("answered 302");
    answer = () => undefined;
    await expect(fetchPublic(`http://files.test:${port}/`, { ...rules, timeoutMs: 20 })).rejects.toMatchObject({
      name: "NotDispatchedError",
    });
  });

  test("is refused when it is too large, said or not, and tried again when its server is away", async () => {
    answer = (_request, response) => response.writeHead(200, { "content-length": "101" }).end("x".repeat(101));
    await expect(fetched(`http://files.test:${port}/`)).rejects.toThrow("larger than 100 bytes");
    answer = (_request, response) => {
      response.write("x".repeat(60));
      response.end("x".repeat(60));
    };
    await expect(fetched(`http://files.test:${port}/`)).rejects.toThrow("larger than 100 bytes");
    answer = (_request, response) => response.writeHead(503).end();
    await expect(fetched(`http://files.test:${port}/`)).rejects.toMatchObject({ name: "NotDispatchedError" });
    answer = (request) => request.socket.destroy();
    await expect(fetched(`http://files.test:${port}/`)).rejects.toMatchObject({ name: "NotDispatchedError" });
    answer = (_request, response) => response.writeHead(404).end();
    await expect(fetched(`http://files.test:${port}/`)).rejects.toMatchObject({ isPermanent: true });
  });
});
