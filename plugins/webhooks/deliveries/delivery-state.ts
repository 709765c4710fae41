import type { CrashVerdict, DeliveryRow, JsonObject, RunOutcome } from "svc/sdk";

/** Tries of one action. */
export const MAX_ATTEMPTS = 3;
const backoffMs = [5_000, 60_000];

/** Until the next try. @param attempt tries begun, from 1 */
export function backoffAfter(attempt: number): number {
  return backoffMs[Math.min(Math.max(attempt, 1), backoffMs.length) - 1] ?? 0;
}

/**
 * Faults of a provider that may be gone at the next try, and of our own storage. Everything else is the run's own end: its time is up, somebody stopped it,
 * a plugin refused it, the model had nothing to say.
 */
const passingFaults = ["AUTH", "RATE_LIMIT", "OVERLOADED", "NETWORK", "TIMEOUT", "STORAGE"];

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

/** Id of the n-th run of an action: the first has the id that the sender was told. */
export function runIdOf(uid: string, n: number): string {
  return n === 1 ? uid : `${uid}:${n}`;
}

/** Which run is to be done now. */
export function runNumber({ steps }: Pick<DeliveryRow, "steps">): number {
  const next = steps.retry?.next;
  return typeof next === "number" ? next : 1;
}

/** How a row that was left behind goes on. */
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
