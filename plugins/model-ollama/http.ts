import type { AnswerLimits } from "svc/sdk/internal";

/** An answer line by line; `lines.ts` limits each line. */
export const streamLimits: AnswerLimits = {
  maxBytes: 256 * 1024 * 1024,
  maxEventBytes: Number.POSITIVE_INFINITY,
  maxEventParts: Number.POSITIVE_INFINITY,
};
