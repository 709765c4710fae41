import type { ModelFault } from "svc/sdk";

/** How long a provider rests after its first, second, … failure in a row. */
const STEPS_MS = [30_000, 60_000, 300_000, 1_500_000, 3_600_000] as const;
const MAX_ENTRIES = 256;

/** Providers that failed and rest for a while. Bounded: the oldest entry goes first. */
export class Cooldown {
  readonly #entries = new Map<string, { until: number; step: number; fault: ModelFault }>();
  readonly #now: () => number;

  /** @param now monotonic milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  failed(id: string, fault: ModelFault): void {
    const step = (this.#entries.get(id)?.step ?? -1) + 1;
    const restMs = STEPS_MS[Math.min(step, STEPS_MS.length - 1)] ?? 0;
    this.#entries.delete(id);
    this.#entries.set(id, { until: this.#now() + restMs, step, fault });
    const oldest = this.#entries.keys().next().value;
    if (this.#entries.size > MAX_ENTRIES && oldest !== undefined) this.#entries.delete(oldest);
  }

  succeeded(id: string): void {
    this.#entries.delete(id);
  }

  rests(id: string): boolean {
    return (this.#entries.get(id)?.until ?? 0) > this.#now();
  }

  /** What the last turn of a provider failed by, until one succeeds. */
  lastFault(id: string): ModelFault | undefined {
    return this.#entries.get(id)?.fault;
  }
}
