import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { ConnectParams } from "../../sdk/protocol/frames.ts";
import { createAuthenticator } from "./authenticator.ts";
import type { ProxyVerdict } from "./client-types.ts";
import { createDeviceClaim, type DeviceClaim } from "./devices/claim.ts";
import { createFailureLimiter } from "./failure-limiter.ts";
import type { ResolvedAuth } from "./resolve-auth.ts";

const time = { now: 0 };
const far = { address: "192.0.2.1", directLoopback: false };

function setup(auth: Partial<ResolvedAuth> = {}, maxAttempts = 10, identify?: Parameters<typeof createAuthenticator>[2]) {
  const limiter = createFailureLimiter(
    () => ({ maxAttempts, windowMs: 60_000, lockoutMs: 300_000, exemptLoopback: false }),
    () => time.now,
  );
  return createAuthenticator({ mode: "token", secret: "the secret", source: "config", ...auth }, limiter, identify);
}

describe("a token gateway", () => {
  test("takes its secret as token or as password; of both the field named like the mode counts", async () => {
    const auth = setup();
    await auth.check({ token: "the secret" }, far);
    await auth.check({ password: "the secret" }, far);
    await auth.check({ token: "the secret", password: "wrong" }, far);
    await expect(auth.check({ token: "wrong", password: "the secret" }, far)).rejects.toMatchObject({
      details: { code: "AUTH_TOKEN_MISMATCH" },
    });
  });

  test("lets its secret in at once, unless somebody is asked who the caller is; a refusal is waited for", async () => {
    expect(setup().check({ token: "the secret" }, far)).toMatchObject({ by: { via: "secret" } });
    const asking = setup({}, 10, async () => undefined).check({ token: "the secret" }, far);
    expect(asking).toBeInstanceOf(Promise);
    expect(await asking).toMatchObject({ by: { via: "secret" } });
    const refusal = setup().check({ token: "wrong" }, far);
    expect(refusal).toBeInstanceOf(Promise);
    await expect(refusal).rejects.toMatchObject({ code: "unauthorized" });
  });

  test.each([
    ["a beginning", "the secre"],
    ["a longer one", "the secret "],
    ["other letters", "The secret"],
    ["a NUL behind", "the secret\u0000"],
    ["its digest", createHash("sha256").update("the secret").digest("hex")],
    ["something very long", "x".repeat(100_000)],
  ])("refuses %s", async (_, token) => {
    await expect(setup().check({ token }, far)).rejects.toMatchObject({
      code: "unauthorized",
      message: "unauthorized: gateway token mismatch (provide gateway auth token)",
      details: {
        code: "AUTH_TOKEN_MISMATCH",
        authReason: "token_mismatch",
        canRetryWithDeviceToken: false,
        recommendedNextStep: "update_auth_credentials",
      },
    });
  });

  test.each([{}, { token: "" }, { token: undefined, password: "" }])(
    "says that nothing was sent for %j, and does not count it",
    async (sent) => {
      const auth = setup({}, 2);
      for (let i = 0; i < 5; i++) {
        await expect(auth.check(sent, far)).rejects.toMatchObject({
          message: "unauthorized: gateway token missing (provide gateway auth token)",
          details: { code: "AUTH_TOKEN_MISSING", authReason: "token_missing", recommendedNextStep: "update_auth_configuration" },
        });
      }
      await auth.check({ token: "the secret" }, far);
    },
  );
});

test("a password gateway speaks of passwords", async () => {
  const auth = setup({ mode: "password" });
  await auth.check({ password: "the secret", token: "wrong" }, far);
  await auth.check({ token: "the secret" }, far);
  await expect(auth.check({ password: "no" }, far)).rejects.toMatchObject({
    message: "unauthorized: gateway password mismatch (provide gateway auth password)",
    details: { code: "AUTH_PASSWORD_MISMATCH" },
  });
  await expect(auth.check({}, far)).rejects.toMatchObject({ details: { code: "AUTH_PASSWORD_MISSING" } });
});

test("the attempt after the last one allowed is refused with a retry time, also with the right secret", async () => {
  const auth = setup({}, 3);
  for (let i = 0; i < 3; i++) await expect(auth.check({ token: "wrong" }, far)).rejects.toMatchObject({ code: "unauthorized" });
  await expect(auth.check({ token: "the secret" }, far)).rejects.toMatchObject({
    code: "rate-limited",
    retryAfterMs: 300_000,
    message: "unauthorized: too many failed authentication attempts (retry later)",
    details: { code: "AUTH_RATE_LIMITED", authReason: "rate_limited", recommendedNextStep: "wait_then_retry" },
  });
  await auth.check({ token: "the secret" }, { address: "192.0.2.2", directLoopback: false });
});

