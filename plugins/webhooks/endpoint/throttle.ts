import { addressBucket, createFailureLimiter } from "svc/sdk/internal";

/** Limit of failed attempts of one address. Loopback is counted too: behind a local proxy everybody comes from there. */
const rules = { maxAttempts: 20, windowMs: 60_000, lockoutMs: 60_000, exemptLoopback: false };

/** Failed authentication by client address; in memory, at most 10,000 addresses. */
export interface Throttle {
  /** Counts a bad attempt. `lockedMs`: it came during a lockout, which has this long to go. `hasLocked`: it began one. */
  fail(address: string): { lockedMs: number; hasLocked: boolean };
  /** A good credential always passes and clears the count. */
  succeed(address: string): void;
}

/** @param monotonic milliseconds; the wall clock would let a lockout end or last by a jump */
export function createThrottle(monotonic: () => number): Throttle {
  const limiter = createFailureLimiter(() => rules, monotonic, addressBucket);
  return {
    fail(address) {
      const lockedMs = limiter.retryAfterMs(address, false);
      // A bad attempt during a lockout does not make it longer: whoever stops trying is free again after a minute.
      if (lockedMs > 0) return { lockedMs, hasLocked: false };
      limiter.fail(address, false);
      return { lockedMs: 0, hasLocked: limiter.retryAfterMs(address, false) > 0 };
    },
    succeed: (address) => limiter.succeed(address),
  };
}
