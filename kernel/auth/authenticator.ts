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
   * A caller with the shared secret is let in at once; whoever is refused waits for it.
   * @throws {SvcError} by rejecting: `unauthorized` (fields `authReason`, `authCode`), `rate-limited` with `retryAfterMs`
   */
  check(presented: Presented, remote: Remote, how?: Presentation): Passed | Promise<Passed>;
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
    check(presented, remote, how = {}) {
      if (mode === "none") return { by: { via: "secret" }, revoked: valid.signal };
      const vouched = how.proxy && byProxy(how.proxy);
      if (vouched) return vouched;
      const asked = { mode, presented, remote, how };
      return how.tailnet && mode !== "trusted-proxy" ? byName(how.tailnet, asked) : byCredentials(asked);
    },
  };

  /** A name in the tailnet counts before credentials do. */
  async function byName(whoIs: NonNullable<Presentation["tailnet"]>, asked: Asked): Promise<Passed> {
    const { signal: standing } = tailnet;
    const identity = await whoIs();
    if (identity === undefined) return byCredentials(asked);
    return { by: { via: "identity", ceiling: allScopes }, revoked: standing, known: { identity, scopes: allScopes } };
  }

  function byCredentials({ mode, presented, remote, how: { transport = "http", device } }: Asked): Passed | Promise<Passed> {
    const attempt = createAttempt(limiter, remote);
    const { token, password } = presented;
    const isLocked = attempt.waitMs("shared-secret", Boolean(token || password)) > 0;
    const asking = isLocked ? undefined : identify?.({ token, password }, transport, remote);
    // A shared secret is known at once: most requests have one, and a promise costs more than its check.
    const claim = { mode, presented, device, attempt, remote };
    return asking || device ? afterQuestions(claim, asking) : judged(claim);
  }

  async function afterQuestions(claim: Claim, asking: ReturnType<Identify>): Promise<Passed> {
    const { mode, presented, device, attempt } = claim;
    const { signal } = valid;
    const known = asking && (await asking);
    if (known) return { by: { via: "identity", ceiling: known.scopes }, revoked: signal, known };
    if (device) {
      // A caller who is locked out costs no signature check and no read of the store.
      const lockout = lockoutRefusal({ mode, presented, claim: device, waitMs: attempt.waitMs });
      if (lockout) throw lockout;
      // Before the check, which is one synchronous step: simultaneous attempts cannot pass a limit together.
      await device.load();
    }
    return judged(claim);
  }

  function judged({ mode, presented, device, attempt, remote: { address, directLoopback } }: Claim): Passed | Promise<Passed> {
    const { matches, secret } = valid;
    const { waitMs } = attempt;
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
    return refused(Math.max(0, ...delays), () =>
      // During a lockout nothing tells a guess that was checked from one that was not.
      verdict.wrong.length > 0 && attempt.lockedMs() > 0 ? rateLimited(attempt.lockedMs()) : verdict.error,
    );
  }
}

async function refused(delayMs: number, reason: () => unknown): Promise<never> {
  if (delayMs > 0) await sleep(delayMs);
  throw reason();
}

/** What one caller presents, where a secret is asked for. */
interface Asked {
  mode: Exclude<ResolvedAuth["mode"], "none">;
  presented: Presented;
  remote: Remote;
  how: Presentation;
}

/** Credentials of one caller, and its tries. */
interface Claim {
  mode: Exclude<ResolvedAuth["mode"], "none">;
  presented: Presented;
  device: DeviceClaim | undefined;
  attempt: ReturnType<typeof createAttempt>;
  remote: Remote;
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
