import { type Circuit, createCircuit } from "./circuit.ts";
import { createEmbedCalls, type EmbedCalls } from "./embed-calls.ts";
import type { OpenedProvider, ProviderHost } from "./open-provider.ts";
import { createQueryCache, type QueryCache } from "./query-cache.ts";

/** A provider with what has to be known to go on using it. */
export interface HeldProvider {
  opened: OpenedProvider;
  calls: EmbedCalls;
  circuit: Circuit;
  queries: QueryCache;
  /** A query goes on by itself until the model is loaded. */
  isWarming: boolean;
  /** It stands in for this adapter, and why. */
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
