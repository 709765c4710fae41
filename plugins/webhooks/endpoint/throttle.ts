import type { GatewayService } from "svc/sdk";

/** Limit of failed attempts of one address. Loopback is counted too: behind a local proxy everybody comes from there. */
const limits = { maxAttempts: 20, windowMs: 60_000, lockoutMs: 60_000 };

/** Failed authentication by client address; in memory, at most 10,000 addresses. */
export interface Throttle {
  /** Counts a bad attempt. `lockedMs`: it came during a lockout, which has this long to go. `hasLocked`: it began one. */
  fail(address: string): { lockedMs: number; hasLocked: boolean };
  /** A good credential always passes and clears the count. */
  succeed(address: string): void;
}

/** Creates the throttle of one endpoint. */
export function createThrottle(gateway: Pick<GatewayService, "limitAttempts">): Throttle {
  const limiter = gateway.limitAttempts(limits);
  return {
    fail(address) {
      const lockedMs = limiter.retryAfterMs(address);
      // A bad attempt during a lockout does not make it longer: whoever stops trying is free again after a minute.
      if (lockedMs > 0) return { lockedMs, hasLocked: false };
      limiter.fail(address);
      return { lockedMs: 0, hasLocked: limiter.retryAfterMs(address) > 0 };
    },
    succeed: (address) => limiter.succeed(address),
  };
}
