import { definePlugin, type PluginContext } from "svc/sdk";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterEach, expect, test } from "vitest";

let gateway: TestGateway;
afterEach(() => gateway?.close());

const plugin = (id: string, setup: (ctx: PluginContext) => void) =>
  definePlugin<unknown>({ id, version: "1.0.0", svc: { api: "^1.0.0" }, setup });

const routes = plugin("routes", (ctx) => {
  ctx.registerHttpRoute({
    method: ["GET", "POST"],
    path: "/page",
    match: "exact",
    auth: "gateway",
    handler: (call) => {
      const headers = new Headers({ "x-scopes": call.scopes.join(" "), "x-gone": "1" });
      headers.append("set-cookie", "a=1; Path=/");
      headers.append("set-cookie", "b=2");
      return new Response("the body", { headers });
    },
  });
  ctx.registerHttpRoute({ method: "GET", path: "/reply", match: "exact", auth: "gateway", handler: () => ({ body: "plain" }) });
  ctx.registerHttpRoute({
    method: "POST",
    path: "/write",
    match: "exact",
    auth: "gateway",
    scope: "operator.write",
    handler: () => ({ body: "written" }),
  });
});

const start = async (...taps: ReturnType<typeof plugin>[]) => {
  const grants = { grants: ["auth.provider"] };
  gateway = await createTestGateway({ plugins: [routes, ...taps], config: { plugins: { entries: { provider: grants } } } });
};

test("http.request shows method, path, address and headers, but nothing that proves who asks", async () => {
  const seen: Array<Record<string, unknown>> = [];
  await start(plugin("reader", (ctx) => void ctx.on("http.request", (event) => void seen.push(event as never))));

  await gateway.fetch("/page?q=1", { headers: { cookie: "secret=1", "x-api-key": "secret", "x-plain": "yes" } });

  expect(seen).toMatchObject([{ method: "GET", path: "/page", remote: "127.0.0.1", headers: { "x-plain": "yes" } }]);
  expect(JSON.stringify(seen)).not.toMatch(/secret|authorization/i);
  expect(JSON.stringify(seen)).not.toContain(gateway.token);
});

test("http.response changes status and headers of every answer; body and cookies stay", async () => {
  const seen: unknown[] = [];
  await start(
    plugin("stamper", (ctx) => {
      ctx.on("http.response", (event) => {
        seen.push([event.method, event.path, event.status]);
        const { "x-gone": _, ...headers } = event.headers;
        return { ...event, status: event.status === 200 ? 202 : event.status, headers: { ...headers, "x-stamp": "1" } };
      });
    }),
  );

  const page = await gateway.fetch("/page");
  const reply = await gateway.fetch("/reply");
  const missing = await gateway.fetch("/nowhere");
  const refused = await fetch(`${gateway.url}/page`);

  expect([page, reply, missing, refused].map((r) => [r.status, r.headers.get("x-stamp")])).toEqual([
    [202, "1"],
    [202, "1"],
    [404, "1"],
    [401, "1"],
  ]);
  expect(await page.text()).toBe("the body");
  expect(await reply.text()).toBe("plain");
  expect(page.headers.getSetCookie()).toEqual(["a=1; Path=/", "b=2"]);
  expect(page.headers.get("x-gone")).toBeNull();
  expect(page.headers.get("x-content-type-options")).toBe("nosniff");
  expect(seen).toEqual([
    ["GET", "/page", 200],
    ["GET", "/reply", 200],
    ["GET", "/nowhere", 404],
    ["GET", "/page", 401],
  ]);
});

test.each([
  ["throws", () => Promise.reject(new Error("boom"))],
  ["answers with an impossible status", (e: object) => ({ ...e, status: 99 })],
  ["answers with text", () => "200"],
  ["loses the headers", (e: object) => ({ ...e, headers: undefined })],
])("an answer is sent as it was when a tap of http.response %s", async (_, fn) => {
  await start(plugin("broken", (ctx) => void ctx.on("http.response", fn as never)));

  const page = await gateway.fetch("/page");

  expect([page.status, await page.text()]).toEqual([200, "the body"]);
  expect(gateway.logs.some((line) => line.message.startsWith('hook http.response: plugin "broken" failed'))).toBe(true);
});

const provider = plugin("provider", (ctx) => {
  ctx.on("auth.identify", ({ credentials, transport, remote }) => {
    if (credentials.token !== "badge-7") return undefined;
    return { handled: true, identity: `ann via ${transport} from ${remote}`, scopes: ["operator.read"] };
  });
});
const withBadge = (path: string, method = "GET") =>
  fetch(`${gateway.url}${path}`, { method, headers: { authorization: "Bearer badge-7" } });

test("auth.identify lets in who a plugin knows, over HTTP with that one's scopes only", async () => {
  await start(provider);

  const read = await withBadge("/page");
  expect([read.status, read.headers.get("x-scopes")]).toEqual([200, "operator.read"]);
  expect((await withBadge("/write", "POST")).status).toBe(403);
  expect((await gateway.fetch("/write", { method: "POST" })).status).toBe(200);
  expect((await fetch(`${gateway.url}/page`, { headers: { authorization: "Bearer badge-8" } })).status).toBe(401);
});

test("auth.identify lets in over a socket too, and the client is known by its identity", async () => {
  const met: unknown[] = [];
  await start(
    provider,
    plugin("porter", (ctx) => void ctx.on("ws.connect", ({ client, scopes }) => void met.push([client.identity, scopes]))),
  );

  const client = await gateway.client({ auth: { token: "badge-7" } });

  await expect(client.request("health", {})).resolves.toBeDefined();
  await expect(client.request("gateway.doctor", {})).rejects.toMatchObject({ details: { code: "MISSING_SCOPE" } });
  expect(met).toEqual([["ann via ws from 127.0.0.1", ["operator.read"]]]);
});

test("auth.identify that fails or names nobody leaves the shared secret in force", async () => {
  await start(plugin("provider", (ctx) => void ctx.on("auth.identify", (() => ({ handled: true, identity: "", scopes: [] })) as never)));

  expect((await gateway.fetch("/page")).status).toBe(200);
  expect((await withBadge("/page")).status).toBe(401);
});

test("auth.identify without the permission auth.provider is refused and reported", async () => {
  const manifest = { id: "provider", version: "1.0.0", svc: { api: "^1.0.0" } };
  gateway = await createTestGateway({ plugins: [routes, { definition: provider, manifest }] });

  expect((await withBadge("/page")).status).toBe(401);
  expect(gateway.gateway.plugins().find((p) => p.id === "provider")).toMatchObject({ state: "degraded", code: "permission-missing" });
});

test("hello.snapshot may add capabilities and policy; names of methods stay a list", async () => {
  await start(
    plugin("teller", (ctx) => {
      ctx.on("hello.snapshot", (e) => ({ ...e, features: { ...e.features, capabilities: ["dance"] }, policy: { ...e.policy, extra: 7 } }));
      ctx.on("hello.snapshot", ((e: object) => ({ ...e, features: { methods: "all" } })) as never);
    }),
  );

  const { hello } = await gateway.client();

  expect(hello).toMatchObject({ features: { capabilities: ["dance"], methods: expect.arrayContaining(["health"]) } });
  expect(hello).toMatchObject({ policy: { extra: 7, tickIntervalMs: expect.any(Number) }, limits: expect.any(Object) });
});
