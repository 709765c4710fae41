/** Unexpected ends within a minute after which no new guest is started for a minute. */
const MAX_CRASHES = 5;
const WINDOW_MS = 60_000;
const BACKOFF_MS = 60_000;
/** Names of calls that ended the guest, remembered at the same time. */
const MAX_NAMES = 1_000;

/** Calls that a backoff applies to: all of a guest, or those of each name that was called when it ended. */
export type BackoffScope = "guest" | "call";

/** Backoff that keeps a guest from being restarted over and over again. */
export interface GuestBackoff {
  /** An end that nobody asked for, while these calls were under way. */
  count(names: readonly string[]): void;
  /** Returns how long a call of this name has to wait for a new guest, and why; undefined: not at all. */
  of(name: string): { crashes: number; leftMs: number } | undefined;
}

/** An end without any call is put down to all. */
const ALL = "";

/** @param options.now monotonic milliseconds */
export function createGuestBackoff({ scope, now }: { scope: BackoffScope; now(): number }): GuestBackoff {
  const records = new Map<string, { crashes: number[]; backoffUntil: number }>();
  const forgetOld = () => {
    for (const [name, { crashes, backoffUntil }] of records) {
      if (backoffUntil <= now() && now() - (crashes.at(-1) ?? 0) >= WINDOW_MS) records.delete(name);
    }
    while (records.size > MAX_NAMES) records.delete(records.keys().next().value as string);
  };
  const countOne = (name: string) => {
    const { crashes: before = [], backoffUntil = 0 } = records.get(name) ?? {};
    const crashes = [...before.filter((at) => now() - at < WINDOW_MS), now()];
    records.delete(name);
    records.set(name, { crashes, backoffUntil: crashes.length >= MAX_CRASHES ? now() + BACKOFF_MS : backoffUntil });
    forgetOld();
  };
  const backoffOf = (name: string) => {
    const record = records.get(name);
    if (!record) return undefined;
    const leftMs = record.backoffUntil - now();
    return leftMs > 0 ? { crashes: record.crashes.length, leftMs } : undefined;
  };
  return {
    count(names) {
      for (const name of scope === "guest" || names.length === 0 ? [ALL] : new Set(names)) countOne(name);
    },
    of: (name) => backoffOf(ALL) ?? (scope === "call" ? backoffOf(name) : undefined),
  };
}
