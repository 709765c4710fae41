import { describe, expect, test } from "vitest";
import { commonErrors } from "../../sdk/errors.ts";
import { type CredentialQuestion, type CredentialVerdict, checkCredentials } from "./credentials.ts";
import type { DeviceClaim, TokenVerdict } from "./devices/claim.ts";
import type { CredentialClass } from "./failure-limiter.ts";

const entry = { role: "operator", scopes: ["operator.read"], hash: "h", createdAtMs: 1 } as const;

/** A device whose only token is `own`. */
function deviceWith(own: TokenVerdict["verdict"] = "valid", isPaired = true): DeviceClaim {
  return {
    prove: () => "d",
    load: async () => undefined,
    isPaired: () => isPaired,
    invited: (token) => (token === "invitation" ? ["operator.read"] : undefined),
    judge(token) {
      if (token !== "own") return { verdict: own === "unavailable" || own === "stranger" ? own : "unknown" };
      return own === "valid" ? { verdict: own, entry: { ...entry, scopes: ["operator.read"] } } : { verdict: own };
    },
  };
}

function judge(presented: CredentialQuestion["presented"], change: Partial<CredentialQuestion> & { locked?: CredentialClass[] } = {}) {
  const { locked = [], ...rest } = change;
  return checkCredentials({
    ...{ mode: "token", presented, hasSecret: true, matches: (text) => text === "secret", claim: undefined },
    waitMs: (kind) => (locked.includes(kind) ? 9_000 : 0),
    ...rest,
  });
}

const told = (verdict: CredentialVerdict) =>
  verdict.passed ?? [verdict.error.details?.code ?? verdict.error.code, verdict.error.details?.authReason, ...verdict.wrong];

describe("a device token opens", () => {
  test.each([
    ["as deviceToken", { deviceToken: "own" }],
    ["as token", { token: "own" }],
    ["beside a secret that is no longer right", { token: "old", deviceToken: "own" }],
  ])("%s, with the proof of its device", (_, presented) => {
    expect(judge(presented, { claim: deviceWith() })).toMatchObject({ passed: "device-token", token: "own", entry });
    expect(judge(presented).passed).toBeUndefined();
  });

  test("where a password is the secret too, and not where proxies name the callers", () => {
    expect(judge({ deviceToken: "own" }, { mode: "password", claim: deviceWith() }).passed).toBe("device-token");
    expect(told(judge({ deviceToken: "own" }, { mode: "trusted-proxy", claim: deviceWith() }))).toEqual([
      "AUTH_DEVICE_TOKEN_MISMATCH",
      "device_unknown",
      "device-token",
    ]);
  });

  test("nothing beside the right secret: that one is looked at first", () => {
    expect(told(judge({ token: "secret", deviceToken: "stale" }, { claim: deviceWith() }))).toBe("secret");
  });
});

describe("an invitation opens", () => {
  const invited = { bootstrapToken: "invitation" };

  test("with the proof of its device, and tells what that may have at most", () => {
    const claim = deviceWith("stranger", false);
    expect(judge(invited, { claim })).toEqual({ passed: "invitation", token: "invitation", scopes: ["operator.read"] });
    expect(told(judge(invited))).toEqual(["AUTH_BOOTSTRAP_TOKEN_MISMATCH", "bootstrap_token_mismatch", "bootstrap"]);
  });

  test.each([
    ["beside a wrong secret, which is counted", { ...invited, token: "guess" }, {}],
    ["beside a device token that opens nothing", { ...invited, deviceToken: "stale" }, {}],
    ["while its class is locked out", invited, { locked: ["bootstrap"] as CredentialClass[] }],
    ["where proxies name the callers", invited, { mode: "trusted-proxy" as const }],
  ])("nothing %s", (_, presented, change) => {
    expect(judge(presented, { claim: deviceWith("unknown", false), ...change }).passed).toBeUndefined();
  });
});