test("many wrong secrets at the same moment are all counted before any is answered", async () => {
  const auth = setup({}, 5);
  const answers = await Promise.allSettled(Array.from({ length: 8 }, () => auth.check({ token: "wrong" }, far)));
  const codes = answers.map((a) => (a.status === "rejected" ? (a.reason as { code: string }).code : "in"));
  expect(codes).toEqual([...Array(5).fill("unauthorized"), ...Array(3).fill("rate-limited")]);
});

describe("a caller with a device", () => {
  const lockedOut = { code: "rate-limited", retryAfterMs: 300_000 };

  /** A device whose proof is wrong; counts how often its key and its record are looked at. */
  function countedDevice(presented: object): { device: DeviceClaim; looks: { key: number; record: number } } {
    const looks = { key: 0, record: 0 };
    const device = {
      id: "d",
      get publicKey() {
        looks.key += 1;
        return "";
      },
      ...{ signature: "", signedAt: 1, nonce: "n" },
    };
    const connect = { auth: presented, device } as unknown as ConnectParams;
    const find = async () => {
      looks.record += 1;
      return undefined;
    };
    return {
      device: createDeviceClaim(connect, { nonce: "n", now: 1, role: "operator", find, invited: () => undefined }) as DeviceClaim,
      looks,
    };
  }

  test.each([{ token: "wrong" }, { deviceToken: "wrong" }, { token: "wrong", deviceToken: "wrong" }])(
    "whose address is locked out for all of %j costs no check of its key and no read of its record",
    async (presented) => {
      const auth = setup({}, 1);
      const first = countedDevice(presented);
      await expect(auth.check(presented, far, first)).rejects.toMatchObject({ code: "unauthorized" });
      expect(first.looks.key).toBeGreaterThan(0);
      // A token that is not the secret may be one of the device: it is checked as that, and counted, before it is locked out, too.
      if (!("deviceToken" in presented))
        await expect(auth.check(presented, far, countedDevice(presented))).rejects.toMatchObject(lockedOut);

      const next = countedDevice(presented);
      await expect(auth.check(presented, far, next)).rejects.toMatchObject(lockedOut);

      expect(next.looks).toEqual({ key: 0, record: 0 });
    },
  );

  test("is judged by its token when only the secret is locked out, and by its secret when only the token is", async () => {
    const auth = setup({}, 1);
    await expect(auth.check({ token: "wrong" }, far)).rejects.toMatchObject({ code: "unauthorized" });
    const { device, looks } = countedDevice({});
    await expect(auth.check({ token: "wrong", deviceToken: "wrong" }, far, { device })).rejects.toMatchObject(lockedOut);
    expect(looks.key).toBeGreaterThan(0);

    const other = setup({}, 1);
    await expect(other.check({ deviceToken: "wrong" }, far, { device })).rejects.toMatchObject({ code: "unauthorized" });
    await other.check({ token: "the secret", deviceToken: "wrong" }, far, { device });
  });

  test("cannot pass the limit by many wrong secrets at the same moment, although its record is read before they are checked", async () => {
    const auth = setup({}, 5);
    const tries = Array.from({ length: 8 }, () => auth.check({ token: "wrong" }, far, countedDevice({})));
    const codes = (await Promise.allSettled(tries)).map((a) => (a.status === "rejected" ? (a.reason as { code: string }).code : "in"));
    expect(codes).toEqual([...Array(5).fill("unauthorized"), ...Array(3).fill("rate-limited")]);
  });
});

