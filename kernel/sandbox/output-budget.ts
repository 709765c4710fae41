/** Text of user code that reaches the log, per call, and per minute between calls. */
const MAX_CHARS = 8 * 1024;
const MINUTE_MS = 60_000;
/** More than this within a second is a flood, whether it is printed, logged or nonsense. */
const MAX_CHARS_PER_SECOND = 1024 * 1024;
const SECOND_MS = 1_000;
/** Cost of one message besides its text. */
const MESSAGE_CHARS = 100;

/** Limits on the output of one guest. */
export interface OutputBudget {
  /** A call begins: it has a budget of its own. */
  renew(): void;
  /** Counts what came from the guest. False: it came faster than anything honest. */
  isBearable(chars: number): boolean;
  /** Takes the part of a text that may be logged; undefined when nothing is left. The first text that is cut says so. */
  take(text: string): string | undefined;
}

/** @param now monotonic milliseconds */
export function createOutputBudget(now: () => number): OutputBudget {
  let left = MAX_CHARS;
  let renewedAt = now();
  let second = { since: now(), chars: 0 };
  const renew = () => {
    left = MAX_CHARS;
    renewedAt = now();
  };
  return {
    renew,
    isBearable(chars) {
      if (now() - second.since >= SECOND_MS) second = { since: now(), chars: 0 };
      second.chars += chars + MESSAGE_CHARS;
      return second.chars <= MAX_CHARS_PER_SECOND;
    },
    take(text) {
      if (now() - renewedAt >= MINUTE_MS) renew();
      if (left <= 0) return undefined;
      const taken = text.slice(0, left);
      left -= text.length + MESSAGE_CHARS;
      return left > 0 ? taken : `${taken.trimEnd()} … (too much output: the rest is left out)`;
    },
  };
}
