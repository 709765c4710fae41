import type { Candidate } from "./choice.ts";

const MAX_ENTRIES = 256;
/** No language model has a smaller window: a refusal of less has another cause. */
const LEAST_WINDOW = 4_096;
/** Part of a refused request that is taken to fit, where the refusal names no number. */
const GUESSED_PART = 0.8;
const MAX_READ_CHARS = 2_000;

/** Wordings of a limit in refusals of vendors and servers. */
const limits = [
  /> ?([\d,_]{3,12}) (?:tokens? )?(?:maximum|limit)/i,
  /maximum context (?:length|window) (?:is|of) ([\d,_]{3,12})/i,
  /(?:context|n_ctx|num_ctx)[^\d\n]{0,40}([\d,_]{3,12})/i,
  /(?:maximum|limit|up to|allowed)[^\d\n]{0,60}([\d,_]{3,12})/i,
];

/** Windows of models as refusals of too long requests have shown them. */
export interface Windows {
  of(candidate: Candidate): number | undefined;
  /** @param tokens estimate of the request that was refused */
  learn(candidate: Candidate, refusal: string, tokens: number): void;
}

export function createWindows(): Windows {
  const learnt = new Map<string, number>();
  const keyOf = ({ provider, model }: Candidate) => `${provider.id}/${model}`;
  return {
    of: (candidate) => learnt.get(keyOf(candidate)),
    learn(candidate, refusal, tokens) {
      const key = keyOf(candidate);
      const guessed = Math.floor(tokens * GUESSED_PART);
      // The estimate of a text may be far above its tokens, and is what later requests are compared with.
      const named = windowIn(refusal);
      const window = Math.max(LEAST_WINDOW, named === undefined ? guessed : Math.min(named, Math.max(tokens, LEAST_WINDOW)));
      learnt.delete(key);
      learnt.set(key, window);
      const oldest = learnt.keys().next().value;
      if (learnt.size > MAX_ENTRIES && oldest !== undefined) learnt.delete(oldest);
    },
  };
}

/** The number of tokens that a refusal names as the most it takes. */
export function windowIn(refusal: string): number | undefined {
  const text = refusal.slice(0, MAX_READ_CHARS);
  for (const pattern of limits) {
    const found = Number(pattern.exec(text)?.[1]?.replace(/[,_]/g, ""));
    if (Number.isInteger(found) && found > 0) return found;
  }
  return undefined;
}
