import { describe, expect, test } from "vitest";
import { addressRanges } from "./address-ranges.ts";
import { proxyUnauthorized } from "./proxy-refusal.ts";
import { checkProxy, interfaceAddresses, type ProxyRules } from "./trusted-proxy.ts";

const own = interfaceAddresses({
  lo: [{ address: "127.0.0.1" }],
  eth0: [{ address: "10.0.0.5" }, { address: "FE80::5%eth0" }],
  none: undefined,
} as never);
const trustedProxy = {
  userHeader: "X-Auth-User",
  requiredHeaders: ["X-Auth-Proof"],
  allowUsers: [] as string[],
  allowLoopback: false,
  scopes: ["operator.read" as const],
};
const rules = (change: Partial<typeof trustedProxy> = {}, trusted = ["10.0.0.0/24", "127.0.0.1"]): ProxyRules => ({
  isTrusted: addressRanges(trusted),
  isOwn: (address) => own.has(address),
  trustedProxy: { ...trustedProxy, ...change },
});
/** Headers line by line, as they came. */
const from = (remoteAddress: string, ...lines: Array<[string, string]>) => ({
  headers: Object.fromEntries(lines.map(([name, value]) => [name.toLowerCase(), value])),
  rawHeaders: lines.flat(),
  socket: { remoteAddress },
});
const proof: [string, string] = ["x-auth-proof", "1"];
const alice: [string, string] = ["x-auth-user", " alice "];
const refused = (reason: string) => ({ kind: "refused", reason });

test("a listed proxy that fulfils everything vouches for the user, with the ceiling that is configured", () => {
  expect(checkProxy(from("10.0.0.2", proof, alice), rules())).toEqual({
    kind: "identity",
    identity: { user: "alice", scopesCeiling: ["operator.read"] },
  });
});

describe("its word is refused, in this order,", () => {
  test.each<[string, Parameters<typeof checkProxy>[0], ProxyRules, string]>([
    ["from a peer that is not listed", from("192.0.2.9"), rules(), "proxy_untrusted"],
    ["from loopback that is not listed", from("127.0.0.1", proof, alice), rules({ allowLoopback: true }, ["10.0.0.2"]), "proxy_untrusted"],
    ["from loopback that is listed and not allowed", from("127.0.0.1", proof, alice), rules(), "proxy_loopback_not_allowed"],
    ["from loopback in its mapped form", from("::ffff:127.0.0.1", proof, alice), rules(), "proxy_loopback_not_allowed"],
    ["from an address of this host", from("10.0.0.5", proof, alice), rules(), "proxy_own_address"],
    ["without a header that is required", from("10.0.0.2", alice), rules(), "proxy_header_missing"],
    ["with a blank one", from("10.0.0.2", ["x-auth-proof", "  "], alice), rules(), "proxy_header_missing"],
    ["without a user", from("10.0.0.2", proof), rules(), "proxy_user_missing"],
    ["with a blank user", from("10.0.0.2", proof, ["x-auth-user", " "]), rules(), "proxy_user_missing"],
    ["with two users", from("10.0.0.2", proof, alice, ["X-AUTH-USER", "mallory"]), rules(), "proxy_user_ambiguous"],
    ["with the same user twice", from("10.0.0.2", proof, alice, alice), rules(), "proxy_user_ambiguous"],
    ["with users that somebody joined", from("10.0.0.2", proof, ["x-auth-user", "mallory, alice"]), rules(), "proxy_user_ambiguous"],
    ["with a user who is not listed", from("10.0.0.2", proof, alice), rules({ allowUsers: ["bob"] }), "proxy_user_not_allowed"],
    ["with one in other letters", from("10.0.0.2", proof, alice), rules({ allowUsers: ["Alice"] }), "proxy_user_not_allowed"],
  ])("%s", (_, req, given, reason) => {
    expect(checkProxy(req, given)).toEqual(refused(reason));
  });
});

test("a proxy on this machine vouches once that is allowed and it is listed", () => {
  expect(checkProxy(from("127.0.0.1", proof, alice), rules({ allowLoopback: true }))).toMatchObject({ kind: "identity" });
});

test("listed users pass; mail addresses without regard to case", () => {
  const allowUsers = ["bob", "Carol@Example.com"];
  const judged = (user: string) => checkProxy(from("10.0.0.2", proof, ["x-auth-user", user]), rules({ allowUsers })).kind;
  expect([judged("bob"), judged("carol@example.COM"), judged("dave")]).toEqual(["identity", "identity", "refused"]);
});

test("a local caller is one on loopback whom nobody speaks for", () => {
  expect(checkProxy(from("127.0.0.1"), rules())).toEqual({ kind: "local" });
  expect(checkProxy(from("::1"), rules({ allowLoopback: true }))).toEqual({ kind: "local" });
  expect(checkProxy(from("127.0.0.1", ["x-forwarded-for", "127.0.0.1"]), rules())).toEqual(refused("proxy_loopback_not_allowed"));
});

test("what a refused caller reads names the key to look at, and the reason in machine form", () => {
  const error = proxyUnauthorized("proxy_untrusted");
  expect(error.message).toBe("unauthorized: the peer is not in gateway.trustedProxies");
  expect(error.details).toEqual({
    code: "AUTH_PROXY_UNTRUSTED",
    authReason: "proxy_untrusted",
    canRetryWithDeviceToken: false,
    recommendedNextStep: "review_auth_configuration",
  });
});

test.each([
  ["proxy_untrusted", "AUTH_PROXY_UNTRUSTED", "review_auth_configuration"],
  ["proxy_loopback_not_allowed", "AUTH_PROXY_LOOPBACK_NOT_ALLOWED", "review_auth_configuration"],
  ["proxy_own_address", "AUTH_PROXY_OWN_ADDRESS", "review_auth_configuration"],
  ["proxy_header_missing", "AUTH_PROXY_HEADER_MISSING", "review_auth_configuration"],
  ["proxy_user_missing", "AUTH_IDENTITY_HEADER_REQUIRED", "review_auth_configuration"],
  ["proxy_user_ambiguous", "AUTH_PROXY_USER_AMBIGUOUS", "review_auth_configuration"],
  ["proxy_user_not_allowed", "AUTH_PROXY_USER_NOT_ALLOWED", "update_auth_credentials"],
] as const)("%s is told as %s, next %s", (authReason, code, recommendedNextStep) => {
  expect(proxyUnauthorized(authReason).details).toMatchObject({ code, authReason, recommendedNextStep });
});
