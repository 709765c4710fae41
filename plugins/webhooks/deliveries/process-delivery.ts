import { type DeliveryRow, messageOf } from "svc/sdk";
import { commitWhenAvailable, deliveryOwner, isStaleWrite, reached } from "svc/sdk/internal";
import {
  type AfterAttempt,
  type DeliverResult,
  hasFailed,
  judgeAttempt,
  type RunResult,
  runNumber,
  toCompletion,
} from "./delivery-state.ts";
import { failDelivery, UNREADABLE } from "./fail-delivery.ts";
import { deliverStep, rowsOf, runStep, type StepContext, stepOp, summaryStep, wakeMainSession } from "./steps.ts";
import { aboutOf, decodeAction } from "./stored-action.ts";
import { finalText, type HookReply, readReply, summaryLine } from "./texts.ts";

/** Maximum wait for a row to be requeued when the instance stops; one that stays claimed is found at the next start. */
const REQUEUE_MS = 4_000;

/** Remaining work of a row: none, or another attempt not before `inMs` from now. */
export type Processed = { state: "ended" } | { state: "again"; inMs: number };

interface ProcessContext extends Pick<StepContext, "deps" | "signal"> {
  /** Called when the run of the row is over; what is left is our own work. */
  onRan(): void;
}

/** Claims a row and processes it. Never rejects. @returns undefined for a row that is not ours any more */
export async function processDelivery(row: DeliveryRow, context: ProcessContext): Promise<Processed | undefined> {
  const { logger } = context.deps.ctx;
  let claimed: DeliveryRow | undefined;
  try {
    claimed = await claim(row, context);
    const { uid, attempt, lane } = claimed;
    logger.debug("hook delivery started", () => ({ uid, attempt, lane }));
    return await executeSteps(claimed, context);
  } catch (error) {
    if (isStaleWrite(error)) logger.debug("a hook delivery was taken over by another worker", { uid: row.uid });
    else if (claimed) return onUnexpectedError(claimed, { ...context, error });
    return undefined;
  }
}

/** `accepted` → `running` under our lease. */
async function claim(row: DeliveryRow, { deps, signal }: ProcessContext): Promise<DeliveryRow> {
  const isStored = async () => {
    const now = await deps.store().deliveries.get(row.uid);
    return now?.state === "running" && now.leaseBoot === deps.lease && now.attempt === row.attempt + 1;
  };
  await reached("hooks.before-claim");
  const op = {
    op: "delivery.claim",
    uid: row.uid,
    to: "running",
    attempt: row.attempt,
    leaseBoot: deps.lease,
    at: deps.ctx.clock.now(),
  } as const;
  await commitWhenAvailable([op], { deps, signal, isStored });
  await reached("hooks.after-claim");
  return { ...row, attempt: row.attempt + 1, state: "running", leaseBoot: deps.lease };
}

/**
 * Makes one attempt of a claimed row: each step that is not recorded yet, in order.
 * @throws the signal's reason, `fenced` or `delivery-state` once another instance has claimed the row, and whatever a step did not expect
 */
async function executeSteps(row: DeliveryRow, { deps, signal, onRan }: ProcessContext): Promise<Processed> {
  const action = decodeAction(row);
  if (!action) return applyNext({ row, deps, signal }, { to: "failed", reason: UNREADABLE });
  const context: StepContext = { row, action, deps, signal };
  const step = await runStep(context);
  if (step.kind !== "ran") return applyNext(context, judgeAttempt(row, { ...step, isFinal: step.kind === "refused" }));
  signal.throwIfAborted();
  const { result } = step;
  onRan();
  const reply = result.status === "ok" ? readReply(finalText(await rowsOf(context, result.runId), result.runId)) : undefined;
  const delivered = reply && action.deliver ? await deliverStep(context, reply) : undefined;
  signal.throwIfAborted();
  await summaryStep(context, reply ? { text: reply.text } : { error: result.error ?? "the run failed" });
  await finish(context, { run: result, reply, delivered });
  return { state: "ended" };
}

