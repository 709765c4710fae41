import { createHash } from "node:crypto";
import type { Clock } from "svc/sdk";

const MAX_ENTRIES = 1_000;

/** Outcome of a search that may serve again: what was found, or that nothing was. */
export type Kept = { note: string | undefined };

/** Outcomes of the last searches, by agent, session and question: as many as fit, each for a time. */
export class NoteCache {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #entries = new Map<string, Kept & { until: number }>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  get(key: string): Kept | undefined {
    const entry = this.#entries.get(key);
    if (entry && entry.until > this.#clock.monotonic()) return { note: entry.note };
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, { note }: Kept, ttlMs: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, { note, until: this.#clock.monotonic() + ttlMs });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES) break;
      this.#entries.delete(oldest);
    }
  }

  clear(): void {
    this.#entries.clear();
  }

  get size(): number {
    return this.#entries.size;
  }
}

/** Key of a question; the transcript is part of it, so that `/new` begins anew. */
export function cacheKey({
  agentId,
  sessionKey,
  sessionId = "",
  query,
}: {
  agentId: string;
  sessionKey: string;
  sessionId?: string | undefined;
  query: string;
}): string {
  return JSON.stringify([agentId, sessionKey, sessionId, sha1(query)]);
}

export function sha1(text: string): string {
  return createHash("sha1").update(text).digest("hex");
}
