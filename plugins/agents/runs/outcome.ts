import type { JsonObject, RunOutcome, RunRequest, RunRow, RunState, SvcError, Usage } from "svc/sdk";
import { agentErrors } from "../errors.ts";
import { noUsage } from "../models/turn.ts";

/** Stored outcome of a settled run; enough to repeat its final answer word for word. */
export interface StoredOutcome extends RunOutcome {
  /** One per assistant message with text. */
  texts: string[];
  /** Notes for the caller beside the answer. */
  notes?: string[];
  /** Nobody repeats the request: texts and calls are those of the transcript. */
  isRepeatable?: false;
  /** Too many were waiting: the message stays in the history, no model reads it. */
  isLeftOut?: true;
}

/** Stop reason of a run whose message was answered by the turn of another. */
export const MERGED = "merged";

/** Between the texts of a run where they are one. */
export const BETWEEN_TEXTS = "\n\n";

/** Message of a run whose end nobody saw. */
export const INTERRUPTED = "the gateway stopped during this run; send the message again with a new key to repeat it";

/** Final payload of a successful run. */
export function successPayload(run: { runId: string; sessionId: string; outcome: StoredOutcome }): JsonObject {
  const { outcome } = run;
  return {
    runId: run.runId,
    status: "ok",
    summary: "completed",
    result: {
      payloads: outcome.texts.map((text) => ({ text, mediaUrl: null })),
      ...(outcome.deliveryStatus === undefined ? {} : { deliveryStatus: outcome.deliveryStatus }),
      meta: {
        durationMs: outcome.durationMs ?? 0,
        stopReason: outcome.stopReason,
        ...(outcome.notes === undefined ? {} : { notes: outcome.notes }),
        agentMeta: { sessionId: run.sessionId, provider: outcome.provider, model: outcome.model, usage: outcome.usage },
      },
    },
  };
}

/** Final error of a run that did not succeed: the frame carries payload and error. */
export function failureError(runId: string, outcome: RunOutcome): SvcError {
  const message = outcome.error ?? "the run failed";
  const cancelled = ["rpc", "timeout", "superseded", "disconnect", "shutdown"].includes(outcome.stopReason);
  return agentErrors.runFailed(
    { message },
    {
      payload: { runId, status: "error", summary: message, ...(cancelled ? { stopReason: outcome.stopReason } : {}) },
      ...(outcome.code === undefined ? {} : { details: outcome.code }),
    },
  );
}

/** An outcome as its row holds it: the answer stands there once, and not at all for a run that nobody repeats. */
export function toStored(
  { text: _, texts, reasoning, toolCalls, ...rest }: StoredOutcome,
  { isRepeatable = true }: Pick<RunRequest, "isRepeatable">,
): JsonObject {
  if (!isRepeatable && rest.status === "ok") return { ...rest, isRepeatable: false };
  return { ...rest, texts, toolCalls, ...(reasoning === undefined ? {} : { reasoning }) };
}

/** The outcome of a stored run that is not alive any more. */
export function outcomeOf(row: RunRow): StoredOutcome {
  const inRow = row.outcome as Partial<StoredOutcome> | undefined;
  const stored: Partial<StoredOutcome> | undefined = inRow && { text: inRow.texts?.join(BETWEEN_TEXTS) ?? "", ...inRow };
  if (stored?.status && row.state !== "queued" && row.state !== "running" && row.state !== "interrupted") {
    return { ...emptyOutcome(row), ...stored };
  }
  return { ...emptyOutcome(row), ...stored, status: "error", code: "INTERRUPTED", error: INTERRUPTED, stopReason: "interrupted" };
}

function emptyOutcome(row: RunRow): StoredOutcome {
  return {
    status: "error",
    text: "",
    texts: [],
    toolCalls: [],
    usage: noUsage satisfies Usage,
    stopReason: row.state,
    ...(row.startedAt === undefined ? {} : { startedAt: row.startedAt }),
    ...(row.endedAt === undefined ? {} : { endedAt: row.endedAt }),
  };
}

/** State of the run row and of its session for an outcome. */
export function statesOf(outcome: RunOutcome): { run: RunState; session: "done" | "failed" | "killed" | "timeout" | "interrupted" } {
  if (outcome.status === "ok") return { run: "ok", session: "done" };
  if (outcome.code === "INTERRUPTED") return { run: "interrupted", session: "interrupted" };
  if (outcome.code === "ABORTED") return { run: "aborted", session: "killed" };
  if (outcome.stopReason === "timeout") return { run: "timeout", session: "timeout" };
  return { run: "error", session: "failed" };
}
