import {
  backoffDelayMs,
  type CrashVerdict,
  type DeliveryRow,
  isNotDispatched,
  isSendRefused,
  type JsonObject,
  messageOf,
  oneLine,
} from "svc/sdk";

/** Tries of one message. */
export const MAX_ATTEMPTS = 12;
/** Tries whose end nobody knows, where the platform cannot tell a repeat: one more after the first, and no third. */
const MAX_UNKNOWN = 2;
const MAX_REASON_CHARS = 300;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 300_000;

/** Interpretation of a failed attempt. `taken`: it may be with the platform. */
export interface Fault {
  taken: "no" | "unknown";
  isPermanent: boolean;
  /** Sentence for operators. */
  reason: string;
  retryAfterMs?: number | undefined;
}

/** Next step for a message. */
export type Verdict =
  /** `what`: the same without a word of the platform. */
  | { next: "failed"; reason: string; what: string }
  /** `to`: how it waits. `unknown`: tries so far whose end nobody knows. */
  | { next: "again"; to: "accepted" | "uncertain"; waitMs: number; reason: string; unknown: number };

/** Reads what `send` threw. An error that says nothing else leaves open whether the platform has the message. */
export function toFault(error: unknown): Fault {
  const reason = oneLine(messageOf(error), MAX_REASON_CHARS) || "no reason was given";
  if (isNotDispatched(error)) return { taken: "no", isPermanent: false, reason, retryAfterMs: error.retryAfterMs };
  if (isSendRefused(error)) return { taken: "no", isPermanent: error.isPermanent, reason, retryAfterMs: error.retryAfterMs };
  return { taken: "unknown", isPermanent: false, reason };
}

/**
 * Decides after a try that failed. Pure.
 *
 * @param tried tries so far, this one included; of these `unknown` ended without anybody knowing how, before this one
 * @param random [0, 1)
 */
export function judge(fault: Fault, tried: { attempt: number; unknown: number; isIdempotent: boolean }, random: number): Verdict {
  const unknown = tried.unknown + (fault.taken === "unknown" ? 1 : 0);
  const failed = (what: string): Verdict => ({ next: "failed", reason: `${what}: ${fault.reason}`, what });
  if (fault.isPermanent) return { next: "failed", reason: fault.reason, what: "the channel refused it" };
  if (isSpent(unknown, tried.isIdempotent) && fault.taken === "unknown") return failed(SPENT);
  if (tried.attempt >= MAX_ATTEMPTS) return failed(`gave up after ${tried.attempt} tries`);
  const waitMs = Math.max(retryDelayMs(tried.attempt, random), fault.retryAfterMs ?? 0);
  // Once it may be with the platform, a later try that did not get there changes nothing about that.
  return { next: "again", to: unknown > 0 ? "uncertain" : "accepted", waitMs, reason: fault.reason, unknown };
}

/** Another try could double the message, and one has been dared already. */
export function isSpent(unknown: number, isIdempotent: boolean): boolean {
  return !isIdempotent && unknown >= MAX_UNKNOWN;
}

/** Why a message that may be there is given up. */
export const SPENT = "whether the platform accepted it is unknown after two attempts; it is not sent a third time";

/** Crashes of the gateway with nothing but this message under way, after which it is not sent again. */
const MAX_CRASHES = 3;
/** Before the try that follows each of them. */
const CRASH_WAITS_MS = [1_000, 5_000];

/**
 * Judges a message that was being sent when a process ended. A try counts unless others were under way, too: they are suspects, and are tried one at a
 * time. Pure.
 */
export function judgeLeftBehind(
  { attempt, result }: Pick<DeliveryRow, "attempt" | "result">,
  { verdict, suspicion }: { verdict: CrashVerdict | undefined; suspicion: number },
): { isSpent: boolean; attempt: number; marks: JsonObject; waitMs: number } {
  const earlier = typeof result?.crashes === "number" ? result.crashes : 0;
  const crashes = earlier + (verdict === "guilty" ? 1 : 0);
  return {
    isSpent: crashes >= MAX_CRASHES,
    waitMs: verdict === "guilty" ? (CRASH_WAITS_MS[crashes - 1] ?? 0) : 0,
    attempt: verdict === "suspect" ? Math.max(0, attempt - 1) : attempt,
    marks: { ...(suspicion > 0 ? { suspect: suspicion } : {}), ...(crashes > 0 ? { crashes } : {}) },
  };
}

/** 1 s doubling, at most 5 min, any part of it: tries of many messages spread. @param attempt tries so far, from 1 */
export function retryDelayMs(attempt: number, random: number): number {
  return Math.round(random * backoffDelayMs(attempt, { firstMs: FIRST_WAIT_MS, maxMs: LONGEST_WAIT_MS }));
}
