import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { SvcError } from "../../sdk/errors.ts";
import type { FailureLimiter } from "../../sdk/gateway/failure-limiter.ts";
import { createSecretCheck, type ResolvedAuth } from "../../sdk/host/secrets.ts";
import type { Remote } from "../../sdk/types/http.ts";
import "../errors.ts";

export interface Authenticator {
  readonly mode: ResolvedAuth["mode"];
  /** Where the secret in force came from. */
  readonly source: ResolvedAuth["source"];
  /**
   * Asks who may know the caller (`auth.identify`), else checks the shared secret. The signal aborts once the secret in force is revoked.
   * @throws {SvcError} `unauthorized` (fields `authReason`, `authCode`), `rate-limited` with `retryAfterMs`
   */
  check(presented: Presented, remote: Remote, transport?: "ws" | "http"): Promise<Passed>;
  /** Only this secret opens from now on; everybody let in by another one is told at once. The mode stays. */
  rotate(next: ResolvedAuth): void;
}

export interface Presented {
  token?: string | undefined;
  password?: string | undefined;
}

/** A caller who was let in; `known` when a plugin said who it is. */
export interface Passed {
  revoked: AbortSignal;
  known?: { identity: string; scopes: readonly string[] };
}

/** Undefined at once when there is nobody to ask. */
type Identify = (credentials: Presented, transport: "ws" | "http", remote: Remote) => Promise<Passed["known"]> | undefined;

/** Authentication with the failure limiter in front of it. */
export function createAuthenticator(auth: ResolvedAuth, limiter: FailureLimiter, identify?: Identify): Authenticator {
  const { mode } = auth;
  let valid = validate(auth);
  const checkLimit = (remote: Remote) => {
    const retryAfterMs = limiter.retryAfterMs(remote.address, remote.directLoopback);
    if (retryAfterMs > 0) throw rateLimited(retryAfterMs);
  };
  return {
    mode,
    get source() {
      return valid.source;
    },
    rotate(next) {
      if (next.secret === valid.secret) return;
      const old = valid;
      valid = validate(next);
      old.revoke();
    },
    async check(presented, remote, transport = "http") {
      const { signal, matches } = valid;
      if (mode === "none") return { revoked: signal };
      checkLimit(remote);
      const asked = identify?.(presented, transport, remote);
      if (asked) {
        const known = await asked;
        if (known) return { revoked: signal, known };
        checkLimit(remote); // others were counted meanwhile
      }
      const candidate = mode === "token" ? (presented.token ?? presented.password) : (presented.password ?? presented.token);
      if (candidate === undefined || candidate === "") throw unauthorized(mode, "missing");
      if (matches(candidate)) {
        limiter.succeed(remote.address);
        return { revoked: signal };
      }
      const { delayMs } = limiter.fail(remote.address, remote.directLoopback);
      if (delayMs > 0) await sleep(delayMs);
      throw unauthorized(mode, "mismatch");
    },
  };
}

function validate({ secret, source }: ResolvedAuth) {
  const revoked = new AbortController();
  setMaxListeners(0, revoked.signal); // one listener for each socket that is open
  const matches = secret === undefined ? () => false : createSecretCheck(secret);
  return { secret, source, matches, signal: revoked.signal, revoke: () => revoked.abort(revocation()) };
}

/** What a request or a socket ends with whose secret was revoked meanwhile (`security.md` A-08). */
function revocation(): SvcError {
  const reason = "gateway auth changed";
  const fields = { reason, authReason: "auth_changed", canRetryWithDeviceToken: false, recommendedNextStep: "update_auth_credentials" };
  return new SvcError("unauthorized", fields, { details: "AUTH_CHANGED" });
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
