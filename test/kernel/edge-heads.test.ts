import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { door, seen } from "./_door.ts";
import { bodyOf, closeRawSockets, dial, headerOf, sendRaw, statusesOf, statusOf, upgradeRequest } from "./_raw.ts";

let gateway: TestGateway;
let port: number;
beforeAll(async () => {
  gateway = await createTestGateway({ plugins: [door] });
  port = gateway.gateway.port;
});
afterAll(() => gateway.close());
beforeEach(() => {
  seen.requests = [];
});
afterEach(closeRawSockets);

const bearer = () => `Authorization: Bearer ${gateway.token}\r\n`;
const baseline = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "permissions-policy": "camera=(), microphone=(self), geolocation=()",
};
function expectBaseline(answer: string): void {
  for (const [name, value] of Object.entries(baseline)) expect(headerOf(answer, name)).toBe(value);
  expect(headerOf(answer, "x-request-id")).toMatch(/^[\w.-]{1,128}$/);
}

describe("a head that two parsers could read differently is 400 and the end, never a second answer:", () => {
  const post = (lines: string, body: string) => `POST /door HTTP/1.1\r\nHost: localhost\r\n${bearer()}${lines}\r\n${body}`;
  const smuggled = "GET /door HTTP/1.1\r\nHost: localhost\r\n\r\n";

  test.each<[string, () => string]>([
    ["a length and chunks", () => post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", `0\r\n\r\n${smuggled}`)],
    ["chunks and a length", () => post("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", `0\r\n\r\n${smuggled}`)],
    ["two lengths", () => post("Content-Length: 0\r\nContent-Length: 44\r\n", smuggled)],
    ["the same length twice", () => post("Content-Length: 2\r\nContent-Length: 2\r\n", `{}${smuggled}`)],
    ["a list of lengths", () => post("Content-Length: 2, 2\r\n", `{}${smuggled}`)],
    ["a length with a sign", () => post("Content-Length: +2\r\n", `{}${smuggled}`)],
    ["a negative length", () => post("Content-Length: -2\r\n", `{}${smuggled}`)],
    ["a length in hex", () => post("Content-Length: 0x2\r\n", `{}${smuggled}`)],
    ["a length of 30 digits", () => post(`Content-Length: ${"9".repeat(30)}\r\n`, "{}")],
    ["xchunked", () => post("Transfer-Encoding: xchunked\r\n", `0\r\n\r\n${smuggled}`)],
    ["chunked that is not the last coding", () => post("Transfer-Encoding: chunked, identity\r\n", `0\r\n\r\n${smuggled}`)],
    ["two transfer encodings", () => post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", `0\r\n\r\n${smuggled}`)],
    ["a chunk size that is no number", () => post("Transfer-Encoding: chunked\r\n", `zz\r\n{}\r\n0\r\n\r\n${smuggled}`)],
    ["a chunk size with a sign", () => post("Transfer-Encoding: chunked\r\n", `+2\r\n{}\r\n0\r\n\r\n${smuggled}`)],
    ["a chunk size in 0x", () => post("Transfer-Encoding: chunked\r\n", `0x2\r\n{}\r\n0\r\n\r\n${smuggled}`)],
    ["a chunk longer than it says", () => post("Transfer-Encoding: chunked\r\n", `2\r\n{}}\r\n0\r\n\r\n${smuggled}`)],
    ["a chunk size of 20 digits", () => post("Transfer-Encoding: chunked\r\n", `${"f".repeat(20)}\r\n{}`)],
    ["a folded line", () => `GET /door HTTP/1.1\r\nHost: localhost\r\nX-A: a\r\n b: c\r\n${bearer()}\r\n`],
    ["a space before the colon", () => `GET /door HTTP/1.1\r\nHost : h\r\n${bearer()}\r\n`],
    ["a tab before the colon", () => `POST /door HTTP/1.1\r\nHost: localhost\r\n${bearer()}Content-Length\t: 2\r\n\r\n{}`],
    ["a name with a space", () => `GET /door HTTP/1.1\r\nHost: localhost\r\n${bearer()}X A: b\r\n\r\n`],
    ["a line without a colon", () => `GET /door HTTP/1.1\r\nHost: localhost\r\n${bearer()}Nothing\r\n\r\n`],
    ["a line that begins with a colon", () => `GET /door HTTP/1.1\r\nHost: localhost\r\n${bearer()}: x\r\n\r\n`],
    ["a NUL in a value", () => `GET /door HTTP/1.1\r\nHost: localhost\r\n${bearer()}X-A: a\u0000b\r\n\r\n`],
    ["a lone CR in a value", () => `GET /door HTTP/1.1\r\nHost: localhost\r\n${bearer()}X-A: a\rX-B: b\r\n\r\n`],
    ["no Host", () => `GET /door HTTP/1.1\r\n${bearer()}\r\n`],
    ...["1.2.3.999", "127.0.0.1:99999", "xn--a", "[1:2]"].map((host): [string, () => string] => [
      `a Host that cannot be one: ${host}`,
      () => `GET /\\ HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
    ]),
    ["two Hosts", () => `GET /door HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n${bearer()}\r\n`],
    ["a version that is none", () => `GET /door HTTP/3.7\r\nHost: localhost\r\n${bearer()}\r\n`],
    ["a method that is none", () => `G@T /door HTTP/1.1\r\nHost: localhost\r\n${bearer()}\r\n`],
    ["a target with a space", () => `GET /door /x HTTP/1.1\r\nHost: localhost\r\n${bearer()}\r\n`],
    ["something that is not HTTP", () => "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\r\n\r\n"],
  ])("%s", async (_, request) => {
    const answer = await sendRaw(port, request());
    expect(statusesOf(answer)).toEqual([400]);
    expect(headerOf(answer, "connection")).toBe("close");
    expectBaseline(answer);
  });

  test("and what is plain goes on: one request, one answer each, in order", async () => {
    const get = `GET /door HTTP/1.1\r\nHost: localhost\r\n${bearer()}`;
    const chunked = `POST /door HTTP/1.1\r\nHost: localhost\r\n${bearer()}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`;
    expect(statusesOf(await sendRaw(port, `${get}\r\n${chunked}${get}Connection: close\r\n\r\n`))).toEqual([200, 200, 200]);
  });
});

describe("only the exact path of a route reaches it:", () => {
  test.each([
    "//door",
    "///door",
    "/door/",
    "/DOOR",
    "/%64oor",
    "/d%6For",
    "/door%00",
    "/door%20",
    "/door;a=b",
    "/door%3Bx",
    "/./door",
    "/x/../door",
    "/%2e/door",
    "/x/%2e%2e/door",
    "/x/%2E%2E%2Fdoor",
    "/x%2f..%2fdoor",
    "/%2fdoor",
    "/%5cdoor",
    "/\\door",
    "\\door",
    "/door%2f",
    "/door%5c",
    "/door#x",
    "/door%23",
    "/door%3fx=1",
    "/door\u00e9",
    "http://127.0.0.1/door",
    "http://evil.example/door",
    "https://127.0.0.1/door",
    "*",
    "door",
  ])("not %s", async (target) => {
    const request = Buffer.from(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${bearer()}Connection: close\r\n\r\n`, "latin1");
    const answer = await sendRaw(port, request);
    expect([400, 404]).toContain(statusOf(answer));
    expect(statusesOf(answer)).toHaveLength(1);
    expect(seen.requests).toEqual([]);
  });

  test.each(["/healthz/", "//healthz", "/HEALTHZ", "/healthz/x", "/health%7a", "http://127.0.0.1/healthz", "/healthz;x"])(
    "%s is no probe",
    async (target) => {
      expect(statusOf(await sendRaw(port, `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`))).toBe(404);
    },
  );

  test.each(["//", "/%2f", "/x/..", "/./", "http://127.0.0.1/", "/ws", "/socket"])("%s takes no upgrade", async (target) => {
    expect(statusOf(await sendRaw(port, upgradeRequest(target)))).toBe(404);
  });

  test.each([
    ["TRACE", 405],
    ["PUT", 405],
    ["DELETE", 405],
    ["OPTIONS", 405],
    ["PROPFIND", 405],
    ["HEAD", 405],
  ])("%s on a route is %i with what is allowed, before any credential", async (method, status) => {
    const answer = await sendRaw(port, `${method} /door HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    expect(statusOf(answer)).toBe(status);
    expect(headerOf(answer, "allow")).toBe("GET, POST");
  });

  test("CONNECT opens no tunnel", async () => {
    const answer = await sendRaw(port, "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\nSSH-2.0-x\r\n");
    expect(statusesOf(answer)).toEqual([405]);
  });

  test("an expectation that nobody knows is 417, in its turn", async () => {
    const get = `GET /door HTTP/1.1\r\nHost: localhost\r\n${bearer()}`;
    const answer = await sendRaw(port, `${get}\r\n${get}Expect: a miracle\r\n\r\n`);
    expect(statusesOf(answer)).toEqual([200, 417]);
    expectBaseline(answer.slice(answer.indexOf("HTTP/1.1 417")));
    expect(seen.requests).toEqual(["/door"]);
  });

  test("no header overrides the method or the path", async () => {
    const override = "X-HTTP-Method-Override: GET\r\nX-HTTP-Method: GET\r\nX-Method-Override: GET\r\n";
    const put = await sendRaw(port, `PUT /door?_method=GET HTTP/1.1\r\nHost: localhost\r\n${bearer()}${override}Connection: close\r\n\r\n`);
    expect(statusOf(put)).toBe(405);
    const rewrite = "X-Original-URL: /door\r\nX-Rewrite-URL: /door\r\n";
    const get = await sendRaw(port, `GET /nowhere HTTP/1.1\r\nHost: localhost\r\n${bearer()}${rewrite}Connection: close\r\n\r\n`);
    expect(statusOf(get)).toBe(404);
    expect(seen.requests).toEqual([]);
  });

  test("a Host that carries a path does not become one", async () => {
    const answer = await sendRaw(port, `GET /nowhere HTTP/1.1\r\nHost: 127.0.0.1/door?x=\r\n${bearer()}Connection: close\r\n\r\n`);
    expect(statusOf(answer)).toBe(421);
    expect(seen.requests).toEqual([]);
  });
});

describe("an error says no more than it must:", () => {
  const leaks = /\bat \S+:\d+|node:internal|node_modules|\/work|\/home|\/tmp|svc\.json|test-token|stack|Error:/i;
  const get = (path: string, lines = "") => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${lines}\r\n`;

  test.each<[number, string, () => string]>([
    [400, "a bad head", () => "GET / HTTP/1.1\r\n\r\n"],
    [400, "bad JSON", () => `POST /door HTTP/1.1\r\nHost: localhost\r\n${bearer()}Content-Length: 5\r\nConnection: close\r\n\r\n{oops`],
    [401, "no credential", () => get("/door")],
    [401, "a wrong credential", () => get("/door", "Authorization: Bearer test-token-wrong\r\n")],
    [403, "a forged header", () => get("/door", `${bearer()}X-Forwarded-For: 1.2.3.4\r\n`)],
    [404, "no such path", () => get("/../../etc/passwd", bearer())],
    [405, "a wrong method", () => "DELETE /door HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"],
    [413, "a body that is too large", () => `POST /door HTTP/1.1\r\nHost: localhost\r\n${bearer()}Content-Length: 60000001\r\n\r\n`],
    [431, "a head that is too large", () => get("/door", `X-A: ${"a".repeat(17_000)}\r\n`)],
  ])("%i for %s", async (status, _, request) => {
    const answer = await sendRaw(port, request());
    expect(statusOf(answer)).toBe(status);
    expectBaseline(answer);
    expect(answer).not.toMatch(leaks);
    expect(bodyOf(answer).length).toBeLessThan(300);
  });

  test("the request id of the caller comes back, on refusals of an upgrade too", async () => {
    expect(headerOf(await sendRaw(port, get("/nowhere", "X-Request-Id: abc.1\r\n")), "x-request-id")).toBe("abc.1");
    expect(headerOf(await sendRaw(port, upgradeRequest("/nowhere", "X-Request-Id: abc.2\r\n")), "x-request-id")).toBe("abc.2");
    expect(headerOf(await sendRaw(port, upgradeRequest("/nowhere", "X-Request-Id: a b\r\n")), "x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("an upgrade", () => {
  test("of more than 100 header lines is 431", async () => {
    const lines = Array.from({ length: 96 }, (_, i) => `X-${i}: 1\r\n`).join("");
    expect(statusOf(await sendRaw(port, upgradeRequest("/", lines)))).toBe(431);
  });

  test.each([
    ["no key", upgradeRequest("/").replace(/Sec-WebSocket-Key.*\r\n/, "")],
    ["a bad key", upgradeRequest("/").replace(/Sec-WebSocket-Key: .*\r\n/, "Sec-WebSocket-Key: x\r\n")],
    ["an old version", upgradeRequest("/").replace("Version: 13", "Version: 7")],
    ["another method", upgradeRequest("/").replace("GET", "POST")],
  ])("with %s is refused like any bad request", async (_, request) => {
    const answer = await sendRaw(port, request);
    expect([400, 405]).toContain(statusOf(answer));
    expectBaseline(answer);
  });

  test("to another protocol is not taken, and the request is served as it stands, its body too", async () => {
    const offer = `Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n`;
    const body = JSON.stringify({ text: "x".repeat(200_000) });
    const { write, received, ended } = await dial(port);
    write(`POST /door HTTP/1.1\r\nHost: localhost\r\n${bearer()}${offer}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`);
    await new Promise((resolve) => setImmediate(resolve));
    write(body.slice(10));
    await ended;
    expect(statusesOf(received())).toEqual([200]);
    expect(received()).toContain(body.slice(-100));
    expect(statusOf(await sendRaw(port, `GET /door HTTP/1.1\r\nHost: localhost\r\n${offer}\r\n`))).toBe(401);
  });
});

describe("pressure on the head", () => {
  test("a target of 100 KB is refused", async () => {
    const answer = await sendRaw(port, `GET /${"x".repeat(100_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    expect([414, 431]).toContain(statusOf(answer));
  });

  test("a connection that pipelines thousands of requests does not keep others waiting, and gets its answers in order", async () => {
    const { write, received, ended } = await dial(port);
    const request = (i: number) => `GET /door HTTP/1.1\r\nHost: localhost\r\n${bearer()}X-Request-Id: r${i}\r\n\r\n`;
    write(
      Array.from({ length: 1_200 }, (_, i) => request(i)).join("") + request(1_200).replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"),
    );
    expect((await gateway.fetch("/door")).status).toBe(200);
    await ended;
    expect(statusesOf(received())).toEqual(Array(1_201).fill(200));
    const ids = [...received().matchAll(/^x-request-id: r(\d+)\r$/gm)].map((match) => Number(match[1]));
    expect(ids).toEqual(Array.from({ length: 1_201 }, (_, i) => i));
  });
});