describe("what is wrong is told and counted, each in its class", () => {
  test.each<[string, CredentialQuestion["presented"], DeviceClaim | undefined, unknown[]]>([
    ["nothing sent", {}, undefined, ["AUTH_TOKEN_MISSING", "token_missing"]],
    ["empty ones sent", { token: "", deviceToken: "" }, undefined, ["AUTH_TOKEN_MISSING", "token_missing"]],
    ["a wrong secret", { token: "x" }, undefined, ["AUTH_TOKEN_MISMATCH", "token_mismatch", "shared-secret"]],
    [
      "a device token without a device",
      { deviceToken: "own" },
      undefined,
      ["AUTH_DEVICE_TOKEN_MISMATCH", "device_unknown", "device-token"],
    ],
    ["a wrong device token", { deviceToken: "x" }, deviceWith(), ["AUTH_DEVICE_TOKEN_MISMATCH", "device_token_mismatch", "device-token"]],
    [
      "the device token of another device",
      { deviceToken: "own" },
      deviceWith("stranger", false),
      ["AUTH_DEVICE_TOKEN_MISMATCH", "device_unknown", "device-token"],
    ],
    [
      "a revoked one as deviceToken",
      { deviceToken: "own" },
      deviceWith("revoked"),
      ["AUTH_DEVICE_TOKEN_MISMATCH", "device_token_mismatch", "device-token"],
    ],
    [
      "a revoked one as token",
      { token: "own" },
      deviceWith("revoked"),
      ["AUTH_DEVICE_TOKEN_MISMATCH", "device_token_mismatch", "shared-secret"],
    ],
    [
      "both wrong: a guess at the secret counts whatever stands beside it",
      { token: "x", deviceToken: "y" },
      deviceWith(),
      ["AUTH_DEVICE_TOKEN_MISMATCH", "device_token_mismatch", "shared-secret", "device-token"],
    ],
    ["a device token that nobody can judge", { deviceToken: "own" }, deviceWith("unavailable"), ["service-unavailable", undefined]],
    [
      "the same beside a wrong secret",
      { token: "x", deviceToken: "own" },
      deviceWith("unavailable"),
      ["service-unavailable", undefined, "shared-secret"],
    ],
    ["a bootstrap token", { bootstrapToken: "x" }, undefined, ["AUTH_BOOTSTRAP_TOKEN_MISMATCH", "bootstrap_token_mismatch", "bootstrap"]],
  ])("%s", (_, presented, claim, expected) => {
    expect(told(judge(presented, { claim }))).toEqual(expected);
  });

  test("a device token that nobody can judge: what is missing, never why", () => {
    const why = ': plugin "store" is not running: start-failed: /home/somebody/state.sqlite cannot be opened';
    const unavailable = (reason: unknown) => ({ ...deviceWith(), judge: () => ({ verdict: "unavailable", reason }) as const });
    const messageOf = (reason: unknown) => {
      const { error } = judge({ deviceToken: "own" }, { claim: unavailable(reason) }) as { error: Error };
      return error.message;
    };
    const behind = messageOf(commonErrors.serviceUnavailable({ service: "store@2", why }));
    expect(behind).toBe('service "devices@1" is not available; see svc plugins list');
    expect(messageOf(new Error("/home/somebody"))).toBe(behind);
    expect(messageOf(commonErrors.serviceUnavailable({ service: "devices@1", why: ': plugin "devices" is failed' }))).toContain(
      "is failed",
    );
  });

  test.each([{ token: "x" }, {}])("a paired device that sent no device token is advised to: %j", (presented) => {
    const canRetry = { canRetryWithDeviceToken: true, recommendedNextStep: "retry_with_device_token" };
    expect(judge(presented, { claim: deviceWith() })).toMatchObject({ error: { details: canRetry } });
    expect(judge(presented, { claim: deviceWith("stranger", false) })).toMatchObject({
      error: { details: { canRetryWithDeviceToken: false } },
    });
  });
});

describe("an address that is locked out", () => {
  const limited = ["AUTH_RATE_LIMITED", "rate_limited"];
  test.each<[string, CredentialQuestion["presented"], CredentialClass[], unknown]>([
    ["for the secret is refused with the right one", { token: "secret" }, ["shared-secret"], limited],
    ["for the secret is refused with nothing", {}, ["shared-secret"], limited],
    ["for the secret gets in by its device token", { deviceToken: "own" }, ["shared-secret"], "device-token"],
    ["for device tokens gets in by the secret", { token: "secret", deviceToken: "own" }, ["device-token"], "secret"],
    ["for device tokens is refused with the right one", { deviceToken: "own" }, ["device-token"], limited],
    ["for device tokens has a wrong secret counted", { token: "x", deviceToken: "own" }, ["device-token"], [...limited, "shared-secret"]],
    [
      "for the secret has a wrong device token counted",
      { token: "secret", deviceToken: "x" },
      ["shared-secret"],
      [...limited, "device-token"],
    ],
    ["for the secret has one that is no device token either counted", { token: "x" }, ["shared-secret"], [...limited, "device-token"]],
    ["for the secret gets in by its device token sent as token", { token: "own" }, ["shared-secret"], "device-token"],
    ["for bootstrap tokens is refused with one", { bootstrapToken: "x" }, ["bootstrap"], limited],
    ["for bootstrap tokens gets in by the secret", { token: "secret" }, ["bootstrap"], "secret"],
  ])("%s", (_, presented, locked, expected) => {
    expect(
      told(judge(presented, { locked, claim: presented.deviceToken || /own|x/.test(presented.token ?? "") ? deviceWith() : undefined })),
    ).toEqual(expected);
  });
});

test.each([
  ["token", {}, "gateway token missing (provide gateway auth token)"],
  ["token", { bootstrapToken: "x" }, "bootstrap token mismatch (provide gateway auth token)"],
  ["password", {}, "gateway password missing (provide gateway auth password)"],
  ["password", { token: "x" }, "gateway password mismatch (provide gateway auth password)"],
  ["password", { bootstrapToken: "x" }, "bootstrap token mismatch (provide gateway auth password)"],
] as const)("in mode %s the refusal of %j names the secret of the mode", (mode, presented, reason) => {
  expect(judge(presented, { mode })).toMatchObject({ error: { message: `unauthorized: ${reason}` } });
});

describe("mode trusted-proxy", () => {
  test("lets a local caller in by the password", () => {
    expect(told(judge({ password: "secret" }, { mode: "trusted-proxy" }))).toBe("secret");
    expect(told(judge({ password: "x" }, { mode: "trusted-proxy" }))).toEqual([
      "AUTH_PASSWORD_MISMATCH",
      "password_mismatch",
      "shared-secret",
    ]);
  });

  test("without a password wants a proxy's word", () => {
    const verdict = judge({ password: "x" }, { mode: "trusted-proxy", hasSecret: false });
    expect(told(verdict)).toEqual(["AUTH_IDENTITY_HEADER_REQUIRED", "proxy_user_missing"]);
  });
});
