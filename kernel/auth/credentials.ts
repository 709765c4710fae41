import { commonErrors, isSvcError, type SvcError } from "../../sdk/errors.ts";
import type { ConnectParams } from "../../sdk/protocol/frames.ts";
import type { OperatorScope } from "../../sdk/types/rpc.ts";
import { bootstrapRefusal, deviceTokenRefusal, rateLimited, secretRefusal } from "./credential-errors.ts";
import type { DeviceClaim, TokenVerdict } from "./devices/claim.ts";
import type { CredentialClass } from "./failure-limiter.ts";
import { proxyUnauthorized } from "./proxy-refusal.ts";
import type { AuthMode } from "./resolve-auth.ts";

/** Credentials as they were sent; an empty one counts as none. */
export type Presented = { [Field in keyof NonNullable<ConnectParams["auth"]>]?: string | undefined };

export interface CredentialQuestion {
  mode: Exclude<AuthMode, "none">;
  presented: Presented;
  /** Is there a shared secret at all? */
  hasSecret: boolean;
  /** In constant time. */
  matches(secret: string): boolean;
  /** The device that shows a token; without its proof a token opens nothing. */
  claim: DeviceClaim | undefined;
  /**
   * How long the address is locked out for a class; 0 = a credential of it may be checked.
   * @param isSent false: there is none to check, so that no attempt is used up
   */
  waitMs(kind: CredentialClass, isSent: boolean): number;
}

/** Let in, or refused after the wrong ones were counted. */
export type CredentialVerdict =
  | { passed: "secret" }
  | { passed: "device-token"; token: string; entry: Extract<TokenVerdict, { verdict: "valid" }>["entry"] }
  | { passed: "invitation"; token: string; scopes: readonly OperatorScope[] }
  | { passed?: undefined; wrong: CredentialClass[]; error: SvcError };

/**
 * Checks the shared secret first, then the device token, and an invitation where neither was sent. Everything a client presented is checked in one synchronous step, so that simultaneous
 * attempts cannot pass a limit together.
 */
export function checkCredentials(question: CredentialQuestion): CredentialVerdict {
  const { mode, presented, matches, hasSecret, waitMs } = question;
  const sent = sentOf(question);
  const { claim, token, secret, locked } = sent;
  const lockout = refusalOfLocked(question, sent);
  if (lockout) return refused(lockout);
  if (mode === "trusted-proxy" && !hasSecret) return refused(proxyUnauthorized("proxy_user_missing"));

  if (secret !== undefined && locked.secret === 0 && matches(secret)) return { passed: "secret" };
  const judged = token !== undefined && locked.token === 0 ? claim?.judge(token) : undefined;
  if (token !== undefined && judged?.verdict === "valid") return { passed: "device-token", token, entry: judged.entry };
  const invitation = secret === undefined && !presented.deviceToken ? presented.bootstrapToken || undefined : undefined;
  const invitationMs = invitation === undefined ? 0 : waitMs("bootstrap", true);
  const scopes = invitation !== undefined && invitationMs === 0 ? claim?.invited(invitation) : undefined;
  if (invitation !== undefined && scopes) return { passed: "invitation", token: invitation, scopes };
  return refusalOf({ ...question, claim, secret, locked, judged, invitationMs });
}

/** Credentials and lockouts that decide before anything is known about the device. */
type LockoutQuestion = Pick<CredentialQuestion, "mode" | "presented" | "claim" | "waitMs">;

/** Error for a caller of whose credentials none may be checked now; undefined when one may. Asks nothing about the device. */
export function lockoutRefusal(question: LockoutQuestion): SvcError | undefined {
  return refusalOfLocked(question, sentOf(question));
}

function sentOf({ mode, presented, claim: device, waitMs }: LockoutQuestion) {
  // Where proxies name the callers, a device token would be a way around them.
  const claim = mode === "trusted-proxy" ? undefined : device;
  const token = presented.deviceToken || (claim && presented.token) || undefined;
  const [first, second] = mode === "token" ? [presented.token, presented.password] : [presented.password, presented.token];
  const secret = (first ?? second) || undefined;
  const locked = { secret: waitMs("shared-secret", secret !== undefined), token: waitMs("device-token", token !== undefined) };
  return { claim, token, secret, locked };
}

function refusalOfLocked({ presented }: LockoutQuestion, { token, secret, locked }: ReturnType<typeof sentOf>): SvcError | undefined {
  const isSecretLeft = locked.secret === 0 && (secret !== undefined || !presented.deviceToken);
  const isTokenLeft = locked.token === 0 && token !== undefined;
  return isSecretLeft || isTokenLeft ? undefined : rateLimited(Math.max(locked.secret, locked.token));
}

interface Failed extends CredentialQuestion {
  secret: string | undefined;
  locked: { secret: number; token: number };
  judged: TokenVerdict | undefined;
  /** How long invitations are locked out. */
  invitationMs: number;
}

function refusalOf({ mode, presented, claim, secret, locked, judged, invitationMs }: Failed): CredentialVerdict {
  const wrong: CredentialClass[] = secret !== undefined && locked.secret === 0 ? ["shared-secret"] : [];
  const isTokenSent = Boolean(presented.deviceToken);
  if (isTokenSent && judged?.verdict === "unavailable") return refused(unavailable(judged.reason), wrong);
  // One that was not sent as a device token was checked as nothing else while the secret is locked out.
  const isCheckedAsToken = isTokenSent || (locked.secret > 0 && judged !== undefined && judged.verdict !== "unavailable");
  if (isCheckedAsToken && locked.token === 0) wrong.push("device-token");
  if (locked.secret > 0 || (isTokenSent && locked.token > 0)) return refused(rateLimited(Math.max(locked.secret, locked.token)), wrong);
  const isPaired = claim?.isPaired() === true;
  if (isTokenSent || judged?.verdict === "revoked") return refused(deviceTokenRefusal(isPaired), wrong);
  if (secret !== undefined) return refused(secretRefusal(mode, "mismatch", isPaired), wrong);
  if (!presented.bootstrapToken) return refused(secretRefusal(mode, "missing", isPaired), wrong);
  return invitationMs > 0 ? refused(rateLimited(invitationMs)) : refused(bootstrapRefusal(mode), ["bootstrap"]);
}

/** Error for a token that nobody can judge now. Its sender is unknown: an error from behind the service, such as one with the path of a database, is not passed on. */
function unavailable(reason: unknown): SvcError {
  const isMissing = isSvcError(reason) && reason.code === "service-unavailable" && reason.fields.service === "devices@1";
  return isMissing ? reason : commonErrors.serviceUnavailable({ service: "devices@1" });
}

function refused(error: SvcError, wrong: CredentialClass[] = []): CredentialVerdict {
  return { error, wrong };
}
