/** Longest life of an answer, counted from its end. */
const KEPT_MS = 300_000;
const MAX_KEPT = 1_000;

interface Entry {
  answer: Promise<unknown>;
  /** Monotonic time; undefined while the work goes on. */
  endedAt: number | undefined;
}

/**
 * Answers by key for as long as this process lives (`protocol.md` 6): a repeat waits for the first, or gets what it got. What was refused is not
 * kept, so the mended request is carried out. Work that goes on is never forgotten; of what has ended, the newest 1,000 are kept for 300 s.
 */
export class Replays {
  readonly #monotonic: () => number;
  readonly #entries = new Map<string, Entry>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** @param key undefined: nothing to repeat, the work is done */
  async run<T>(key: string | undefined, work: () => Promise<T>): Promise<T> {
    if (key === undefined) return work();
    this.#forgetOld();
    const known = this.#entries.get(key);
    if (known) return known.answer as Promise<T>;
    const entry: Entry = { answer: work(), endedAt: undefined };
    this.#entries.set(key, entry);
    try {
      return (await entry.answer) as T;
    } catch (error) {
      this.#entries.delete(key);
      throw error;
    } finally {
      entry.endedAt = this.#monotonic();
      // Behind everything that ended before it.
      if (this.#entries.delete(key)) this.#entries.set(key, entry);
    }
  }

  #forgetOld(): void {
    const now = this.#monotonic();
    const ended = [...this.#entries].filter(([, { endedAt }]) => endedAt !== undefined);
    const surplus = ended.length - MAX_KEPT;
    for (const [i, [key, { endedAt }]] of ended.entries()) if (i < surplus || now - (endedAt ?? now) > KEPT_MS) this.#entries.delete(key);
  }
}
