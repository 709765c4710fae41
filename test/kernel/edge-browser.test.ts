import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { door } from "./_door.ts";
import { bodyOf, closeRawSockets, headerOf, sendRaw, statusOf, upgradeRequest } from "./_raw.ts";
import { editAndApply, quickReload } from "./_reload.ts";
import { BareSocket, challenged, connectParams } from "./_ws.ts";

const TOKEN = "test-token-5f2d9a";
const get = (path: string, lines = "") => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n${lines}\r\n`;
afterEach(closeRawSockets);

/** Sends a `connect` with the right secret as a page of this origin would. */
async function connectFrom(gateway: TestGateway, origin: string, host?: string): Promise<string> {
  const socket = await challenged(gateway, { origin, ...(host ? { host } : {}) });
  const res = await socket.request("1", "connect", connectParams(TOKEN));
  if (res.ok) await socket.close();
  else await socket.end();
  return res.ok ? "hello" : res.error.details.code;
}

describe("pages", () => {
  let gateway: TestGateway;
  let port: number;
  beforeAll(async () => {
    gateway = await createTestGateway({
      plugins: [door],
      config: { gateway: { auth: { token: TOKEN, rateLimit: { maxAttempts: 3 } }, reload: quickReload } },
    });
    port = gateway.gateway.port;
  });
  afterAll(() => gateway.close());

  test.each([
    "http://127.0.0.1.evil.example",
    "http://localhost.evil.example",
    "http://h:18789.evil",
    "http://evil.example",
    "https://127.0.0.1",
    "http://127.0.0.1:1",
    "http://localhost",
    "null",
    "file://",
    "chrome-extension://abcdef",
    "http://user@127.0.0.1",
    "http://127.0.0.1@evil.example",
    "http://127.0.0.1/",
    "http://[::ffff:127.0.0.1]",
    "http://0.0.0.0",
    "",
  ])("of the origin %j open no control connection, whatever secret they hold", async (origin) => {
    expect(await connectFrom(gateway, origin)).toBe("CONTROL_UI_ORIGIN_NOT_ALLOWED");
  });

  test("of the gateway itself do, by either loopback name", async () => {
    expect(await connectFrom(gateway, `http://127.0.0.1:${port}`)).toBe("hello");
    expect(await connectFrom(gateway, `http://localhost:${port}`, `localhost:${port}`)).toBe("hello");
  });

  test("of an origin that is refused again and again are not even heard, others are, and a listing ends it at once", async () => {
    const origin = "https://again.example";
    for (let i = 0; i < 3; i++) expect(await connectFrom(gateway, origin)).toBe("CONTROL_UI_ORIGIN_NOT_ALLOWED");
    const refused = await sendRaw(port, upgradeRequest("/", `Origin: ${origin}\r\n`));
    expect([statusOf(refused), Number(headerOf(refused, "retry-after")) > 200]).toEqual([429, true]);
    expect(await connectFrom(gateway, `http://127.0.0.1:${port}`)).toBe("hello");
    expect(await connectFrom(gateway, "https://other.example")).toBe("CONTROL_UI_ORIGIN_NOT_ALLOWED");
    await editAndApply(gateway, (c) => {
      c.gateway.controlUi = { allowedOrigins: [origin] };
    });
    expect(await connectFrom(gateway, origin)).toBe("hello");
  });

  test("on a rebound name are not the gateway's own, unless that name is listed or the Host is believed", async () => {
    const rebound = [`http://rebound.example:${port}`, `rebound.example:${port}`] as const;
    const upgrade = upgradeRequest("/", `Origin: ${rebound[0]}\r\n`).replace("Host: 127.0.0.1", `Host: ${rebound[1]}`);
    expect(statusOf(await sendRaw(port, upgrade))).toBe(421);
    expect(await connectFrom(gateway, rebound[0], `127.0.0.1:${port}`)).toBe("CONTROL_UI_ORIGIN_NOT_ALLOWED");
    await editAndApply(gateway, (c) => {
      c.gateway.controlUi = { allowedOrigins: [], dangerouslyAllowHostHeaderOriginFallback: true };
    });
    expect(await connectFrom(gateway, ...rebound)).toBe("hello");
    expect(await connectFrom(gateway, "http://evil.example", rebound[1])).toBe("CONTROL_UI_ORIGIN_NOT_ALLOWED");
    expect(
      gateway.logs.some(({ level, message }) => level === "warn" && message.includes("dangerouslyAllowHostHeaderOriginFallback")),
    ).toBe(true);
  });

  test("get no leave to read across origins, and no cookie", async () => {
    for (const method of ["GET", "POST", "OPTIONS"]) {
      const lines = `Origin: https://evil.example\r\nAuthorization: Bearer ${TOKEN}\r\nAccess-Control-Request-Method: POST\r\nContent-Length: 0\r\n`;
      const answer = await sendRaw(port, get("/door", lines).replace("GET", method));
      expect(statusOf(answer)).toBe(method === "OPTIONS" ? 405 : 200);
      expect(answer).not.toMatch(/^(access-control-|set-cookie)/im);
    }
  });
});

