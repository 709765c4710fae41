import { type MemorySearchResult, messageOf, withLimit } from "svc/sdk";

/** An answer that is at hand in the end, whatever becomes of the first one. */
export interface SpareAnswer {
  /** Begins to look for it; has the time that is left then. */
  begin(): Promise<MemorySearchResult>;
  /** Milliseconds until an answer has to be there. */
  leftMs(): number;
}

export interface SparedQuestion {
  /** @param signal aborts when its time is over */
  ask(signal: AbortSignal): Promise<MemorySearchResult>;
  spare: SpareAnswer;
  /** Of the one who asks. */
  signal?: AbortSignal | undefined;
}

/** The first answer, or why there was none and the spare one. */
export type SparedAnswer = { result: MemorySearchResult } | { failure: string; spare: Promise<MemorySearchResult> };

/** Part of the time after which the spare answer is looked for as well: the limit holds for both together. */
const SPARE_AFTER = 0.6;

/**
 * Asks, and prepares a spare answer while the first one is late, so that one is there at the limit.
 * @throws the reason of the asker's signal
 */
export async function askWithSpare({ ask, spare, signal }: SparedQuestion): Promise<SparedAnswer> {
  const limitMs = spare.leftMs();
  const ended = new AbortController();
  let begun: Promise<MemorySearchResult> | undefined;
  const begin = () => {
    begun ??= spare.begin();
    begun.catch(() => undefined); // nobody waits for it when the first answer comes after all
    return begun;
  };
  const timer = setTimeout(begin, limitMs * SPARE_AFTER);
  const late = () => {
    throw new Error(`it did not answer within ${limitMs} ms`);
  };
  try {
    return { result: await withLimit(ask(signal ? AbortSignal.any([signal, ended.signal]) : ended.signal), limitMs, late, signal) };
  } catch (error) {
    if (signal?.aborted) throw error;
    return { failure: messageOf(error), spare: begin() };
  } finally {
    clearTimeout(timer);
    ended.abort();
  }
}
