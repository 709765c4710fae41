import { resultContent } from "../runs/transcript.ts";
import type { OwnCall } from "./own-calls.ts";

/** Result of a call as a model gets it. */
export interface RecordedResult {
  text: string;
  isError?: true;
}

/** Results that the tools of a run gave, by name and arguments; the order of members does not matter. */
export class RecordedCalls {
  readonly #results = new Map<string, RecordedResult[]>();

  constructor(calls: readonly OwnCall[]) {
    for (const { name, args, result } of calls) {
      if (!result) continue;
      const key = keyOf(name, args);
      const given = { text: resultContent(result.content, new Set()).text, ...(result.isError ? { isError: true as const } : {}) };
      this.#results.set(key, [...(this.#results.get(key) ?? []), given]);
    }
  }

  /** In the order in which they came; the last one again when the call is made more often. */
  take(name: string, args: unknown): RecordedResult | undefined {
    const queue = this.#results.get(keyOf(name, args));
    return queue && queue.length > 1 ? queue.shift() : queue?.[0];
  }
}

function keyOf(name: string, args: unknown): string {
  return JSON.stringify([name, sorted(args, 0)]);
}

const MAX_DEPTH = 64;

function sorted(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null || depth >= MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((member) => sorted(member, depth + 1));
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member, depth + 1)]));
}
