import type { Clock } from "svc/sdk";

/** Failures in a row after which searches pause, and for how long. */
export const FAILURES = 3;
export const PAUSE_MS = 60_000;

/** Keeps a search that fails again and again from delaying every answer of an agent. */
export class Breakers {
  readonly #clock: Pick<Clock, "monotonic">;
  /** By agent: there are as many as the config names. */
  readonly #states = new Map<string, { failures: number; until: number; reason: string }>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  isOpen(agentId: string): boolean {
    return (this.#states.get(agentId)?.until ?? 0) > this.#clock.monotonic();
  }

  succeeded(agentId: string): void {
    this.#states.delete(agentId);
  }

  /** The first failure after a pause begins the next one. @returns true when a pause begins */
  failed(agentId: string, reason: string): boolean {
    const failures = (this.#states.get(agentId)?.failures ?? 0) + 1;
    const pauses = failures >= FAILURES;
    this.#states.set(agentId, { failures, until: pauses ? this.#clock.monotonic() + PAUSE_MS : 0, reason });
    return pauses;
  }

  /** Agents whose searches pause, with the reasons of their last failures. */
  paused(): Map<string, string> {
    return new Map([...this.#states].flatMap(([agentId, { reason }]) => (this.isOpen(agentId) ? [[agentId, reason] as const] : [])));
  }

  clear(): void {
    this.#states.clear();
  }
}
