import type { DeliveryRow, RunOutcome, RunRow } from "svc/sdk";

/** Tries of one action (`reliability.md` 2). */
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
 * What becomes of an action whose run is over: `over`, whichever way it ended; `resume`: the gateway or its agents went away under it, the same run goes on;
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

/**
 * Tries that count, of a row that another process or instance left behind: those whose run had begun and was cut off. What is left to do after a run is
 * done in any case, and a run that had not begun was only waiting.
 */
export function attemptsLeftBehind(row: Pick<DeliveryRow, "attempt" | "steps">, run: RunRow | undefined): number {
  const isOver = row.steps.run !== undefined || (run !== undefined && isFinished(run));
  const hadNotBegun = run !== undefined && run.startedAt === undefined;
  return isOver || hadNotBegun ? Math.max(0, row.attempt - 1) : row.attempt;
}

function isFinished({ state }: RunRow): boolean {
  return state !== "queued" && state !== "running" && state !== "interrupted";
}