async function onUnexpectedError(
  row: DeliveryRow,
  { deps, signal, error }: ProcessContext & { error: unknown },
): Promise<Processed | undefined> {
  const { logger } = deps.ctx;
  try {
    if (!signal.aborted) {
      logger.error(`hook agent run runId=${row.uid}: unexpected error`, { error: messageOf(error) });
      const why = { reason: "an unexpected error, see the log", next: runNumber(row), isFinal: false };
      return await applyNext({ row, deps, signal }, judgeAttempt(row, why));
    }
    // Nothing has failed: this instance goes away, and the attempt does not count.
    const reason = "the gateway stopped while it ran";
    await requeue({ row, deps, signal: AbortSignal.timeout(REQUEUE_MS) }, { reason, next: runNumber(row), attempt: row.attempt - 1 });
  } catch (again) {
    logger.warn(`hook agent run runId=${row.uid}: it stays claimed until the next start`, { error: messageOf(again) });
  }
  return undefined;
}

type Claimed = Pick<StepContext, "row" | "deps" | "signal">;

/** `running` → `accepted` for another attempt, or `running` → `failed`. */
async function applyNext(claimed: Claimed, after: AfterAttempt): Promise<Processed> {
  const { row, deps, signal } = claimed;
  const { reason, next } = after;
  if (after.to === "failed") {
    const end = { state: "failed", from: ["running"], isOwn: true, reason, ...(next === undefined ? {} : { next }) } as const;
    await failDelivery(row, end, { deps, signal });
    return { state: "ended" };
  }
  const { inMs } = after;
  deps.ctx.logger.warn(`hook agent run retried runId=${row.uid}`, { reason, attempt: row.attempt, inMs });
  await requeue(claimed, { reason, next: after.next, attempt: row.attempt, inMs });
  return { state: "again", inMs };
}

/** `running` → `accepted`. @param to.attempt number of attempts that count */
async function requeue(
  { row, deps, signal }: Claimed,
  to: { reason: string; next: number; attempt: number; inMs?: number },
): Promise<void> {
  const at = deps.ctx.clock.now();
  const reason = summaryLine(to.reason);
  const notBefore = to.inMs === undefined ? {} : { notBefore: at + to.inMs };
  await reached("hooks.before-requeue");
  await commitWhenAvailable(
    [
      // Not without our lease: whoever has claimed it meanwhile goes on undisturbed.
      stepOp({ row, deps }, "retry", { next: to.next, reason }),
      {
        op: "delivery.requeue",
        uid: row.uid,
        from: ["running"],
        ...deliveryOwner(row),
        attempt: to.attempt,
        result: { reason },
        ...notBefore,
        at,
      },
    ],
    { deps, signal, isStored: async () => (await deps.store().deliveries.get(row.uid))?.state !== "running" },
  );
  await reached("hooks.after-requeue");
}

interface Results {
  run: RunResult;
  reply: HookReply | undefined;
  delivered: DeliverResult | undefined;
}

/** `running` → `done`, with the step `heartbeat`. */
async function finish(context: StepContext, results: Results): Promise<void> {
  const { row, action, deps, signal } = context;
  const { run, reply, delivered } = results;
  const { status, code } = run;
  await reached("hooks.before-heartbeat");
  const woken = wakeMainSession(action, deps);
  await reached("hooks.before-finish");
  const completion = toCompletion(run, reply, delivered);
  const result = { status, ...(code === undefined ? {} : { code }), completion, about: aboutOf(action) };
  const at = deps.ctx.clock.now();
  await commitWhenAvailable(
    [
      stepOp(context, "heartbeat", { woken }),
      { op: "delivery.finish", uid: row.uid, from: ["running"], ...deliveryOwner(row), state: "done", result, at },
    ],
    { deps, signal, isStored: async () => (await deps.store().deliveries.get(row.uid))?.state === "done" },
  );
  await reached("hooks.after-finish");
  logEnd(context, results);
}

function logEnd({ row, action, deps }: StepContext, { run, delivered }: Results): void {
  const isWell = run.status === "ok" && !(delivered && hasFailed(delivered));
  const line = `hook agent run completed runId=${row.uid} status=${run.status}`;
  const fields = {
    path: action.path,
    mapping: action.mapping,
    code: run.code,
    error: run.error,
    delivery: delivered?.state,
    deliveryError: delivered?.error,
  };
  const known = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  if (isWell) deps.ctx.logger.info(line, known);
  else deps.ctx.logger.warn(line, known);
}
