import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { definePlugin } from "svc/sdk";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterEach, describe, expect, test } from "vitest";
import { edit, editAndApply, line, quickReload } from "./_reload.ts";
import { challenged, connected, connectParams } from "./_ws.ts";

const OLD = "old-secret-1a2b3c";
const NEW = "new-secret-4d5e6f";
let gateway: TestGateway;
afterEach(() => gateway.close());

const echo = definePlugin<unknown>({
  id: "echo",
  version: "1.0.0",
  svc: { api: "*" },
  setup(ctx) {
    const handler = async (call: { text(): Promise<string> }) => ({ body: await call.text() });
    ctx.registerHttpRoute({ method: "POST", path: "/echo", match: "exact", auth: "gateway", handler });
  },
});

const start = async (auth: object, own: Parameters<typeof createTestGateway>[0] = {}) => {
  gateway = await createTestGateway({ plugins: [echo], config: { gateway: { auth, reload: quickReload } }, ...own });
};

const rotate = (secret: string, key: "token" | "password" = "token") =>
  editAndApply(gateway, (c) => {
    c.gateway.auth[key] = secret;
  });

const post = (secret: string) =>
  fetch(`${gateway.url}/echo`, { method: "POST", headers: { authorization: `Bearer ${secret}` }, body: "hi" });

/** A request whose body never quite ends. */
function slowPost(secret: string): ClientRequest {
  const req = request(`${gateway.url}/echo`, { method: "POST", headers: { authorization: `Bearer ${secret}`, "content-length": "10" } });
  req.write("begin");
  return req;
}

describe("a rotated secret", () => {
  test.each(["token", "password"] as const)("%s: the new one opens from now on, the old one no longer, anywhere", async (key) => {
    await start({ [key]: OLD });
    expect((await post(OLD)).status).toBe(200);

    expect(await rotate(NEW, key)).toBe(`config reload applied (gateway.auth.${key})`);

    expect((await post(OLD)).status).toBe(401);
    expect((await post(NEW)).status).toBe(200);
    const late = await challenged(gateway);
    expect(await late.request("c", "connect", connectParams(OLD))).toMatchObject({ ok: false });
    const socket = await connected(gateway, { auth: { [key]: NEW } });
    await socket.close();
  });

  test("closes the sockets that used the old one with 4001", async () => {
    await start({ token: OLD });
    const sockets = await Promise.all([1, 2, 3].map(() => connected(gateway, { auth: { token: OLD } })));
    await rotate(NEW);
    for (const socket of sockets) expect(await socket.end()).toEqual({ code: 4001, reason: "gateway auth changed" });
  });

  test("ends a body that is still being read with 401", async () => {
    await start({ token: OLD });
    const req = slowPost(OLD);
    const answer = once(req, "response") as Promise<[IncomingMessage]>;
    await bodyIsRead();
    await rotate(NEW);
    const [response] = await answer;
    expect(response.statusCode).toBe(401);
    let body = "";
    for await (const chunk of response) body += chunk;
    expect(body).toContain("gateway auth changed");
    req.destroy();
  });

  test("leaves sockets alone while it stays the same, whatever else changes in auth", async () => {
    await start({ token: OLD, rateLimit: { maxAttempts: 5 } });
    const socket = await connected(gateway, { auth: { token: OLD } });
    await editAndApply(gateway, (c) => {
      c.gateway.auth.rateLimit.maxAttempts = 3;
    });
    expect((await socket.request("h", "health")).ok).toBe(true);
    await socket.close();
  });

  test("that is gone refuses the reload, and the old one goes on", async () => {
    await start({ token: OLD });
    const socket = await connected(gateway, { auth: { token: OLD } });
    await edit(gateway, (c) => {
      delete c.gateway.auth.token;
    });
    await line(gateway, "config reload skipped (invalid config): gateway.auth.token: it is gone");
    expect(await probeOld()).toBe(200);
    expect((await socket.request("h", "health")).ok).toBe(true);
    await socket.close();
  });

  test("that cannot be resolved refuses the reload", async () => {
    await start({ token: OLD });
    await edit(gateway, (c) => {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in a config file
      c.gateway.auth.token = "${NOT_SET_ANYWHERE}";
    });
    expect(await line(gateway, "config reload skipped (invalid config)")).toContain("NOT_SET_ANYWHERE");
    expect(await probeOld()).toBe(200);
  });

  test("of another mode needs a restart", async () => {
    await start({ token: OLD });
    await edit(gateway, (c) => {
      c.gateway.auth = { password: NEW };
    });
    await line(gateway, "config change requires gateway restart (gateway.auth.password, gateway.auth.token)");
    expect(await probeOld()).toBe(200);
  });
});

const probeOld = async () => (await post(OLD)).status;

/** The server has begun with the slow body once a later request was answered. */
async function bodyIsRead(): Promise<void> {
  expect((await post(OLD)).status).toBe(200);
}

describe("what is read at each request", () => {
  test("the rate limit: a change counts at once, and recorded failures stay", async () => {
    await start({ token: OLD, rateLimit: { maxAttempts: 5 } });
    for (let i = 0; i < 2; i++) expect((await post("wrong")).status).toBe(401);
    await editAndApply(gateway, (c) => {
      c.gateway.auth.rateLimit.maxAttempts = 3;
    });
    expect((await post("wrong")).status).toBe(401);
    expect((await post("wrong")).status).toBe(429);
  });

  test("allowed origins: a page is let in after its origin was listed, and open sockets stay", async () => {
    await start({ token: OLD });
    const before = await connected(gateway, { auth: { token: OLD } });
    const headers = { origin: "https://panel.example" };
    const refused = await challenged(gateway, headers);
    expect(await refused.request("c", "connect", connectParams(OLD))).toMatchObject({
      ok: false,
      error: { message: expect.stringMatching(/origin not allowed/) },
    });

    await editAndApply(gateway, (c) => {
      c.gateway.controlUi = { allowedOrigins: ["https://panel.example"] };
    });

    const allowed = await challenged(gateway, headers);
    expect(await allowed.request("c", "connect", connectParams(OLD))).toMatchObject({ ok: true });
    expect((await before.request("h", "health")).ok).toBe(true);
    await before.close();
    await allowed.close();
  });

  test("the transport security header", async () => {
    await start({ token: OLD });
    expect((await fetch(`${gateway.url}/healthz`)).headers.get("strict-transport-security")).toBeNull();
    await editAndApply(gateway, (c) => {
      c.gateway.http = { securityHeaders: { strictTransportSecurity: "max-age=60" } };
    });
    expect((await fetch(`${gateway.url}/healthz`)).headers.get("strict-transport-security")).toBe("max-age=60");
  });
});
