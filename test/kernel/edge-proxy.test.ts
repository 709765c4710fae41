import { networkInterfaces } from "node:os";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { door } from "./_door.ts";
import { bodyOf, closeRawSockets, headerOf, sendRaw, statusOf, upgradeRequest } from "./_raw.ts";
import { editAndApply, quickReload } from "./_reload.ts";
import { BareSocket, challenged, connectParams } from "./_ws.ts";

afterEach(closeRawSockets);

const get = (path: string, lines = "") => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n${lines}\r\n`;
const json = (answer: string) => JSON.parse(bodyOf(answer));
const forms = [
  ["X-Forwarded-For", "X-Forwarded-For: 127.0.0.1\r\n"],
  ["X-Forwarded-Proto alone", "X-Forwarded-Proto: https\r\n"],
  ["Forwarded", "Forwarded: for=127.0.0.1\r\n"],
  ["X-Real-IP", "X-Real-IP: 127.0.0.1\r\n"],
  ["a blank one", "X-Forwarded-For:\r\n"],
] as const;

describe("forwarded headers from a peer that is not listed", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await createTestGateway({ plugins: [door, "control-ui"] });
  });
  afterAll(() => gateway.close());
  const bearer = () => `Authorization: Bearer ${gateway.token}\r\n`;
  const send = (request: string) => sendRaw(gateway.gateway.port, request);

  test.each(forms)("%s: 403 before any credential is looked at, on HTTP and on an upgrade", async (_, line) => {
    for (const credential of ["", bearer(), "Authorization: Bearer wrong\r\n"]) {
      const answer = await send(get("/door", `${line}${credential}`));
      expect(statusOf(answer)).toBe(403);
      expect(json(answer).error).toMatchObject({ type: "proxy_attribution_required", code: "proxy_attribution_required" });
    }
    expect(statusOf(await send(upgradeRequest("/", line)))).toBe(403);
  });

  test("costs the peer no failure", async () => {
    for (let i = 0; i < 12; i++) await send(get("/door", "X-Forwarded-For: 1.2.3.4\r\nAuthorization: Bearer wrong\r\n"));
    expect(statusOf(await send(get("/door", bearer())))).toBe(200);
  });

  test.each(forms)(
    "%s: the page of the control UI is refused too, probes and ingress ignore it and take nobody for local",
    async (_, line) => {
      expect(statusOf(await send(get("/", `${line}Accept: text/html\r\n`)))).toBe(403);
      expect(statusOf(await send(get("/healthz", line)))).toBe(200);
      expect(json(await send(get("/readyz", `${line}${bearer()}`)))).toEqual({ ready: true });
      expect(json(await send(get("/ingress", line))).remote).toMatchObject({ address: "127.0.0.1", directLoopback: false });
    },
  );

  test("without them the peer is local", async () => {
    expect(json(await send(get("/readyz")))).toMatchObject({ phase: "ready" });
    expect(json(await send(get("/ingress"))).remote).toMatchObject({ directLoopback: true });
  });
});

describe("behind a proxy that is listed, with a token", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await createTestGateway({
      plugins: [door],
      config: {
        gateway: {
          trustedProxies: ["127.0.0.1", "10.0.0.0/8"],
          auth: { token: "test-token-5f2d9a", rateLimit: { maxAttempts: 3 } },
          controlUi: { allowedOrigins: ["https://ui.example"] },
          reload: quickReload,
        },
      },
    });
  });
  afterAll(() => gateway.close());
  const bearer = () => `Authorization: Bearer ${gateway.token}\r\n`;
  const send = (request: string) => sendRaw(gateway.gateway.port, request);

  test("the caller is the right-most hop that is no proxy, and never local", async () => {
    const answer = await send(get("/door", `${bearer()}X-Forwarded-For: 127.0.0.1, 198.51.100.7, 10.1.2.3\r\n`));
    expect(json(answer).remote).toMatchObject({ address: "198.51.100.7", directLoopback: false });
    expect(json(await send(get("/readyz", "X-Forwarded-For: 127.0.0.1\r\n")))).toEqual({ ready: true });
  });

  test("a caller from elsewhere sees why the gateway is ready or not with the right token only", async () => {
    const from = "X-Forwarded-For: 198.51.100.9\r\n";
    const ask = async (credential: string) => json(await send(get("/readyz", `${from}${credential}`)));

    expect(await ask(bearer())).toMatchObject({ ready: true, phase: "ready", failing: [], eventLoop: { degraded: expect.any(Boolean) } });
    expect(await ask("Authorization: Bearer wrong\r\n")).toEqual({ ready: true });
  });

  test("wrong tokens lock that caller out in whatever form the proxy names it, and nobody else", async () => {
    const wrong = "Authorization: Bearer wrong\r\n";
    const named = [
      "X-Forwarded-For: 2001:db8:1:2::1\r\n",
      'Forwarded: for="[2001:DB8:1:2:ffff::9]:4711"\r\n',
      "X-Forwarded-For: 1.2.3.4, 2001:db8:1:2:3:4:5:6\r\n",
    ];
    for (const form of named) expect(statusOf(await send(get("/door", `${form}${wrong}`)))).toBe(401);
    const locked = await send(get("/door", `X-Forwarded-For: 2001:db8:1:2::ffff\r\n${bearer()}`));
    expect(statusOf(locked)).toBe(429);
    expect(Number(headerOf(locked, "retry-after"))).toBeGreaterThan(290);
    expect(json(locked).error).toMatchObject({ type: "rate_limited", code: "rate_limited" });
    expect(statusOf(await send(get("/door", `X-Forwarded-For: 2001:db8:1:3::1\r\n${bearer()}`)))).toBe(200);
    expect(statusOf(await send(get("/door", bearer())))).toBe(200);
  });

  test("a client that calls itself loopback is not spared the lock", async () => {
    const forged = "X-Forwarded-For: 127.0.0.1, 203.0.113.5\r\n";
    for (let i = 0; i < 3; i++) await send(get("/door", `${forged}Authorization: Bearer wrong\r\n`));
    expect(statusOf(await send(get("/door", `${forged}${bearer()}`)))).toBe(429);
  });

  test("an upgrade is taken, for the page that is listed and by the address the proxy names", async () => {
    const headers = { origin: "https://ui.example", host: "ui.example", "x-forwarded-for": "198.51.100.9" };
    const socket = await challenged(gateway, headers);
    const res = await socket.request("1", "connect", connectParams(gateway.token));
    expect(res.error).toMatchObject({ code: "NOT_PAIRED", details: { code: "DEVICE_IDENTITY_REQUIRED" } });
    const foreign = await challenged(gateway, { ...headers, origin: "https://evil.example" });
    const refused = await foreign.request("1", "connect", connectParams(gateway.token));
    expect(refused.error.details.code).toBe("CONTROL_UI_ORIGIN_NOT_ALLOWED");
  });

  test("that is taken off the list its next request is refused", async () => {
    expect(statusOf(await send(get("/door", `${bearer()}X-Forwarded-For: 198.51.100.8\r\n`)))).toBe(200);
    await editAndApply(gateway, (c) => {
      c.gateway.trustedProxies = ["10.0.0.0/8"];
    });
    expect(statusOf(await send(get("/door", `${bearer()}X-Forwarded-For: 198.51.100.8\r\n`)))).toBe(403);
  });
});

describe("mode trusted-proxy", () => {
  const PASSWORD = "a-long-local-password";
  const own = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find((a) => !a.internal && a.family === "IPv4")?.address;
  const configOf = (change: object = {}) => ({
    gateway: {
      bind: "lan" as const,
      trustedProxies: ["127.0.0.1"],
      auth: {
        mode: "trusted-proxy" as const,
        password: PASSWORD,
        trustedProxy: {
          userHeader: "X-Auth-User",
          requiredHeaders: ["X-Auth-Proof"],
          allowUsers: ["alice", "bob@example.com"],
          allowLoopback: true,
          scopes: ["operator.read" as const, "operator.write" as const],
          ...change,
        },
      },
      controlUi: { allowedOrigins: ["https://ui.example"] },
      reload: quickReload,
    },
  });
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await createTestGateway({ plugins: [door], config: configOf() });
  });
  afterAll(() => gateway.close());
  const send = (request: string, host?: string) => sendRaw(gateway.gateway.port, request, host);
  const proxied = "X-Forwarded-For: 198.51.100.7\r\nX-Auth-Proof: 1\r\n";
  const alice = `${proxied}X-Auth-User: alice\r\n`;

  test("the user whom the proxy names gets the configured scopes, and may ask for fewer", async () => {
    const answer = await send(get("/door", alice));
    expect(json(answer)).toMatchObject({
      remote: { address: "198.51.100.7", directLoopback: false },
      scopes: ["operator.read", "operator.write"],
    });
    expect(json(await send(get("/door", `${alice}X-Svc-Scopes: operator.read, operator.admin\r\n`))).scopes).toEqual(["operator.read"]);
    const narrow = await send(get("/door/write", `${alice}X-Svc-Scopes: operator.read\r\n`).replace("GET", "POST"));
    expect(statusOf(narrow)).toBe(403);
    expect(statusOf(await send(get("/door", `${proxied}X-Auth-User: BOB@example.com\r\n`)))).toBe(200);
  });

  test("a control connection gets what it asks for, below the ceiling, and no device is asked of it", async () => {
    const headers = { "x-forwarded-for": "198.51.100.7", "x-auth-proof": "1", "x-auth-user": "alice", "x-svc-scopes": "operator.admin" };
    const socket = await challenged(gateway, headers);
    const res = await socket.request("1", "connect", connectParams("", { auth: {} }));
    expect(res).toMatchObject({ ok: true, payload: { auth: { role: "operator" } } });
    expect([...res.payload.auth.scopes].sort()).toEqual(["operator.read", "operator.write"]);
    expect((await socket.request("2", "door.touch", {})).payload.client.remote).toBe("198.51.100.7");
    await socket.close();
  });

  test.each([
    ["no user", proxied, "proxy_user_missing"],
    ["a blank user", `${proxied}X-Auth-User:  \r\n`, "proxy_user_missing"],
    ["two users", `${alice}X-Auth-User: bob@example.com\r\n`, "proxy_user_ambiguous"],
    ["a user who is not listed", `${proxied}X-Auth-User: mallory\r\n`, "proxy_user_not_allowed"],
    ["no required header", "X-Forwarded-For: 198.51.100.7\r\nX-Auth-User: alice\r\n", "proxy_header_missing"],
    ["a right password beside a bad identity", `${proxied}Authorization: Bearer ${PASSWORD}\r\n`, "proxy_user_missing"],
  ])("%s is 401 with the reason, on HTTP and WebSocket alike", async (_, lines, reason) => {
    const answer = await send(get("/door", lines));
    expect([statusOf(answer), json(answer).error.code]).toEqual([401, reason]);
    const headers: Record<string, string[]> = {};
    for (const line of lines.trimEnd().split("\r\n")) {
      const [name = "", value = ""] = line.split(/: */, 2);
      headers[name] = [...(headers[name] ?? []), value];
    }
    const socket = await challenged(gateway, headers);
    const res = await socket.request("1", "connect", connectParams("", { auth: { password: PASSWORD } }));
    expect(res.error).toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringMatching(/^unauthorized: /),
      details: { authReason: reason },
    });
    if (reason === "proxy_user_missing") expect(res.error.details.code).toBe("AUTH_IDENTITY_HEADER_REQUIRED");
    expect((await socket.end()).code).toBe(1008);
  });

  test("an address of this host is no proxy, and no local caller either", async () => {
    if (own === undefined) return expect(own).toBeUndefined(); // no network at all
    const direct = await send(get("/door", "X-Auth-User: alice\r\nX-Auth-Proof: 1\r\n"), own);
    expect([statusOf(direct), json(direct).error.code]).toEqual([401, "proxy_untrusted"]);
    expect(statusOf(await send(get("/door", alice), own))).toBe(403);
    await editAndApply(gateway, (c) => {
      c.gateway.trustedProxies = ["127.0.0.1", own];
    });
    const listed = await send(get("/door", alice), own);
    expect([statusOf(listed), json(listed).error.code]).toEqual([401, "proxy_own_address"]);
    const password = await send(get("/door", `Authorization: Bearer ${PASSWORD}\r\n`), own);
    expect(statusOf(password)).toBe(401);
  });

  test("a local caller may use the password, and nothing else", async () => {
    expect(statusOf(await send(get("/door", `Authorization: Bearer ${PASSWORD}\r\n`)))).toBe(200);
    expect(statusOf(await send(get("/door", "Authorization: Bearer wrong\r\n")))).toBe(401);
    expect(json(await send(get("/door"))).error.code).toBe("password_missing");
    const socket = await challenged(gateway);
    expect((await socket.request("1", "connect", connectParams("", { auth: { password: PASSWORD } }))).ok).toBe(true);
    await socket.close();
  });

  test("every request needs a known Host, and a page a known origin", async () => {
    for (const path of ["/door", "/healthz", "/ingress", "/nowhere"]) {
      expect(statusOf(await send(get(path, alice).replace("Host: 127.0.0.1", "Host: evil.example")))).toBe(403);
    }
    expect(statusOf(await send(upgradeRequest("/", alice).replace("Host: 127.0.0.1", "Host: evil.example")))).toBe(403);
    expect(statusOf(await send(get("/door", alice).replace("Host: 127.0.0.1", "Host: ui.example")))).toBe(200);
    const foreign = await send(get("/door", `${alice}Origin: https://evil.example\r\n`));
    expect([statusOf(foreign), json(foreign).error.code]).toEqual([401, "origin_not_allowed"]);
    expect(statusOf(await send(get("/door", `${alice}Origin: https://ui.example\r\n`)))).toBe(200);
  });

  test("whoever is let in no longer is cut off: the ceiling, the users or the proxies have changed", async () => {
    const headers = { "x-forwarded-for": "198.51.100.7", "x-auth-proof": "1", "x-auth-user": "alice" };
    const socket = await challenged(gateway, headers);
    expect((await socket.request("1", "connect", connectParams("", { auth: {} }))).ok).toBe(true);
    await editAndApply(gateway, (c) => {
      c.gateway.auth.trustedProxy.allowUsers = ["bob@example.com"];
    });
    expect(await socket.end()).toEqual({ code: 4001, reason: "gateway policy changed" });
    const again = new BareSocket(gateway.wsUrl, { headers });
    await again.frame((f) => f.event === "connect.challenge");
    expect((await again.request("1", "connect", connectParams("", { auth: {} }))).error.details.authReason).toBe("proxy_user_not_allowed");
  });
});

test("mode trusted-proxy without a proxy on this machine refuses loopback", async () => {
  const gateway = await createTestGateway({
    plugins: [door],
    config: {
      gateway: { trustedProxies: ["127.0.0.1"], auth: { mode: "trusted-proxy", trustedProxy: { userHeader: "x-auth-user" } } },
    },
  });
  try {
    const forged = await sendRaw(gateway.gateway.port, get("/door", "X-Auth-User: alice\r\n"));
    expect([statusOf(forged), json(forged).error.code]).toEqual([401, "proxy_loopback_not_allowed"]);
    const nobody = await sendRaw(gateway.gateway.port, get("/door", "Authorization: Bearer guess\r\n"));
    expect([statusOf(nobody), json(nobody).error.code]).toEqual([401, "proxy_user_missing"]);
  } finally {
    await gateway.close();
  }
});
