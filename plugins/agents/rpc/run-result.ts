import type { JsonObject } from "svc/sdk";
import { failureError, type StoredOutcome, successPayload } from "../runs/outcome.ts";

/** Final answer of `agent` for a run that has ended, the same now and at each repeat. @throws {SvcError} `run-failed` */
export function finalAnswer(run: { runId: string; sessionId: string; outcome: StoredOutcome }): JsonObject {
  if (run.outcome.status === "ok") return successPayload(run);
  throw failureError(run.runId, run.outcome);
}
