import type { Clock } from "svc/sdk";

/** Vectors of queries asked a moment ago. */
export interface QueryCache {
  get(text: string): Float32Array | undefined;
  set(text: string, vector: Float32Array): void;
}

const MAX_ENTRIES = 256;
const KEPT_MS = 300_000;

/** In memory only; the least recently used goes first. */
export function createQueryCache(clock: Pick<Clock, "monotonic">): QueryCache {
  const entries = new Map<string, { vector: Float32Array; untilMs: number }>();
  return {
    get(text) {
      const entry = entries.get(text);
      if (!entry) return undefined;
      entries.delete(text);
      if (clock.monotonic() >= entry.untilMs) return undefined;
      entries.set(text, entry);
      return entry.vector;
    },
    set(text, vector) {
      entries.delete(text);
      for (const oldest of entries.keys()) {
        if (entries.size < MAX_ENTRIES) break;
        entries.delete(oldest);
      }
      entries.set(text, { vector, untilMs: clock.monotonic() + KEPT_MS });
    },
  };
}
