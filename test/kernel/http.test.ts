import { request } from "node:http";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fixture } from "./_fixtures.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({ plugins: [fixture("leaky")] });
});
afterAll(() => gateway.close());

/** A raw request: `fetch` hides too much. */
function raw(options: {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
  chunked?: boolean;
}): Promise<{ status: number; headers: Record<string, unknown>; body: string }> {
  return new Promise((resolve, reject) => {
    const headers = { ...(options.body && !options.chunked ? { "content-length": String(options.body.length) } : {}), ...options.headers };
    const req = request(`${gateway.url}${options.path}`, { method: options.method ?? "GET", headers }, (res) => {
      let body = "";
      res.on("data", (chunk: Buffer) => {
        body += chunk.toString();
      });
      res.on("end", () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body }));
    });
    req.on("error", reject);
    if (options.body) req.write(options.body);
    req.end();
  });
}
const auth = () => ({ authorization: `Bearer ${gateway.token}` });

describe("every answer", () => {
  test.each(["/healthz", "/nowhere", "/leaky", "/leaky/tree/throw"])("%s carries the baseline headers and a request id", async (path) => {
    const answer = await raw({ path, headers: { "x-request-id": "abc-1" } });
    expect(answer.headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "permissions-policy": "camera=(), microphone=(self), geolocation=()",
      "x-request-id": "abc-1",
    });
  });

  test("a request id with odd characters is replaced", async () => {
    const answer = await raw({ path: "/healthz", headers: { "x-request-id": "a b" } });
    expect(answer.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("probes", () => {
  test("answer GET and HEAD without auth, refuse the rest, and have no sub-paths", async () => {
    expect(await raw({ path: "/healthz" })).toMatchObject({
      status: 200,
      body: '{"ok":true,"status":"live"}',
      headers: { "cache-control": "no-store", "content-length": "27" },
    });
    expect(await raw({ path: "/health", method: "HEAD" })).toMatchObject({ status: 200, body: "" });
    expect(await raw({ path: "/healthz", method: "POST" })).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
    expect((await raw({ path: "/healthz/x" })).status).toBe(404);
  });

  test("readyz tells details to direct local callers only", async () => {
    expect(JSON.parse((await raw({ path: "/readyz" })).body)).toEqual({
      ready: true,
      phase: "ready",
      failing: [],
      problems: {},
      uptimeMs: expect.any(Number),
      eventLoop: {
        degraded: expect.any(Boolean),
        delayP99Ms: expect.any(Number),
        delayMaxMs: expect.any(Number),
        utilization: expect.any(Number),
      },
    });
    expect((await raw({ path: "/readyz", headers: { "x-forwarded-for": "1.2.3.4" } })).body).toBe('{"ready":true}');
  });
});

describe("a gateway route", () => {
  test("checks the method before auth", async () => {
    expect(await raw({ path: "/leaky", method: "PUT" })).toMatchObject({
      status: 405,
      body: "Method Not Allowed",
      headers: { allow: "GET, POST" },
    });
  });

  test("answers 401 with WWW-Authenticate without or with a wrong token; the scheme's case does not matter", async () => {
    expect(await raw({ path: "/leaky" })).toMatchObject({ status: 401, headers: { "www-authenticate": "Bearer" } });
    expect((await raw({ path: "/leaky", headers: { authorization: "Bearer wrong" } })).status).toBe(401);
    expect((await raw({ path: `/leaky?token=${gateway.token}` })).status).toBe(401);
    expect((await raw({ path: "/leaky", headers: { authorization: `bEARER  ${gateway.token} ` } })).status).toBe(200);
  });

  test("refuses forwarded headers of an unlisted peer before it looks at credentials", async () => {
    expect((await raw({ path: "/leaky", headers: { ...auth(), "x-forwarded-for": "1.2.3.4" } })).status).toBe(403);
  });

  test("takes a body at its limit and refuses one past it, declared or chunked", async () => {
    const fits = JSON.stringify({ a: "x".repeat(91) });
    expect(fits.length).toBe(99);
    expect((await raw({ path: "/leaky", method: "POST", headers: auth(), body: `${fits} ` })).status).toBe(200);
    expect(await raw({ path: "/leaky", method: "POST", headers: auth(), body: `${fits}  ` })).toMatchObject({
      status: 413,
      headers: { connection: "close" },
    });
    expect(
      (
        await raw({
          path: "/leaky",
          method: "POST",
          headers: { ...auth(), "transfer-encoding": "chunked" },
          body: "y".repeat(101),
          chunked: true,
        })
      ).status,
    ).toBe(413);
  });

  test("answers 400 for JSON it cannot read and takes a blank body as {}", async () => {
    expect((await raw({ path: "/leaky", method: "POST", headers: auth(), body: "{oops" })).status).toBe(400);
    expect(await raw({ path: "/leaky", method: "POST", headers: auth(), body: " " })).toMatchObject({ status: 200, body: "{}" });
  });

  test("hands the decoded rest of the path to a prefix route", async () => {
    expect(JSON.parse((await raw({ path: "/leaky/tree/a%2Fb%20c", headers: auth() })).body)).toEqual({ rest: "a/b c" });
  });

  test("hides what a handler threw", async () => {
    const answer = await raw({ path: "/leaky/tree/throw", headers: auth() });
    expect(answer.status).toBe(500);
    expect(answer.body).not.toContain("secret");
    expect(gateway.logs.some((l) => l.level === "error" && l.message.includes("/leaky/tree"))).toBe(true);
  });
});

test("an upgrade on a path nobody owns is 404, and one with forwarded headers is 403", async () => {
  const upgrade = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  };
  expect((await raw({ path: "/other", headers: upgrade })).status).toBe(404);
  expect((await raw({ path: "/", headers: { ...upgrade, "x-forwarded-for": "1.2.3.4" } })).status).toBe(403);
});

test("a path that does not decode reaches the route table like any other", async () => {
  expect(await raw({ path: "/foo/%zz" })).toMatchObject({ status: 404, body: "Not Found" });
  expect((await raw({ path: "/leaky/tree/%zz", headers: auth() })).body).toBe('{"rest":"%zz"}');
});
