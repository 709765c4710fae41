import { request } from "node:http";
import { afterAll, beforeAll, expect } from "vitest";
import type WebSocket from "ws";
import { BareSocket, connectParams, type Frame } from "../kernel/_ws.ts";
import { needs } from "../servers/needs.ts";
import { type Nginx, startNginx } from "../servers/nginx.ts";
import { freePort } from "../servers/ports.ts";
import { configured, freshHome, stopAll, token } from "./_cli.ts";
import { gatewayHere } from "./_gateway-here.ts";

const { describe, test } = needs("nginx");

const forwarded = "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Forwarded-Proto http;";
/** The client's own address, another loopback one than nginx's, so that nginx is the only listed hop. */
const client = "127.0.0.3";
const nginxes: Nginx[] = [];

afterAll(async () => {
  for (const nginx of nginxes) await nginx.stop();
  await stopAll();
});

async function gatewayWith(gateway: object): Promise<number> {
  const home = await configured(await freshHome(), { gateway: { mode: "local", ...gateway } });
  return (await gatewayHere(home)).port;
}

async function nginxFor(upstream: number, own: object = {}): Promise<number> {
  const nginx = await startNginx({ port: await freePort(), upstream, location: forwarded, ...own });
  nginxes.push(nginx);
  return nginx.port;
}

type Headers = Record<string, string | string[]>;

function ask(
  port: number,
  path: string,
  headers: Headers = {},
  method = "GET",
): Promise<{ status: number; headers: Headers; body: string }> {
  return new Promise((resolve, reject) => {
    const req = request({ host: "127.0.0.1", port, path, method, headers, localAddress: client, agent: false }, (res) => {
      let body = "";
      res.on("data", (chunk: Buffer) => {
        body += chunk.toString();
      });
      res.on("end", () => resolve({ status: res.statusCode ?? 0, headers: res.headers as Headers, body }));
    });
    req.on("error", reject);
    req.end();
  });
}

/** Answer to a `connect`, or the status of a refused upgrade. */
async function dialIn(port: number, headers: Headers, params: Record<string, unknown>, path = "/"): Promise<Frame> {
  const socket = new BareSocket(`ws://127.0.0.1:${port}${path}`, { headers, localAddress: client } as WebSocket.ClientOptions);
  const refused = new Promise<{ status: number }>((resolve) => {
    socket.ws.once("unexpected-response", (_req, res) => {
      resolve({ status: res.statusCode ?? 0 });
      socket.ws.terminate();
    });
  });
  const answered = socket
    .frame((f) => f.event === "connect.challenge")
    .then(() => socket.request("1", "connect", params))
    .finally(() => socket.ws.terminate());
  answered.catch(() => undefined);
  return Promise.race([refused, answered]);
}

const bearer = (secret = token) => ({ authorization: `Bearer ${secret}` });
const codeOf = (frame: Frame) => frame.error?.details?.code;

describe("nginx that is not listed", () => {
  let port: number;
  beforeAll(async () => {
    port = await nginxFor(await gatewayWith({ auth: { token }, trustedProxies: ["10.0.0.2"] }));
  });

  test("gets 403 for its forwarded headers, whatever secret comes with them, on HTTP and on an upgrade", async () => {
    for (const headers of [{}, bearer(), bearer("wrong")]) {
      const answer = await ask(port, "/v1/models", headers);
      expect(answer.status).toBe(403);
      expect(JSON.parse(answer.body).error).toMatchObject({ type: "proxy_attribution_required", code: "proxy_attribution_required" });
    }
    expect(await dialIn(port, {}, connectParams(token))).toEqual({ status: 403 });
    expect((await ask(port, "/")).status).toBe(403);
  });

  test("may still look at the probes, and is told no details", async () => {
    expect((await ask(port, "/healthz")).status).toBe(200);
    expect((await ask(port, "/readyz")).body).toBe('{"ready":true}');
  });
});

