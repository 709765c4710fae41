import { setTimeout as sleep } from "node:timers/promises";
import { SvcError } from "../../sdk/errors.ts";
import type { FailureLimiter } from "../../sdk/failure-limiter.ts";
import { createSecretCheck, type ResolvedAuth } from "../../sdk/host/secrets.ts";
import type { Remote } from "../../sdk/types/http.ts";
import "../errors.ts";

export interface Authenticator {
  readonly mode: ResolvedAuth["mode"];
  /**
   * Checks a shared secret of a caller.
   * @throws {SvcError} `unauthorized` (fields `authReason`, `authCode`), `rate-limited` with `retryAfterMs`
   */
  check(presented: { token?: string | undefined; password?: string | undefined }, remote: Remote): Promise<void>;
}

/** Shared-secret authentication with the failure limiter in front of it. */
export function createAuthenticator(auth: ResolvedAuth, limiter: FailureLimiter): Authenticator {
  const matches = auth.secret === undefined ? () => false : createSecretCheck(auth.secret);
  return {
    mode: auth.mode,
    async check(presented, remote) {
      if (auth.mode === "none") return;
      const retryAfterMs = limiter.retryAfterMs(remote.address, remote.directLoopback);
      if (retryAfterMs > 0) throw rateLimited(retryAfterMs);
      const { mode } = auth;
      const candidate = mode === "token" ? (presented.token ?? presented.password) : (presented.password ?? presented.token);
      if (candidate === undefined || candidate === "") throw unauthorized(mode, "missing");
      if (matches(candidate)) {
        limiter.succeed(remote.address);
        return;
      }
      const { delayMs } = limiter.fail(remote.address, remote.directLoopback);
      if (delayMs > 0) await sleep(delayMs);
      throw unauthorized(mode, "mismatch");
    },
  };
}

function rateLimited(retryAfterMs: number): SvcError {
  const fields = { authReason: "rate_limited", canRetryWithDeviceToken: false, recommendedNextStep: "wait_then_retry" };
  return new SvcError("rate-limited", fields, { retryAfterMs });
}

function unauthorized(mode: "token" | "password", what: "missing" | "mismatch"): SvcError {
  const reason =
    mode === "token" ? `gateway token ${what} (provide gateway auth token)` : `gateway password ${what} (provide gateway auth password)`;
  const fields = {
    reason,
    authReason: `${mode}_${what}`,
    canRetryWithDeviceToken: false,
    recommendedNextStep: what === "missing" ? "update_auth_configuration" : "update_auth_credentials",
  };
  return new SvcError("unauthorized", fields, { details: `AUTH_${mode.toUpperCase()}_${what.toUpperCase()}` });
}