describe("without a secret", () => {
  let gateway: TestGateway;
  let port: number;
  beforeAll(async () => {
    gateway = await createTestGateway({
      plugins: [door],
      config: { gateway: { auth: { mode: "none", rateLimit: { maxAttempts: 2 } }, controlUi: { allowedOrigins: ["https://ui.example"] } } },
    });
    port = gateway.gateway.port;
  });
  afterAll(() => gateway.close());

  test.each(["GET", "POST", "PUT", "OPTIONS"])("%s with a foreign Host is 403 on every path", async (method) => {
    for (const path of ["/door", "/ingress", "/healthz", "/nowhere", "/"]) {
      for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1.evil.example", "localhost.evil.example", "x@127.0.0.1", ""]) {
        const answer = await sendRaw(port, `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
        expect(statusOf(answer)).toBe(403);
      }
    }
    expect(statusOf(await sendRaw(port, upgradeRequest("/").replace("Host: 127.0.0.1", "Host: evil.example")))).toBe(403);
  });

  test.each(["127.0.0.1", "localhost:9", "[::1]", "LOCALHOST", "ui.example"])("a Host of %s is known", async (host) => {
    expect(statusOf(await sendRaw(port, get("/door").replace("127.0.0.1", host)))).toBe(200);
  });

  test("a page needs an origin that is its own, listed, or of a local server", async () => {
    const from = async (origin: string) => statusOf(await sendRaw(port, get("/door", `Origin: ${origin}\r\n`)));
    expect(await from("https://ui.example")).toBe(200);
    expect(await from(`http://127.0.0.1:${port}`)).toBe(200);
    expect(await from("http://localhost:5173")).toBe(200);
    expect(await from("null")).toBe(401);
    expect(await from("https://evil.example")).toBe(401);
    const again = await sendRaw(port, get("/door", "Origin: https://evil.example\r\n"));
    expect([statusOf(again), JSON.parse(bodyOf(again)).error.code]).toEqual([429, "rate_limited"]);
    expect(headerOf(again, "retry-after")).toMatch(/^\d+$/);
    const socket = new BareSocket(gateway.wsUrl, { headers: { origin: "http://localhost:5173" } });
    await socket.frame((f) => f.event === "connect.challenge");
    const res = await socket.request("1", "connect", connectParams("", { auth: {} }));
    expect(res.error.details.code).toBe("CONTROL_UI_ORIGIN_NOT_ALLOWED");
  });

  test("x-svc-scopes narrows what a caller holds", async () => {
    const scopesFor = async (lines: string) => JSON.parse(bodyOf(await sendRaw(port, get("/door", lines)))).scopes;
    expect(await scopesFor("")).toHaveLength(5);
    expect(await scopesFor("X-Svc-Scopes: operator.read\r\n")).toEqual(["operator.read"]);
    const write = get("/door/write", "X-Svc-Scopes: operator.read\r\nContent-Length: 0\r\n").replace("GET", "POST");
    expect(statusOf(await sendRaw(port, write))).toBe(403);
  });
});
