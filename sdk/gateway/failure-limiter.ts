export interface RateLimitConfig {
  maxAttempts: number;
  windowMs: number;
  lockoutMs: number;
  exemptLoopback: boolean;
}

interface Entry {
  failures: number[];
  lockedUntil: number;
}

const MAX_ENTRIES = 10_000;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 5_000;
/** As many failures are remembered at least as the delay takes to grow to its end. */
const DELAYED_FAILURES = 6;

export interface FailureLimiter {
  /** Milliseconds until this address may try again; 0 when it may now. */
  retryAfterMs(address: string, directLoopback: boolean): number;
  /** Counts a wrong credential; returns how long the answer must be delayed (loopback only). */
  fail(address: string, directLoopback: boolean): { delayMs: number };
  succeed(address: string): void;
}

/**
 * Failed-authentication limiter: `maxAttempts` wrong credentials in a sliding window lock an address out, also for the right one.
 * Direct loopback is never locked; its failures are answered later and later instead. Bounded to 10,000 addresses, the oldest that is not locked out first.
 * @param bucketOf which addresses count as one, such as an IPv6 /64
 */
export function createFailureLimiter(
  config: () => RateLimitConfig,
  now: () => number,
  bucketOf: (address: string) => string = (address) => address,
): FailureLimiter {
  const entries = new Map<string, Entry>();
  const entryOf = (bucket: string): Entry => {
    const entry = entries.get(bucket) ?? { failures: [], lockedUntil: 0 };
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
  return {
    retryAfterMs(address, directLoopback) {
      if (entries.size === 0 || (directLoopback && config().exemptLoopback)) return 0;
      const entry = entries.get(bucketOf(address));
      return entry ? Math.max(0, entry.lockedUntil - now()) : 0;
    },
    fail(address, directLoopback) {
      const { maxAttempts, windowMs, lockoutMs, exemptLoopback } = config();
      const entry = entryOf(bucketOf(address));
      entry.failures = [...entry.failures.filter((t) => t > now() - windowMs), now()].slice(-Math.max(maxAttempts, DELAYED_FAILURES));
      if (directLoopback && exemptLoopback) {
        return { delayMs: Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (entry.failures.length - 1)) };
      }
      if (entry.failures.length >= maxAttempts) entry.lockedUntil = now() + lockoutMs;
      return { delayMs: 0 };
    },
    succeed(address) {
      if (entries.size > 0) entries.delete(bucketOf(address));
    },
  };
}
