import { texts } from "../texts/chat-more.js";

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
      text: stopReason === "merged" ? texts.answeredTogetherAnother : texts.endedWithoutAnswer,
    };
  if (code === "INTERRUPTED") return { level: "bad", text: texts.gatewayStoppedDuring };
  if (code === "ABORTED") return { level: "info", text: error ? texts.stoppedBecause(error) : texts.stoppedBeforeThere };
  if (code === "TIMEOUT") return { level: "bad", text: texts.runTookToo(error ? `: ${error}` : ".") };
  if (status === "error" && error) return { level: "bad", text: texts.runFailedOf(error) };
  return { level: "bad", text: texts.questionGotNo };
}

/** Says that a message waits behind others of its conversation. @param {number} place 0: nothing is before it; -1: not known */
export function queueWords(place) {
  return place > 1 ? texts.waitingAt(place) : place === 1 ? texts.waitingNext : texts.waiting;
}
