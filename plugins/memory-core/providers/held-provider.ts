import type { Clock } from "svc/sdk";
import { type Circuit, createCircuit } from "./circuit.ts";
import { createEmbedCalls, type EmbedCalls } from "./embed-calls.ts";
import type { OpenedProvider, ProviderHost } from "./open-provider.ts";

/** A provider with what has to be known to go on using it. */
export interface HeldProvider {
  opened: OpenedProvider;
  calls: EmbedCalls;
  circuit: Circuit;
  queries: QueryCache;
  /** A query goes on by itself until the model is loaded. */
  isWarming: boolean;
  /** Adapter it stands in for, and why. */
  fallback?: { from: string; reason: string };
}

export function holdProvider(
  host: Pick<ProviderHost, "timers" | "clock">,
  opened: OpenedProvider,
  fallback?: HeldProvider["fallback"],
): HeldProvider {
  const { clock } = host;
  const held = {
    isWarming: false,
    opened,
    calls: createEmbedCalls(host, opened),
    circuit: createCircuit(clock),
    queries: createQueryCache(clock),
  };
  return { ...held, ...(fallback ? { fallback } : {}) };
}

/** Vectors of queries asked a moment ago. */
interface QueryCache {
  get(text: string): Float32Array | undefined;
  set(text: string, vector: Float32Array): void;
}

const MAX_ENTRIES = 256;
const KEPT_MS = 300_000;

/** In memory only; the least recently used goes first. */
function createQueryCache(clock: Pick<Clock, "monotonic">): QueryCache {
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
