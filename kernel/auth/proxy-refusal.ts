import type { SvcError } from "../../sdk/errors.ts";
import { protocolErrors } from "../errors.ts";
import type { ProxyRefusal } from "./client-types.ts";
import { rateLimited } from "./credential-errors.ts";

const reasons: Record<ProxyRefusal, string> = {
  proxy_untrusted: "the peer is not in gateway.trustedProxies",
  proxy_loopback_not_allowed: "a proxy on this machine needs gateway.auth.trustedProxy.allowLoopback",
  proxy_own_address: "the peer has an address of this host, and no proxy runs here",
  proxy_header_missing: "a header of gateway.auth.trustedProxy.requiredHeaders is missing",
  proxy_user_missing: "the proxy named no user",
  proxy_user_ambiguous: "the proxy named more than one user",
  proxy_user_not_allowed: "this user is not in gateway.auth.trustedProxy.allowUsers",
};

/** Refuses a caller whose proxy, or lack of one, is the reason: `unauthorized` with the reason in machine-readable form. */
export function proxyUnauthorized(authReason: ProxyRefusal): SvcError {
  const details = authReason === "proxy_user_missing" ? "AUTH_IDENTITY_HEADER_REQUIRED" : `AUTH_${authReason.toUpperCase()}`;
  const fields = {
    reason: reasons[authReason],
    authReason,
    canRetryWithDeviceToken: false,
    recommendedNextStep: authReason === "proxy_user_not_allowed" ? "update_auth_credentials" : "review_auth_configuration",
  };
  return protocolErrors.unauthorized(fields, { details });
}

/** Forwarded headers from a peer that is not listed: refused before anybody looks at credentials. */
export function attributionRequired(): SvcError {
  return protocolErrors.proxyAttributionRequired({ authReason: "proxy_attribution_required" });
}

/** An HTTP request of a page that may not use the gateway. */
export function originUnauthorized(retryAfterMs: number): SvcError {
  if (retryAfterMs > 0) return rateLimited(retryAfterMs);
  return protocolErrors.unauthorized({ reason: "origin not allowed", authReason: "origin_not_allowed" });
}
