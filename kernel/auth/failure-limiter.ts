import { addressBucket } from "../../sdk/internal/addresses.ts";
import { backoffDelayMs } from "../../sdk/time.ts";
import type { AttemptLimiter, AttemptLimits } from "../../sdk/types/gateway.ts";

/** When wrong credentials lock an address out, and for how long. */
export interface RateLimitConfig extends AttemptLimits {
  exemptLoopback: boolean;
}

interface Entry {
  failures: number[];
  lockedUntil: number;
  /** When one of its credentials was last checked during the lockout, or the lockout began. */
  checkedAt: number;
}

const MAX_ENTRIES = 10_000;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 5_000;
/** Direct loopback has one attempt in this time while it is locked out. */
const LOCKED_ATTEMPT_MS = 1_000;
/** As many failures are remembered at least as the delay takes to grow to its end. */
const DELAYED_FAILURES = 6;

/** Kinds of credentials; failures of one say nothing about another. A shared secret that is checked as a device token, because secrets are locked out, counts as that. */
export type CredentialClass = "shared-secret" | "device-token" | "bootstrap";

/** Counts wrong credentials by address. Without a class the shared secret is meant. */
export interface FailureLimiter {
  /** Milliseconds until this address may try again; 0 when it may now. */
  retryAfterMs(address: string, directLoopback: boolean, kind?: CredentialClass): number;
  /**
   * Asks whether a credential may be checked now. During a lockout that is so once a second for direct loopback, and then uses up that attempt.
   * @returns 0, or the milliseconds until the lockout ends
   */
  attempt(address: string, directLoopback: boolean, kind?: CredentialClass): number;
  /** Counts a wrong credential, unless the address is locked out; returns how long the answer must be delayed (loopback only). */
  fail(address: string, directLoopback: boolean, kind?: CredentialClass): { delayMs: number };
  succeed(address: string, kind?: CredentialClass): void;
}

/**
 * Failed-authentication limiter: `maxAttempts` wrong credentials of one class in a sliding window lock an address out, also for the right one.
 * Failures of direct loopback are answered later and later; an operator there shares the address with every local process, so one attempt a second is
 * still checked during its lockout, and with `exemptLoopback` there is none. Bounded to 10,000 entries, the oldest that is not locked out first.
 * @param bucketOf which addresses count as one, such as an IPv6 /64
 */
export function createFailureLimiter(
  config: () => RateLimitConfig,
  now: () => number,
  bucketOf: (address: string) => string = (address) => address,
): FailureLimiter {
  const entries = new Map<string, Entry>();
  const keyOf = (address: string, kind: CredentialClass = "shared-secret") => `${kind}|${bucketOf(address)}`;
  const entryOf = (bucket: string): Entry => {
    const entry = entries.get(bucket) ?? { failures: [], lockedUntil: 0, checkedAt: 0 };
    entries.delete(bucket);
    entries.set(bucket, entry);
    if (entries.size > MAX_ENTRIES) entries.delete(oldestUnlocked(bucket) ?? (entries.keys().next().value as string));
    return entry;
  };
  /** A locked address is not forgotten because of many others: else its owner could wash the lock away. */
  const oldestUnlocked = (except: string): string | undefined => {
    for (const [bucket, entry] of entries) if (bucket !== except && entry.lockedUntil <= now()) return bucket;
    return undefined;
  };
  const retryAfterMs: FailureLimiter["retryAfterMs"] = (address, directLoopback, kind) => {
    if (entries.size === 0 || (directLoopback && config().exemptLoopback)) return 0;
    const entry = entries.get(keyOf(address, kind));
    return entry ? Math.max(0, entry.lockedUntil - now()) : 0;
  };
  return {
    retryAfterMs,
    attempt(address, directLoopback, kind) {
      const lockedMs = retryAfterMs(address, directLoopback, kind);
      if (lockedMs === 0 || !directLoopback) return lockedMs;
      const entry = entryOf(keyOf(address, kind));
      if (now() - entry.checkedAt < LOCKED_ATTEMPT_MS) return lockedMs;
      entry.checkedAt = now();
      return 0;
    },
    fail(address, directLoopback, kind) {
      if (retryAfterMs(address, directLoopback, kind) > 0) return { delayMs: 0 };
      const { maxAttempts, windowMs, lockoutMs, exemptLoopback } = config();
      const entry = entryOf(keyOf(address, kind));
      entry.failures = [...entry.failures.filter((t) => t > now() - windowMs), now()].slice(-Math.max(maxAttempts, DELAYED_FAILURES));
      if (entry.failures.length >= maxAttempts && !(directLoopback && exemptLoopback)) {
        entry.lockedUntil = now() + lockoutMs;
        entry.checkedAt = now();
      }
      return { delayMs: directLoopback ? backoffDelayMs(entry.failures.length, { firstMs: FIRST_DELAY_MS, maxMs: MAX_DELAY_MS }) : 0 };
    },
    succeed(address, kind) {
      if (entries.size > 0) entries.delete(keyOf(address, kind));
    },
  };
}

/** Limiter of a plugin's own: one class of credentials, loopback counts as any other address. */
export function createAttemptLimiter(limits: AttemptLimits, now: () => number): AttemptLimiter {
  const limiter = createFailureLimiter(() => ({ ...limits, exemptLoopback: false }), now, addressBucket);
  return {
    retryAfterMs: (address) => limiter.retryAfterMs(address, false),
    fail: (address) => void limiter.fail(address, false),
    succeed: (address) => limiter.succeed(address),
  };
}