describe("on a loopback that is locked out", () => {
  const near = { address: "127.0.0.1", directLoopback: true };
  const locked = { code: "rate-limited", details: { code: "AUTH_RATE_LIMITED" } };
  async function lockedOut(identify?: Parameters<typeof createAuthenticator>[2]) {
    const auth = setup({}, 1, identify);
    await expect(auth.check({ token: "wrong" }, near)).rejects.toMatchObject({ code: "unauthorized" });
    return auth;
  }

  test("the right secret opens once a second, and ends the lockout", async () => {
    const auth = await lockedOut();
    await expect(auth.check({ token: "the secret" }, near)).rejects.toMatchObject({ ...locked, retryAfterMs: 300_000 });
    time.now += 1_000;
    await auth.check({ token: "the secret" }, near);
    await auth.check({ token: "the secret" }, near);
  });

  test("a wrong secret is answered alike whether or not it was looked at, and a missing one takes nobody's turn", async () => {
    const auth = await lockedOut();
    time.now += 1_000;
    for (let i = 0; i < 3; i++) await expect(auth.check({}, near)).rejects.toMatchObject(locked);
    for (let i = 0; i < 3; i++)
      await expect(auth.check({ token: "wrong" }, near)).rejects.toMatchObject({ ...locked, retryAfterMs: 299_000 });
    await expect(auth.check({ token: "the secret" }, near)).rejects.toMatchObject(locked);
    time.now += 1_000;
    await auth.check({ token: "the secret" }, near);
  });

  test("who is known by other means is asked for once a second too", async () => {
    const asked: unknown[] = [];
    const auth = await lockedOut(async ({ token }) => {
      asked.push(token);
      return token === "a friend" ? { identity: "ada", scopes: [] } : undefined;
    });
    await expect(auth.check({ token: "a friend" }, near)).rejects.toMatchObject(locked);
    time.now += 1_000;
    expect(await auth.check({ token: "a friend" }, near)).toMatchObject({ known: { identity: "ada" } });
    expect(asked).toEqual(["wrong", "a friend"]);
  });

  test("many wrong secrets at the same moment are counted although somebody is asked about each of them first", async () => {
    const auth = setup({}, 5, async () => undefined);
    const answers = await Promise.allSettled(Array.from({ length: 8 }, () => auth.check({ token: "wrong" }, far)));
    const codes = answers.map((a) => (a.status === "rejected" ? (a.reason as { code: string }).code : "in"));
    expect(codes).toEqual([...Array(5).fill("unauthorized"), ...Array(3).fill("rate-limited")]);
  });
});

test("mode none asks for nothing; a mode without a secret lets nobody in", async () => {
  await setup({ mode: "none", secret: undefined }).check({}, far);
  await expect(setup({ secret: undefined }).check({ token: "undefined" }, far)).rejects.toMatchObject({ code: "unauthorized" });
  await expect(setup({ secret: undefined }).check({ token: "" }, far)).rejects.toMatchObject({ code: "unauthorized" });
});

describe("a rotated secret", () => {
  const next: ResolvedAuth = { mode: "token", secret: "the next one", source: "config" };

  test("opens at once, the old one no more, and who used the old one is told", async () => {
    const auth = setup();
    const { revoked: signal } = await auth.check({ token: "the secret" }, far);
    auth.rotate(next);
    expect(signal?.aborted).toBe(true);
    expect(signal?.reason).toMatchObject({
      code: "unauthorized",
      message: "unauthorized: gateway auth changed",
      details: { code: "AUTH_CHANGED" },
    });
    await expect(auth.check({ token: "the secret" }, far)).rejects.toMatchObject({ code: "unauthorized" });
    expect((await auth.check({ token: "the next one" }, far)).revoked?.aborted).toBe(false);
  });

  test("that is the same as before tells nobody", async () => {
    const auth = setup();
    const { revoked: signal } = await auth.check({ token: "the secret" }, far);
    auth.rotate({ ...next, secret: "the secret" });
    expect(signal?.aborted).toBe(false);
  });

  test("forgets no failed attempt", async () => {
    const auth = setup({}, 2);
    await expect(auth.check({ token: "wrong" }, far)).rejects.toMatchObject({ code: "unauthorized" });
    auth.rotate(next);
    await expect(auth.check({ token: "wrong" }, far)).rejects.toMatchObject({ code: "unauthorized" });
    await expect(auth.check({ token: "the next one" }, far)).rejects.toMatchObject({ code: "rate-limited" });
  });
});

describe("changed rules for proxies", () => {
  const proxy: ProxyVerdict = { kind: "identity", identity: { user: "ada", scopesCeiling: ["operator.read"] } };

  test("end what let a proxy's users in, and nobody else", async () => {
    const auth = setup({ mode: "trusted-proxy" });
    auth.rotate({ mode: "trusted-proxy", secret: "the secret", source: "config" }, "rules at the start");
    const local = await auth.check({ password: "the secret" }, far, { proxy: { kind: "local" } });
    const user = await auth.check({}, far, { proxy });
    expect(user).toMatchObject({ by: { via: "proxy", ceiling: ["operator.read"] }, known: { identity: "ada" } });
    expect(user.revoked).toBe(auth.proxyRules);

    auth.rotate({ mode: "trusted-proxy", secret: "the secret", source: "config" }, "other rules");

    expect(user.revoked?.reason).toMatchObject({ message: "unauthorized: gateway policy changed" });
    expect(local.revoked?.aborted).toBe(false);
    expect(auth.proxyRules.aborted).toBe(false);
  });

  test("that are the same as before end nothing", async () => {
    const auth = setup({ mode: "trusted-proxy" });
    const same: ResolvedAuth = { mode: "trusted-proxy", secret: undefined, source: "none" };
    auth.rotate(same, "rules");
    const { revoked } = await auth.check({}, far, { proxy });
    auth.rotate(same, "rules");
    expect(revoked?.aborted).toBe(false);
  });
});
