import { setTimeout as sleep } from "node:timers/promises";
import type { Remote } from "../../sdk/types/http.ts";
import type { ProxyVerdict } from "./client-types.ts";
import { rateLimited } from "./credential-errors.ts";
import { checkCredentials, lockoutRefusal, type Presented } from "./credentials.ts";
import type { PassedBy } from "./devices/admission.ts";
import type { DeviceClaim } from "./devices/claim.ts";
import type { CredentialClass, FailureLimiter } from "./failure-limiter.ts";
import type { ResolvedAuth } from "./resolve-auth.ts";

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

/** Credentials of one caller, where a secret is asked for. */
export interface Asked {
  mode: Exclude<ResolvedAuth["mode"], "none">;
  presented: Presented;
  remote: Remote;
  how: Presentation;
}

/** Undefined at once when there is nobody to ask. */
export type Identify = (
  credentials: Pick<Presented, "token" | "password">,
  transport: "ws" | "http",
  remote: Remote,
) => Promise<Passed["known"]> | undefined;

/** Secret in force, and the signal that ends with it. */
interface Secret {
  secret: string | undefined;
  matches: Parameters<typeof checkCredentials>[0]["matches"];
  signal: AbortSignal;
}

/** Credentials of one caller, and its tries. */
interface Claim {
  mode: Exclude<ResolvedAuth["mode"], "none">;
  presented: Presented;
  device: DeviceClaim | undefined;
  attempt: ReturnType<typeof createAttempt>;
  remote: Remote;
}

/**
 * Checks callers' credentials, with the failure limiter in front: whoever knows them is asked first (`auth.identify`), then the shared secret and the token of a
 * device count.
 * @param valid the secret in force
 */
export function createCredentialCheck(
  limiter: FailureLimiter,
  valid: () => Secret,
  identify: Identify | undefined,
): (asked: Asked) => Passed | Promise<Passed> {
  return function check({ mode, presented, remote, how: { transport = "http", device } }: Asked): Passed | Promise<Passed> {
    const attempt = createAttempt(limiter, remote);
    const { token, password } = presented;
    const isLocked = attempt.waitMs("shared-secret", Boolean(token || password)) > 0;
    const asking = isLocked ? undefined : identify?.({ token, password }, transport, remote);
    // A shared secret is known at once: most requests have one, and a promise costs more than its check.
    const claim = { mode, presented, device, attempt, remote };
    return asking || device ? afterQuestions(claim, asking) : judged(claim);
  };

  async function afterQuestions(claim: Claim, asking: ReturnType<Identify>): Promise<Passed> {
    const { mode, presented, device, attempt } = claim;
    const { signal } = valid();
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
    const { matches, secret, signal } = valid();
    const { waitMs } = attempt;
    const verdict = checkCredentials({ mode, presented, claim: device, waitMs, matches, hasSecret: secret !== undefined });
    if (verdict.passed === "secret") {
      limiter.succeed(address);
      return { by: { via: "secret" }, revoked: signal };
    }
    if (verdict.passed === "device-token") {
      limiter.succeed(address, "device-token");
      return { by: { via: "device-token", token: verdict.token } };
    }
    if (verdict.passed === "invitation") {
      limiter.succeed(address, "bootstrap");
      return { by: { via: "invitation", token: verdict.token, ceiling: verdict.scopes } };
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
