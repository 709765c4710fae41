import { setMaxListeners } from "node:events";
import { allScopes } from "../../sdk/internal/scopes.ts";
import type { Remote } from "../../sdk/types/http.ts";
import type { ProxyVerdict } from "./client-types.ts";
import { type Asked, createCredentialCheck, type Identify, type Passed, type Presentation } from "./credential-check.ts";
import { authorityEnded } from "./credential-errors.ts";
import type { Presented } from "./credentials.ts";
import type { FailureLimiter } from "./failure-limiter.ts";
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

/** Authentication with the failure limiter in front of it. */
export function createAuthenticator(auth: ResolvedAuth, limiter: FailureLimiter, identify?: Identify): Authenticator {
  const { mode } = auth;
  let valid = validate(auth);
  let tailnet = revocable("gateway policy changed");
  const checkSecrets = createCredentialCheck(limiter, () => valid, identify);
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
      return how.tailnet && mode !== "trusted-proxy" ? byName(how.tailnet, asked) : checkSecrets(asked);
    },
  };

  /** A name in the tailnet counts before credentials do. */
  async function byName(whoIs: NonNullable<Presentation["tailnet"]>, asked: Asked): Promise<Passed> {
    const { signal: standing } = tailnet;
    const identity = await whoIs();
    if (identity === undefined) return checkSecrets(asked);
    return { by: { via: "identity", ceiling: allScopes }, revoked: standing, known: { identity, scopes: allScopes } };
  }
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
