import { describe, expect, test } from "vitest";
import type { SvcConfigInput } from "../../sdk/config/root.ts";
import { rootSchema } from "../config/root-schema.ts";
import { type ClientPolicyOptions, createClientPolicy } from "./client-policy.ts";

const interfaces = (...addresses: string[]) =>
  ({ eth0: addresses.map((address) => ({ address })) }) as unknown as ReturnType<ClientPolicyOptions["interfaces"]>;
function policyOf(gateway: SvcConfigInput["gateway"] = {}, change: Partial<ClientPolicyOptions> = {}) {
  const config = rootSchema.parse({ gateway });
  return createClientPolicy({
    ...{ config: () => config, mode: "token", loopbackOnly: true, port: 18_789, now: () => 0, interfaces: () => interfaces() },
    ...change,
  });
}
const request = (headers: Record<string, string> = {}, remoteAddress = "127.0.0.1") => {
  const all = { host: "127.0.0.1:18789", ...headers };
  return { headers: all, rawHeaders: Object.entries(all).flat(), socket: { remoteAddress } };
};

test("a caller is computed once for each request", () => {
  const clientPolicy = policyOf({ trustedProxies: ["127.0.0.1"] });
  const req = request({ "x-forwarded-for": "198.51.100.7" });
  expect(clientPolicy.callerOf(req)).toMatchObject({ address: "198.51.100.7", unattributed: false });
  expect(clientPolicy.callerOf(req)).toBe(clientPolicy.callerOf(req));
});

test("a change of the config counts from the next request on", () => {
  const { gateway } = rootSchema.parse({});
  let config = rootSchema.parse({});
  const clientPolicy = policyOf({}, { config: () => config });
  expect(clientPolicy.callerOf(request({ forwarded: "for=198.51.100.7" })).unattributed).toBe(true);
  config = rootSchema.parse({ gateway: { ...gateway, trustedProxies: ["127.0.0.0/8"] } });
  expect(clientPolicy.callerOf(request({ forwarded: "for=198.51.100.7" }))).toMatchObject({ address: "198.51.100.7", unattributed: false });
});

