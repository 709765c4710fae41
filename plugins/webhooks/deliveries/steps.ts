import { isSvcError, type JsonObject, type MessageRow, type RunHandle, type RunOutcome, reached } from "svc/sdk";
import { isPassing, untilTaken } from "../patience.ts";
import { hasActed } from "../reply.ts";
import { judgeRun, runIdOf, runNumber } from "../verdict.ts";
import { type Carried, record } from "./carried.ts";

/** Rows of a transcript that are looked through for what a run said and did. */
const READ_ROWS = 200;

/** Stored result of a finished run. */
export interface Ran {
  runId: string;
  status: "ok" | "error";
  code?: string;
  error?: string;
}

/** `again`: `next` is the number of the run that comes then. `refused`: no try can help as long as nothing else changes. */
export type RunStep = { kind: "ran"; ran: Ran } | { kind: "again" | "refused"; next: number; reason: string };

/** The run of an action, unless it is over already. */
export async function runStep(carried: Carried): Promise<RunStep> {
  const known = readRan(carried.row.steps.run);
  if (known) return { kind: "ran", ran: known };
  const n = runNumber(carried.row);
  const runId = runIdOf(carried.row.uid, n);
  await reached("hooks.before-run");
  let handle: RunHandle;
  try {
    handle = await begin(carried, runId);
  } catch (error) {
    if (!isSvcError(error) || isPassing(error)) throw error;
    return { kind: "refused", next: n, reason: error.message };
  }
  const outcome = await whileGoing(handle.done, carried.signal);
  await reached("hooks.after-run");
  const reason = outcome.error ?? "the run failed";
  const verdict = judgeRun(outcome);
  if (verdict === "resume") return { kind: "again", next: n, reason };
  if (verdict === "repeat") return { kind: hasActed(rowsOf(carried, runId), runId) ? "refused" : "again", next: n + 1, reason };
  const ran = toRan(runId, outcome);
  await record(carried, "run", { value: { ...ran } });
  await reached("hooks.after-run-step");
  return { kind: "ran", ran };
}

/** Reads the transcript rows of a finished run; nothing for one that is forgotten. */
export function rowsOf({ kit }: Pick<Carried, "kit">, runId: string): MessageRow[] {
  const run = kit.store().runs.get(runId);
  return run ? kit.store().messages.page(run.sessionId, { limit: READ_ROWS }) : [];
}

/** A session at work, or a lane without a free place, makes the run wait; it is no fault. */
function begin({ action, kit, signal }: Carried, runId: string): Promise<RunHandle> {
  const { agentId, sessionKey, message, model, thinking, timeoutMs, sessionMode } = action;
  return untilTaken(
    () =>
      kit.agents().run({
        runId,
        resume: true,
        agentId,
        sessionKey,
        message,
        transcript: sessionMode === "isolated" ? "fresh" : "continue",
        trigger: "hook",
        lane: "hooks",
        ...(model === undefined ? {} : { model }),
        ...(thinking === undefined ? {} : { thinking }),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        actor: { kind: "hook", scopes: [] },
      }),
    signal,
    kit,
  );
}

/** The run's end, or the stop of this instance: the run goes on without it, or is cut off by the end of the gateway and goes on at the next start. */
function whileGoing(done: Promise<RunOutcome>, signal: AbortSignal): Promise<RunOutcome> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    done.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function toRan(runId: string, { status, code, error }: RunOutcome): Ran {
  return { runId, status, ...(code === undefined ? {} : { code }), ...(error === undefined ? {} : { error }) };
}

function readRan(step: JsonObject | undefined): Ran | undefined {
  return typeof step?.runId === "string" && (step.status === "ok" || step.status === "error") ? (step as unknown as Ran) : undefined;
}
