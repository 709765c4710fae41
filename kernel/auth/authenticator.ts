import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { allScopes } from "../../sdk/internal/scopes.ts";
import type { Remote } from "../../sdk/types/http.ts";
import type { ProxyVerdict } from "./client-types.ts";
import { authorityEnded, rateLimited } from "./credential-errors.ts";
import { checkCredentials, lockoutRefusal, type Presented } from "./credentials.ts";
import type { PassedBy } from "./devices/admission.ts";
import type { DeviceClaim } from "./devices/claim.ts";
import type { CredentialClass, FailureLimiter } from "./failure-limiter.ts";
import { proxyUnauthorized } from "./proxy-refusal.ts";
import { createSecretCheck, type ResolvedAuth } from "./resolve-auth.ts";

export interface Authenticator {
  readonly mode: ResolvedAuth["mode"];
  /** Source of the secret in force. */
  readonly source: ResolvedAuth["source"];
  /** Aborts when the rules for proxies change. */
  readonly proxyRules: AbortSignal;
  /**
   * Takes a trusted proxy's word, asks who may know the caller (`auth.identify`), else checks the shared secret, then the token of a device.
   * @throws {SvcError} `unauthorized` (fields `authReason`, `authCode`), `rate-limited` with `retryAfterMs`
   */
  check(presented: Presented, remote: Remote, how?: Presentation): Promise<Passed>;
  /** Only this secret opens from now on; everybody let in by another one, under other rules for proxies, or by a name in a tailnet that does not count any more, is told at once. The mode stays. */
  rotate(next: ResolvedAuth, proxyRules?: string, isTailnetAllowed?: boolean): void;
}

/** Facts about a caller besides its credentials. */
export interface Presentation {
  /** Default `http`. */
  transport?: "ws" | "http";
  /** In mode `trusted-proxy`. */
  proxy?: ProxyVerdict | undefined;
  /** Finds out whom a tailnet knows behind the caller. */
  tailnet?: (() => Promise<string | undefined>) | undefined;
  /** Tokens of devices open only together with the device's proof. */
  device?: DeviceClaim | undefined;
}

/** A caller who was let in; `known` when a plugin, a trusted proxy or a tailnet said who it is. `revoked` aborts when what let it in does so no longer. */
export interface Passed {
  by: PassedBy;
  revoked?: AbortSignal;
  known?: { identity: string; scopes: readonly string[] };
}

/** Undefined at once when there is nobody to ask. */
type Identify = (
  credentials: Pick<Presented, "token" | "password">,
  transport: "ws" | "http",
  remote: Remote,
) => Promise<Passed["known"]> | undefined;

/** Authentication with the failure limiter in front of it. */
export function createAuthenticator(auth: ResolvedAuth, limiter: FailureLimiter, identify?: Identify): Authenticator {
  const { mode } = auth;
  let valid = validate(auth);
  let tailnet = revocable("gateway policy changed");
  let proxies = { rules: undefined as string | undefined, ...revocable("gateway policy changed") };

  const byProxy = (proxy: ProxyVerdict): Passed | undefined => {
    if (proxy.kind === "refused") throw proxyUnauthorized(proxy.reason);
    if (proxy.kind === "local") return undefined;
    const { user, scopesCeiling } = proxy.identity;
    return { by: { via: "proxy", ceiling: scopesCeiling }, revoked: proxies.signal, known: { identity: user, scopes: scopesCeiling } };
  };
  return {
    mode,
    get source() {
      return valid.source;
    },
    get proxyRules() {
      return proxies.signal;
    },
    rotate(next, rules, isTailnetAllowed = true) {
      if (!isTailnetAllowed) {
        tailnet.revoke();
        tailnet = revocable("gateway policy changed");
      }
      const old = { valid, proxies };
      if (next.secret !== undefined && next.secret !== valid.secret) valid = validate(next);
      if (rules !== proxies.rules) proxies = { rules, ...revocable("gateway policy changed") };
      if (valid !== old.valid) old.valid.revoke();
      if (proxies !== old.proxies && old.proxies.rules !== undefined) old.proxies.revoke();
    },
    async check(presented, remote, { transport = "http", proxy, device, tailnet: whoIs } = {}) {
      if (mode === "none") return { by: { via: "secret" }, revoked: valid.signal };
      const vouched = proxy && byProxy(proxy);
      if (vouched) return vouched;
      const { signal: standing } = tailnet;
      const identity = mode === "trusted-proxy" ? undefined : await whoIs?.();
      if (identity !== undefined) {
        return { by: { via: "identity", ceiling: allScopes }, revoked: standing, known: { identity, scopes: allScopes } };
      }
      const { address, directLoopback } = remote;
      const { signal } = valid;
      const attempt = createAttempt(limiter, remote);
      const { token, password } = presented;
      const isLocked = attempt.waitMs("shared-secret", Boolean(token || password)) > 0;
      const asking = isLocked ? undefined : identify?.({ token, password }, transport, remote);
      const known = asking && (await asking);
      if (known) return { by: { via: "identity", ceiling: known.scopes }, revoked: signal, known };
      const { waitMs } = attempt;
      if (device) {
        // A caller who is locked out costs no signature check and no read of the store.
        const lockout = lockoutRefusal({ mode, presented, claim: device, waitMs });
        if (lockout) throw lockout;
        // Before the check, which is one synchronous step: simultaneous attempts cannot pass a limit together.
        await device.load();
      }
      const { matches, secret } = valid;
      const verdict = checkCredentials({ mode, presented, claim: device, waitMs, matches, hasSecret: secret !== undefined });
      if (verdict.passed === "secret") {
        limiter.succeed(address);
        return { by: { via: "secret" }, revoked: valid.signal };
      }
      if (verdict.passed === "device-token") {
        limiter.succeed(address, "device-token");
        return { by: { via: "device-token", token: verdict.token } };
      }
      // Counted before anybody is answered.
      const delays = verdict.wrong.map((kind) => limiter.fail(address, directLoopback, kind).delayMs);
      if (delays.some((ms) => ms > 0)) await sleep(Math.max(...delays));
      // During a lockout nothing tells a guess that was checked from one that was not.
      throw verdict.wrong.length > 0 && attempt.lockedMs() > 0 ? rateLimited(attempt.lockedMs()) : verdict.error;
    },
  };
}

/** Asks the limiter for each class of credentials; of a lockout one caller uses up one attempt at most. */
function createAttempt(limiter: FailureLimiter, { address, directLoopback }: Remote) {
  const used = new Set<CredentialClass>();
  let lockedMs = 0;
  return {
    waitMs(kind: CredentialClass, isSent: boolean): number {
      const locked = limiter.retryAfterMs(address, directLoopback, kind);
      if (!isSent || locked === 0) return locked;
      const wait = used.has(kind) ? 0 : limiter.attempt(address, directLoopback, kind);
      if (wait > 0) return wait;
      used.add(kind);
      lockedMs = Math.max(lockedMs, locked);
      return 0;
    },
    /** Time that is left of a lockout in which a credential was checked all the same. */
    lockedMs: () => lockedMs,
  };
}

function validate({ secret, source }: ResolvedAuth) {
  const matches = secret === undefined ? () => false : createSecretCheck(secret);
  return { secret, source, matches, ...revocable("gateway auth changed") };
}

function revocable(reason: Parameters<typeof authorityEnded>[0]) {
  const revoked = new AbortController();
  setMaxListeners(0, revoked.signal); // one listener for each socket that is open
  return { signal: revoked.signal, revoke: () => revoked.abort(authorityEnded(reason)) };
}
