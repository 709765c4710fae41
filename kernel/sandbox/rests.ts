/** After so many ends within a minute that nobody asked for, what ended rests for a minute. */
const MAX_CRASHES = 5;
const WINDOW_MS = 60_000;
const REST_MS = 60_000;
/** Names of calls that ended the guest, remembered at the same time. */
const MAX_NAMES = 1_000;

/** Holder of the blame for the ends of a guest: all its calls together, or each name that was called at the time. */
export type RestScope = "guest" | "call";

/** Backoff that keeps a guest from being restarted over and over again. */
export interface Rests {
  /** An end that nobody asked for, while these calls were under way. */
  count(names: readonly string[]): void;
  /** Returns how long a call of this name has to wait for a new guest, and why; undefined: not at all. */
  of(name: string): { crashes: number; leftMs: number } | undefined;
}

/** An end without any call is put down to all. */
const ALL = "";

/** @param options.now monotonic milliseconds */
export function createRests({ scope, now }: { scope: RestScope; now(): number }): Rests {
  const records = new Map<string, { crashes: number[]; restsUntil: number }>();
  const forgetOld = () => {
    for (const [name, { crashes, restsUntil }] of records) {
      if (restsUntil <= now() && now() - (crashes.at(-1) ?? 0) >= WINDOW_MS) records.delete(name);
    }
    while (records.size > MAX_NAMES) records.delete(records.keys().next().value as string);
  };
  const countOne = (name: string) => {
    const { crashes: before = [], restsUntil = 0 } = records.get(name) ?? {};
    const crashes = [...before.filter((at) => now() - at < WINDOW_MS), now()];
    records.delete(name);
    records.set(name, { crashes, restsUntil: crashes.length >= MAX_CRASHES ? now() + REST_MS : restsUntil });
    forgetOld();
  };
  const restOf = (name: string) => {
    const record = records.get(name);
    if (!record) return undefined;
    const leftMs = record.restsUntil - now();
    return leftMs > 0 ? { crashes: record.crashes.length, leftMs } : undefined;
  };
  return {
    count(names) {
      for (const name of scope === "guest" || names.length === 0 ? [ALL] : new Set(names)) countOne(name);
    },
    of: (name) => restOf(ALL) ?? (scope === "call" ? restOf(name) : undefined),
  };
}
