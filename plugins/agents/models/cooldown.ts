import type { ModelFault } from "svc/sdk";

/** Cooldown of a provider after its first, second, … consecutive failure. */
const STEPS_MS = [30_000, 60_000, 300_000, 1_500_000, 3_600_000] as const;
const MAX_ENTRIES = 256;

/** Reason and end of a provider's cooldown. */
export interface Rest {
  fault: ModelFault;
  /** As the failed turn said it; no secret is in it. */
  reason: string;
  /** Monotonic milliseconds. */
  until: number;
}

/** Faults of one model; the others of its provider may be fine. */
const ofOneModel: ReadonlySet<ModelFault> = new Set(["overloaded", "network", "timeout", "model_not_found"]);

/** Names what rests after a fault: the provider with its key, or one model of it. */
export function restingId({ provider, model }: { provider: string; model: string }, fault: ModelFault): string {
  return ofOneModel.has(fault) ? modelId(provider, model) : provider;
}

function modelId(provider: string, model: string): string {
  return `${provider}/${model}`;
}

/** Providers, and single models of them, that failed and rest for a while. Bounded: the oldest entry goes first. */
export class Cooldown {
  readonly #entries = new Map<string, Rest & { step: number }>();
  readonly #answeredAt = new Map<string, number>();
  readonly #now: () => number;
  readonly #onChange: () => void;

  /**
   * @param now monotonic milliseconds
   * @param onChange called when something begins to rest, or rests no more before its time
   */
  constructor(now: () => number, onChange: () => void = () => undefined) {
    this.#now = now;
    this.#onChange = onChange;
  }

  failed(id: string, fault: ModelFault, reason: string = fault): void {
    const step = (this.#entries.get(id)?.step ?? -1) + 1;
    const restMs = STEPS_MS[Math.min(step, STEPS_MS.length - 1)] ?? 0;
    this.#entries.delete(id);
    this.#entries.set(id, { until: this.#now() + restMs, step, fault, reason });
    const oldest = this.#entries.keys().next().value;
    if (this.#entries.size > MAX_ENTRIES && oldest !== undefined) this.#entries.delete(oldest);
    this.#onChange();
  }

  /** Ends the rest of a provider that was registered anew, with another key, address or setting. */
  forget(id: string): void {
    for (const key of [...this.#entries.keys()]) if (key === id || key.startsWith(`${id}/`)) this.#entries.delete(key);
    this.#answeredAt.delete(id);
  }

  succeeded(id: string, model = ""): void {
    const rested = [id, modelId(id, model)].filter((key) => this.#entries.delete(key));
    this.#answeredAt.delete(id);
    this.#answeredAt.set(id, this.#now());
    const oldest = this.#answeredAt.keys().next().value;
    if (this.#answeredAt.size > MAX_ENTRIES && oldest !== undefined) this.#answeredAt.delete(oldest);
    if (rested.length > 0) this.#onChange();
  }

  /** The rest of a provider, or of one model of it, that is not over yet; without a model that of any. */
  restOf(id: string, model?: string): Rest | undefined {
    const isMeant = (key: string) => key === id || (model === undefined ? key.startsWith(`${id}/`) : key === modelId(id, model));
    return [...this.#entries].find(([key, { until }]) => isMeant(key) && until > this.#now())?.[1];
  }

  /** When a provider last answered a turn, in monotonic milliseconds. */
  answeredAt(id: string): number | undefined {
    return this.#answeredAt.get(id);
  }

  rests(id: string, model?: string): boolean {
    return this.restOf(id, model) !== undefined;
  }

  /** Fault of a provider's last turn, until one succeeds. */
  lastFault(id: string): ModelFault | undefined {
    return this.#entries.get(id)?.fault;
  }
}