describe("nginx that is listed, with a token", () => {
  let port: number;
  beforeAll(async () => {
    const gateway = await gatewayWith({
      auth: { token, rateLimit: { maxAttempts: 3 } },
      trustedProxies: ["127.0.0.1"],
      controlUi: { allowedOrigins: ["https://ui.example"] },
    });
    port = await nginxFor(gateway);
  });

  test("passes callers with the secret on, without calling them local", async () => {
    expect((await ask(port, "/v1/models", bearer())).status).toBe(200);
    expect((await ask(port, "/readyz")).body).toBe('{"ready":true}');
    const far = await dialIn(port, {}, connectParams(token));
    expect(codeOf(far)).toBe("DEVICE_IDENTITY_REQUIRED");
  });

  test("a page of a foreign origin opens no control connection, and reads no answer", async () => {
    const origin = "https://evil.example";
    expect(codeOf(await dialIn(port, { origin }, connectParams(token)))).toBe("CONTROL_UI_ORIGIN_NOT_ALLOWED");
    const answer = await ask(port, "/v1/models", { ...bearer(), origin });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect((await ask(port, "/v1/models", { origin, "access-control-request-method": "GET" }, "OPTIONS")).status).toBe(405);
  });

  test("a rebound Host makes no page the gateway's own", async () => {
    const rebound = { host: "evil.example", origin: "http://evil.example" };
    expect(codeOf(await dialIn(port, rebound, connectParams(token)))).toBe("CONTROL_UI_ORIGIN_NOT_ALLOWED");
    const listed = await dialIn(port, { host: "ui.example", origin: "https://ui.example" }, connectParams(token));
    expect(codeOf(listed)).toBe("DEVICE_IDENTITY_REQUIRED");
  });

  test.each(["token", "access_token", "auth", "key"])("a secret in the query as %s opens nothing", async (name) => {
    expect((await ask(port, `/v1/models?${name}=${token}`)).status).toBe(401);
    expect(codeOf(await dialIn(port, {}, connectParams("", { auth: {} }), `/?${name}=${token}`))).toBe("AUTH_TOKEN_MISSING");
  });

  test("forged forwarded headers change nobody's address: the lock stays on the caller", async () => {
    const forged = (i: number): Headers => ({ "x-forwarded-for": `1.2.3.${i}`, "x-real-ip": `1.2.3.${i}` });
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await ask(port, "/v1/models", { ...forged(i), ...bearer("wrong") })).status);
    expect(statuses).toEqual([401, 401, 401]);
    const locked = await ask(port, "/v1/models", { ...forged(9), ...bearer() });
    expect([locked.status, Number(locked.headers["retry-after"]) > 200]).toEqual([429, true]);
    expect(codeOf(await dialIn(port, forged(8), connectParams(token)))).toBe("AUTH_RATE_LIMITED");
  });
});

describe("nginx that vouches for its users", () => {
  let port: number;
  let direct: number;
  const basic = (user: string, password: string) => ({ authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` });
  const alice = basic("alice", "wonder");
  beforeAll(async () => {
    direct = await gatewayWith({
      auth: {
        mode: "trusted-proxy",
        trustedProxy: { userHeader: "X-Auth-User", requiredHeaders: ["X-Forwarded-Proto"], allowUsers: ["alice"], allowLoopback: true },
      },
      trustedProxies: ["127.0.0.1"],
      controlUi: { allowedOrigins: ["https://ui.example"] },
    });
    const location = `${forwarded} proxy_set_header X-Auth-User $remote_user; proxy_set_header Authorization "";`;
    port = await nginxFor(direct, { users: { alice: "wonder", bob: "builder" }, location });
  });

  test("the user it has checked is let in on HTTP and WebSocket, without a secret and without a device", async () => {
    expect((await ask(port, "/v1/models", alice)).status).toBe(200);
    const hello = await dialIn(port, alice, connectParams("", { auth: {}, scopes: ["operator.read"] }));
    expect(hello).toMatchObject({ ok: true, payload: { auth: { scopes: ["operator.read"] }, snapshot: { authMode: "trusted-proxy" } } });
  });

  test("whoever it does not let in never comes here, and whoever is not listed is refused here", async () => {
    expect((await ask(port, "/v1/models", basic("alice", "wrong"))).headers["www-authenticate"]).toMatch(/^Basic/);
    expect((await ask(port, "/v1/models", basic("bob", "builder"))).status).toBe(401);
    const bob = await dialIn(port, basic("bob", "builder"), connectParams("", { auth: {} }));
    expect(bob.error.details).toMatchObject({ authReason: "proxy_user_not_allowed" });
  });

  test("a user header that the client forges is not the one that counts", async () => {
    expect((await ask(port, "/v1/models", { ...basic("bob", "builder"), "x-auth-user": "alice" })).status).toBe(401);
    expect((await ask(port, "/v1/models", { ...alice, "x-auth-user": "mallory" })).status).toBe(200);
  });

  test("past the proxy the same headers open nothing", async () => {
    const forged = { "x-auth-user": "alice", "x-forwarded-proto": "http" };
    expect((await ask(direct, "/v1/models", forged)).status).toBe(403);
    expect((await ask(direct, "/v1/models", { "x-auth-user": "alice" })).status).toBe(401);
    expect(await dialIn(direct, forged, connectParams("", { auth: {} }))).toEqual({ status: 403 });
  });

  test("every request needs a known Host, every page a listed origin", async () => {
    expect((await ask(port, "/v1/models", { ...alice, host: "evil.example" })).status).toBe(403);
    expect(await dialIn(port, { ...alice, host: "evil.example" }, connectParams("", { auth: {} }))).toEqual({ status: 403 });
    expect((await ask(port, "/v1/models", { ...alice, origin: "https://evil.example" })).status).toBe(401);
    expect((await ask(port, "/v1/models", { ...alice, host: "ui.example", origin: "https://ui.example" })).status).toBe(200);
    const foreign = await dialIn(port, { ...alice, origin: "https://evil.example" }, connectParams("", { auth: {} }));
    expect(codeOf(foreign)).toBe("CONTROL_UI_ORIGIN_NOT_ALLOWED");
  });

  test("nginx at another address of this machine is not the one that is listed", async () => {
    const other = await nginxFor(direct, { from: "127.0.0.9", users: { alice: "wonder" } });
    expect((await ask(other, "/v1/models", alice)).status).toBe(403);
  });
});
