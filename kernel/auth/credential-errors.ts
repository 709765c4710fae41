import type { SvcError } from "../../sdk/errors.ts";
import { protocolErrors } from "../errors.ts";
import type { AuthMode } from "./resolve-auth.ts";

/** Next steps a client can take after a refusal. */
type NextStep =
  | "retry_with_device_token"
  | "update_auth_configuration"
  | "update_auth_credentials"
  | "wait_then_retry"
  | "review_auth_configuration";

interface Advice {
  details: string;
  authReason: string;
  nextStep: NextStep;
  canRetryWithDeviceToken?: boolean;
}

/** The shared secret is missing or wrong. `canRetryWithDeviceToken`: a paired device proved itself and sent no device token. */
export function secretRefusal(mode: AuthMode, what: "missing" | "mismatch", canRetryWithDeviceToken: boolean): SvcError {
  const name = secretName(mode);
  const otherwise = what === "missing" ? "update_auth_configuration" : "update_auth_credentials";
  return refusal(`gateway ${name} ${what} (provide gateway auth ${name})`, {
    details: `AUTH_${name.toUpperCase()}_${what.toUpperCase()}`,
    authReason: `${name}_${what}`,
    nextStep: canRetryWithDeviceToken ? "retry_with_device_token" : otherwise,
    canRetryWithDeviceToken,
  });
}

/** A device token that opens nothing. `isKnown`: the device itself is paired. */
export function deviceTokenRefusal(isKnown: boolean): SvcError {
  return refusal("device token mismatch (connect with the gateway secret to get a new one)", {
    details: "AUTH_DEVICE_TOKEN_MISMATCH",
    authReason: isKnown ? "device_token_mismatch" : "device_unknown",
    nextStep: "update_auth_credentials",
  });
}

/** A device token that does not hold what is asked for. */
export function deviceScopeRefusal(): SvcError {
  return refusal("device token scope mismatch (ask for fewer scopes, or connect with the gateway secret)", {
    details: "AUTH_SCOPE_MISMATCH",
    authReason: "scope_mismatch",
    nextStep: "review_auth_configuration",
  });
}

export function bootstrapRefusal(mode: AuthMode): SvcError {
  return refusal(`bootstrap token mismatch (provide gateway auth ${secretName(mode)})`, {
    details: "AUTH_BOOTSTRAP_TOKEN_MISMATCH",
    authReason: "bootstrap_token_mismatch",
    nextStep: "update_auth_credentials",
  });
}

/** An invitation that another device was faster with, or that has ended since it was checked. */
export function invitationEnded(): SvcError {
  return refusal("bootstrap token mismatch (the invitation has ended; ask for another one)", {
    details: "AUTH_BOOTSTRAP_TOKEN_MISMATCH",
    authReason: "bootstrap_token_mismatch",
    nextStep: "update_auth_credentials",
  });
}

/** Error that ends a request or a socket whose authority ended meanwhile; its text goes into the close frame. */
export function authorityEnded(reason: "gateway auth changed" | "gateway policy changed"): SvcError {
  return refusal(reason, { details: "AUTH_CHANGED", authReason: "auth_changed", nextStep: "update_auth_credentials" });
}

export function rateLimited(retryAfterMs: number): SvcError {
  const fields = { authReason: "rate_limited", canRetryWithDeviceToken: false, recommendedNextStep: "wait_then_retry" };
  return protocolErrors.rateLimited(fields, { retryAfterMs });
}

function refusal(reason: string, { details, authReason, nextStep, canRetryWithDeviceToken = false }: Advice): SvcError {
  return protocolErrors.unauthorized({ reason, authReason, canRetryWithDeviceToken, recommendedNextStep: nextStep }, { details });
}

/** Word for the shared secret of a mode; under `trusted-proxy` it is the password of local callers. */
function secretName(mode: AuthMode): "token" | "password" {
  return mode === "token" ? "token" : "password";
}
