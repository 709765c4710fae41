import { messageOf } from "svc/sdk";
import type { Completion } from "../deliveries/completion.ts";
import type { DoorDeps } from "./visitor.ts";

/** Waits until the run has ended. When the caller goes or the gateway stops, only the wait ends: the action is stored, and a repeat under its key waits again. */
export async function withCompletion(runId: string, signal: AbortSignal, deps: DoorDeps): Promise<Completion | undefined> {
  try {
    return await deps.deliveries.completion(runId, signal);
  } catch (error) {
    if (!signal.aborted) deps.logger.warn("hook answered before its run has ended", { runId, reason: messageOf(error) });
    return undefined;
  }
}
