import { limits } from "../protocol/frames.ts";

/** Answers of one method family, kept so that a repeated request gets the same. */
export interface Replays {
  /**
   * Does the work once per key: who repeats it meanwhile waits for the same answer, who repeats it afterwards gets it again. A rejection is not kept.
   * @param key absent: the work is done each time
   * @param keeps false for an answer that a repeat shall not get
   */
  run<T>(key: string | undefined, work: () => Promise<T>, keeps?: (answer: T) => boolean): Promise<T>;
}

/** Bounds of what is kept. */
export interface ReplayBounds {
  monotonic(): number;
  /** Time an answer is kept after its end; default 5 min. */
  ttlMs?: number;
  /** Answers kept; default 1,000. The oldest goes first, work that is under way never. */
  max?: number;
  /** All answers together, as JSON text; default 16 million characters. */
  maxChars?: number;
}

interface Entry {
  answer: Promise<unknown>;
  /** Set at the end. */
  ended?: { at: number; chars: number };
}

/** Keeps answers in memory, for methods whose repeats after a restart may do the work again. */
export function createReplays(bounds: ReplayBounds): Replays {
  const { monotonic, ttlMs = limits.idempotencyTtlMs, max = limits.idempotencyMax, maxChars = 16_000_000 } = bounds;
  const entries = new Map<string, Entry>();
  let chars = 0;

  const forget = (key: string, entry: Entry) => {
    if (entries.get(key) !== entry) return;
    entries.delete(key);
    chars -= entry.ended?.chars ?? 0;
  };
  /** Ended ones stand in the order of their ends, behind or between those under way. */
  const tidy = () => {
    const ended = [...entries].filter(([, { ended: end }]) => end);
    let left = ended.length;
    for (const [key, entry] of ended) {
      const isOld = monotonic() - (entry.ended?.at ?? 0) >= ttlMs;
      if (!isOld && left <= max && chars <= maxChars) return;
      forget(key, entry);
      left -= 1;
    }
  };
  const keep = (key: string, entry: Entry, answer: unknown) => {
    entry.ended = { at: monotonic(), chars: JSON.stringify(answer ?? null).length };
    chars += entry.ended.chars;
    entries.delete(key);
    entries.set(key, entry);
    tidy();
  };
  return {
    run<T>(key: string | undefined, work: () => Promise<T>, keeps: (answer: T) => boolean = () => true): Promise<T> {
      if (key === undefined) return work();
      tidy();
      const known = entries.get(key);
      if (known) return known.answer as Promise<T>;
      const answer = work();
      const entry: Entry = { answer };
      entries.set(key, entry);
      answer.then(
        (value) => (keeps(value) ? keep(key, entry, value) : forget(key, entry)),
        () => forget(key, entry),
      );
      return answer;
    },
  };
}