describe("before path and credentials", () => {
  test("more than 100 header lines are refused", () => {
    const lines = (count: number) => request(Object.fromEntries(Array.from({ length: count - 1 }, (_, i) => [`x-${i}`, "1"])));
    expect(policyOf().refusalOf(lines(100))).toBeUndefined();
    expect(policyOf().refusalOf(lines(101))).toEqual({ status: 431 });
    expect(policyOf().upgradeRefusalOf(lines(101))).toEqual({ status: 431 });
  });

  test.each<[string, string[], string, number | undefined]>([
    ["no Host", [], "1.1", 400],
    ["two Hosts", ["Host", "127.0.0.1", "HOST", "evil.example"], "1.1", 400],
    ["no Host in HTTP/1.0", [], "1.0", undefined],
    ["one Host", ["hOST", "127.0.0.1"], "1.1", undefined],
  ])("%s", (_, rawHeaders, httpVersion, status) => {
    expect(policyOf().refusalOf({ ...request(), rawHeaders, httpVersion })?.status).toBe(status);
  });

  test.each(["1.2.3.999", "127.0.0.1:99999", "xn--a", "[1:2]", "<b>"])("a Host that no address can have is refused: %s", (host) => {
    expect(policyOf().refusalOf(request({ host }))).toEqual({ status: 400 });
    expect(policyOf().upgradeRefusalOf(request({ host }))).toEqual({ status: 400 });
  });

  test.each(["none", "trusted-proxy"] as const)("with mode %s only a known Host goes on", (mode) => {
    const clientPolicy = policyOf({ controlUi: { allowedOrigins: ["https://ui.example"] }, publicOrigin: "https://gw.example" }, { mode });
    const statusFor = (host: string) => clientPolicy.refusalOf(request({ host }))?.status;
    expect(["evil.example", "ui.example", "gw.example:443", "localhost", "10.0.0.1"].map(statusFor)).toEqual([
      403,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("with a secret the Host is judged by path, and only on loopback", () => {
    const foreign = () => request({ host: "evil.example" });
    expect(policyOf().refusalOf(foreign())).toBeUndefined();
    expect(policyOf().hostRefusalOf(foreign())).toMatchObject({ code: "misdirected-request", spec: { http: 421 } });
    expect(policyOf().upgradeRefusalOf(foreign())).toMatchObject({ status: 421, message: expect.stringContaining("gateway.publicOrigin") });
    expect(policyOf({}, { loopbackOnly: false }).hostRefusalOf(foreign())).toBeUndefined();
    expect(policyOf({ controlUi: { allowedOrigins: ["*"] } }).hostRefusalOf(foreign())).toBeUndefined();
    expect(policyOf({ controlUi: { dangerouslyAllowHostHeaderOriginFallback: true } }).hostRefusalOf(foreign())).toBeUndefined();
  });

  test("names of the certificate are served, a star for one label of them, as they are now", () => {
    let names = ["gw.example", "*.lan.example"];
    const clientPolicy = policyOf({}, { certificateNames: () => names });
    const isServed = (host: string) => clientPolicy.hostRefusalOf(request({ host })) === undefined;
    expect(["gw.example:18789", "a.lan.example", "a.b.lan.example", "lan.example", "x.gw.example"].map(isServed)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
    names = [];
    expect(isServed("gw.example")).toBe(false);
  });

  test("an upgrade with forwarded headers of an unlisted peer is refused, a request is left to its route", () => {
    const forged = () => request({ "x-forwarded-for": "198.51.100.7" });
    expect(policyOf().upgradeRefusalOf(forged())).toEqual({ status: 403 });
    expect(policyOf().refusalOf(forged())).toBeUndefined();
    expect(policyOf({ trustedProxies: ["127.0.0.1"] }).upgradeRefusalOf(forged())).toBeUndefined();
  });
});

describe("an origin that is refused again and again", () => {
  const evil = { origin: "https://evil.example" };

  test("is not even heard for a while, and only that one", () => {
    let now = 0;
    const clientPolicy = policyOf({ auth: { rateLimit: { maxAttempts: 3, lockoutMs: 60_000 } } }, { now: () => now });
    for (let i = 0; i < 3; i++) {
      expect(clientPolicy.upgradeRefusalOf(request(evil))).toBeUndefined();
      expect(clientPolicy.isOriginAllowed(evil.origin, request(evil))).toBe(false);
    }
    expect(clientPolicy.upgradeRefusalOf(request(evil))).toEqual({ status: 429, retryAfter: 60 });
    expect(clientPolicy.originRetryAfterMs(evil.origin)).toBe(60_000);
    expect(clientPolicy.upgradeRefusalOf(request({ origin: "https://other.example" }))).toBeUndefined();
    expect(clientPolicy.upgradeRefusalOf(request())).toBeUndefined();
    now = 60_000;
    expect(clientPolicy.upgradeRefusalOf(request(evil))).toBeUndefined();
  });

  test("is let in at once when the operator lists it", () => {
    let config = rootSchema.parse({ gateway: { auth: { rateLimit: { maxAttempts: 1 } } } });
    const clientPolicy = policyOf({}, { config: () => config });
    clientPolicy.isOriginAllowed(evil.origin, request(evil));
    expect(clientPolicy.upgradeRefusalOf(request(evil))?.status).toBe(429);
    config = rootSchema.parse({ gateway: { controlUi: { allowedOrigins: [evil.origin] } } });
    expect(clientPolicy.upgradeRefusalOf(request(evil))).toBeUndefined();
    expect(clientPolicy.isOriginAllowed(evil.origin, request(evil))).toBe(true);
  });

  test("does not harm the gateway's own page, whatever others send in its name", () => {
    const clientPolicy = policyOf({ auth: { rateLimit: { maxAttempts: 1 } } });
    const own = { origin: "http://127.0.0.1:18789" };
    clientPolicy.isOriginAllowed(own.origin, request({ ...own, host: "evil.example" }));
    expect(clientPolicy.upgradeRefusalOf(request(own))).toBeUndefined();
    expect(clientPolicy.isOriginAllowed(own.origin, request(own))).toBe(true);
  });

  test("and is longer than any that is listed is counted by its beginning", () => {
    const clientPolicy = policyOf({ controlUi: { allowedOrigins: ["*"] } });
    const long = `https://${"x".repeat(600)}.example`;
    expect(clientPolicy.isOriginAllowed(long, request({ origin: long }))).toBe(false);
  });
});

test("beyond loopback the local pages are listed with the port that is in use; a list in the config stands instead", () => {
  const remote = request({ host: "gw.example:4711" }, "192.0.2.7");
  const seeded = policyOf({}, { loopbackOnly: false, port: 4711 });
  expect(seeded.isOriginAllowed("http://localhost:4711", remote)).toBe(true);
  expect(seeded.isOriginAllowed("http://localhost:18789", remote)).toBe(false);
  const listed = policyOf({ controlUi: { allowedOrigins: [] } }, { loopbackOnly: false, port: 4711 });
  expect(listed.isOriginAllowed("http://localhost:4711", remote)).toBe(false);
});

test("the addresses of this host are asked for every five seconds at most", () => {
  let asked = 0;
  let now = 0;
  const clientPolicy = policyOf(
    {},
    {
      now: () => now,
      interfaces: () => {
        asked += 1;
        return interfaces(now === 0 ? "10.0.0.5" : "10.0.0.6");
      },
    },
  );
  const allows = (ip: string) => clientPolicy.isOriginAllowed(`http://${ip}:18789`, request({ host: `${ip}:18789` }, "192.0.2.7"));
  expect([allows("10.0.0.5"), allows("10.0.0.6"), asked]).toEqual([true, false, 1]);
  now = 5_001;
  expect([allows("10.0.0.5"), allows("10.0.0.6"), asked]).toEqual([false, true, 2]);
});

test("only mode trusted-proxy asks for the word of a proxy", () => {
  const gateway = { trustedProxies: ["10.0.0.2"], auth: { trustedProxy: { userHeader: "x-user" } } };
  const req = request({ "x-user": "alice" }, "10.0.0.2");
  expect(policyOf(gateway).proxyVerdict(req)).toBeUndefined();
  expect(policyOf(gateway, { mode: "trusted-proxy" }).proxyVerdict(req)).toMatchObject({ kind: "identity", identity: { user: "alice" } });
  expect(policyOf(gateway, { mode: "trusted-proxy", interfaces: () => interfaces("10.0.0.2") }).proxyVerdict(req)).toEqual({
    kind: "refused",
    reason: "proxy_own_address",
  });
});
