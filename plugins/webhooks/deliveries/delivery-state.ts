import type { CrashVerdict, DeliveryRow, JsonObject, OutboundEnd, RunOutcome } from "svc/sdk";
import type { HookReply } from "./texts.ts";

/*
 * A row of an agent action, and who moves it:
 *
 *   accepted ──claim──→ running ──finish──→ done
 *      ↑  │                │
 *      │  │                ├──requeue───→ accepted   another attempt, a stop of this instance, or left behind by another one
 *      │  │                └──fail──────→ failed     no attempt can help, or none is left
 *      │  ├──expire──→ expired                       24 h without a turn
 *      │  └──drop────→ failed                        an operator gave it up
 *      └────retry───── failed, expired               an operator starts it again
 *
 * While it is `running`, its steps are recorded one after the other; one that is recorded is not done again.
 */

/** Names under which steps stand in a row, in their order. `retry` is no step of the work: it says which run comes next, and why. */
export type StepName = "run" | "deliver" | "summary" | "heartbeat" | "note" | "retry";

/** Stored result of a finished run. */
export interface RunResult {
  runId: string;
  status: "ok" | "error";
  code?: string;
  error?: string;
}

/** Reads the record of the step `run`; undefined while it is not recorded. */
export function readRunResult(step: JsonObject | undefined): RunResult | undefined {
  return typeof step?.runId === "string" && (step.status === "ok" || step.status === "error") ? (step as unknown as RunResult) : undefined;
}

/** Delivery state of an answer. `pending`: the message is still on its way; `refused`: no row was made of it. */
export interface DeliverResult {
  attempted: boolean;
  state?: OutboundEnd["state"] | "pending" | "refused";
  error?: string;
  /** Reason why nothing was sent. */
  because?: "empty" | "silent" | "heartbeat" | "unavailable";
}

/** Reads the record of the step `deliver`; undefined while it is not recorded. */
export function readDeliverResult(step: JsonObject | undefined): DeliverResult | undefined {
  return typeof step?.attempted === "boolean" ? (step as unknown as DeliverResult) : undefined;
}

/** Maximum number of attempts of one action. */
export const MAX_ATTEMPTS = 3;
const backoffMs = [5_000, 60_000];

/** Milliseconds before the next attempt. @param attempt attempts begun, from 1 */
export function backoffAfter(attempt: number): number {
  return backoffMs[Math.min(Math.max(attempt, 1), backoffMs.length) - 1] ?? 0;
}

/**
 * Faults of a provider that may be gone at the next try, and of our own storage. Everything else is the run's own end: its time is up, somebody stopped it,
 * a plugin refused it, the model had nothing to say.
 */
const passingFaults = ["AUTH", "QUOTA", "RATE_LIMIT", "OVERLOADED", "NETWORK", "TIMEOUT", "STORAGE"];

/**
 * Decides how an action goes on after its run: `over`, whichever way it ended; `resume`: the gateway or its agents stopped during it, the same run continues;
 * `repeat`: it could not be done, another run is tried.
 */
export function judgeRun({ status, code, stopReason }: Pick<RunOutcome, "status" | "code" | "stopReason">): "over" | "resume" | "repeat" {
  if (status === "ok") return "over";
  if (code === "INTERRUPTED") return "resume";
  // A run that used up its own time says TIMEOUT, too; it would use it up again.
  return stopReason === "error" && passingFaults.includes(code ?? "") ? "repeat" : "over";
}

/** Id of the n-th run of an action: the first has the id that the sender received. */
export function runIdOf(uid: string, n: number): string {
  return n === 1 ? uid : `${uid}:${n}`;
}

/** Number of the run that is due. */
export function runNumber({ steps }: Pick<DeliveryRow, "steps">): number {
  const next = steps.retry?.next;
  return typeof next === "number" ? next : 1;
}

