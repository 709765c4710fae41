/**
 * Why a run left no answer, in words. Pure.
 *
 * @typedef {{ status: string, error?: string | undefined, code?: string | undefined, stopReason?: string | undefined,
 *   startedAt?: number | undefined, endedAt?: number | undefined }} Outcome
 */

/** `timeout` is the end of the wait, not of the run; a run that nobody knows has not even begun. @param {Outcome} outcome */
export function isAtWork({ status, startedAt, endedAt }) {
  return status === "pending" || (status === "timeout" && startedAt !== undefined && endedAt === undefined);
}

/** @param {Outcome} outcome @returns {{ level: "info" | "bad", text: string } | undefined} undefined while it is at work */
export function outcomeWords(outcome) {
  const { status, error, code, stopReason } = outcome;
  if (isAtWork(outcome)) return undefined;
  if (status === "ok")
    return {
      level: "info",
      text: stopReason === "merged" ? "Answered together with another message." : "It ended without an answer to show.",
    };
  if (code === "INTERRUPTED") return { level: "bad", text: "The gateway stopped during this answer." };
  if (code === "ABORTED") return { level: "info", text: error ? `Stopped: ${error}` : "Stopped before there was an answer." };
  if (code === "TIMEOUT") return { level: "bad", text: `The run took too long${error ? `: ${error}` : "."}` };
  if (status === "error" && error) return { level: "bad", text: `The run failed: ${error}` };
  return { level: "bad", text: "This question got no answer; why is not known any more." };
}

/** Says that a message waits behind others of its conversation. @param {number} place 0: nothing is before it; -1: not known */
export function queueWords(place) {
  return `Waiting for its turn${place > 1 ? `: number ${place}` : place === 1 ? ": next" : ""}`;
}