/** Next state of a claimed row whose attempt did not lead to an end of the run. */
export type AfterAttempt = { to: "accepted"; reason: string; next: number; inMs: number } | { to: "failed"; reason: string; next?: number };

/** Decides between another attempt and the end of all. @param why.isFinal no attempt can help as long as nothing else changes. Pure. */
export function judgeAttempt(
  { attempt }: Pick<DeliveryRow, "attempt">,
  { reason, next, isFinal }: { reason: string; next: number; isFinal: boolean },
): AfterAttempt {
  if (isFinal || attempt >= MAX_ATTEMPTS) return { to: "failed", reason, next };
  return { to: "accepted", reason, next, inMs: backoffAfter(attempt) };
}

/** Ways to continue a row that was left behind. */
export type LeftBehind =
  | { next: "again"; attempt: number; result: JsonObject; waitMs?: number }
  | { next: "failed"; attempt: number; reason: string };

/**
 * Judges a row that another process or instance had claimed and did not end. A try counts only when the run had begun and nothing else was under way when the
 * process ended: then it is known who ended it. Pure.
 */
export function judgeLeftBehind(
  { attempt, result }: Pick<DeliveryRow, "attempt" | "result">,
  { verdict, suspicion }: { verdict: CrashVerdict | undefined; suspicion: number },
): LeftBehind {
  const reason = "the gateway ended while it ran";
  const earlier = countIn(result, "crashes");
  const marks = { ...(suspicion > 0 ? { suspect: suspicion } : {}), ...(earlier > 0 ? { crashes: earlier } : {}) };
  if (verdict !== "guilty") return { next: "again", attempt: Math.max(0, attempt - 1), result: { reason, ...marks } };
  if (attempt >= MAX_ATTEMPTS) return { next: "failed", attempt, reason: "the gateway ended each time while it ran, and nothing else did" };
  return { next: "again", attempt, result: { reason, ...marks, crashes: earlier + 1 }, waitMs: backoffAfter(attempt) };
}

function countIn(result: JsonObject | undefined, name: string): number {
  const value = result?.[name];
  return typeof value === "number" ? value : 0;
}

/** Outcome of an agent action, for `waitForCompletion`: no word of the model, no detail of a provider. */
export interface Completion {
  status: "ok" | "error" | "skipped";
  replyDisposition: "visible" | "silent" | "empty";
  delivered?: boolean;
  deliveryAttempted?: boolean;
  deliveryError?: "delivery-failed";
  deliverySuppressionReason?: "empty" | "silent" | "heartbeat";
}

/** Converts the result of an action to the answer for its caller. */
export function toCompletion(ran: RunResult, reply: HookReply | undefined, delivered: DeliverResult | undefined): Completion {
  const replyDisposition = reply?.disposition ?? "empty";
  const base: Completion = { status: ran.status, replyDisposition };
  if (!delivered) return base;
  const { attempted, state, because } = delivered;
  return {
    ...base,
    delivered: state === "done",
    deliveryAttempted: attempted,
    ...(hasFailed(delivered) ? { deliveryError: "delivery-failed" } : {}),
    ...(because === undefined || because === "unavailable" ? {} : { deliverySuppressionReason: because }),
  };
}

/** `pending` is no failure: the message is on its way, and its own row says what becomes of it. */
export function hasFailed({ state }: DeliverResult): boolean {
  return state !== undefined && state !== "done" && state !== "pending";
}

/** Completion of a row that has ended, also in an earlier process; undefined while it has not. */
export function completionOf({ state, result }: Pick<DeliveryRow, "state" | "result">): Completion | undefined {
  if (state !== "done" && state !== "failed" && state !== "expired") return undefined;
  const stored = result?.completion;
  if (isCompletion(stored)) return stored;
  return { status: result?.status === "skipped" ? "skipped" : "error", replyDisposition: "empty" };
}

function isCompletion(value: unknown): value is Completion {
  return typeof value === "object" && value !== null && typeof (value as JsonObject).status === "string";
}
