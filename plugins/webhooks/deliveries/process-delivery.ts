import { type DeliveryRow, messageOf, reached } from "svc/sdk";
import { aboutOf } from "./about.ts";
import { hasFailed, toCompletion } from "./completion.ts";
import type { DeliveryKit } from "./kit.ts";
import { commitAtLast } from "./patience.ts";
import { finalText, type HookReply, readReply } from "./reply.ts";
import { type Carried, stepOp } from "./steps/carried.ts";
import { type Delivered, deliverStep } from "./steps/deliver.ts";
import { giveUp } from "./steps/give-up.ts";
import { type Ran, rowsOf, runStep } from "./steps/run.ts";
import { summaryStep } from "./steps/summary.ts";
import { decodeAction } from "./stored-action.ts";
import { summaryLine } from "./summary-text.ts";
import { mainSessionOf } from "./target.ts";
import { backoffAfter, MAX_ATTEMPTS, runNumber } from "./verdict.ts";

/** Remaining work of a row: none, or another attempt not before `inMs` from now. */
export type CarriedOut = { state: "ended" } | { state: "again"; inMs: number };

interface Given {
  kit: DeliveryKit;
  signal: AbortSignal;
  /** Called when the run of the row is over; what is left is our own work. */
  onRan(): void;
}

/**
 * One try of a claimed row: each step that is not recorded yet, in order.
 * @throws the signal's reason, `delivery-state` once another instance has claimed the row, and whatever a step did not expect
 */
export async function carryOut(row: DeliveryRow, { kit, signal, onRan }: Given): Promise<CarriedOut> {
  const action = decodeAction(row);
  if (!action) {
    await giveUp(row, { state: "failed", from: ["running"], isOwn: true, reason: "what is stored of it cannot be read" }, { kit, signal });
    return { state: "ended" };
  }
  const carried: Carried = { row, action, kit, signal };
  const step = await runStep(carried);
  if (step.kind !== "ran") return notRun(carried, { ...step, isFinal: step.kind === "refused" });
  signal.throwIfAborted();
  const { ran } = step;
  onRan();
  const reply = ran.status === "ok" ? readReply(finalText(rowsOf(carried, ran.runId), ran.runId)) : undefined;
  const delivered = reply && action.deliver ? await deliverStep(carried, reply) : undefined;
  signal.throwIfAborted();
  await summaryStep(carried, reply ? { text: reply.text } : { error: ran.error ?? "the run failed" });
  await finish(carried, { ran, reply, delivered });
  return { state: "ended" };
}

/** Another try, or the end of all tries. */
export async function notRun(
  carried: Pick<Carried, "row" | "kit" | "signal">,
  why: { reason: string; next: number; isFinal: boolean },
): Promise<CarriedOut> {
  const { row, kit, signal } = carried;
  const { reason, next } = why;
  if (why.isFinal || row.attempt >= MAX_ATTEMPTS) {
    await giveUp(row, { state: "failed", from: ["running"], isOwn: true, reason, next }, { kit, signal });
    return { state: "ended" };
  }
  const inMs = backoffAfter(row.attempt);
  kit.ctx.logger.warn(`hook agent run retried runId=${row.uid}`, { reason, attempt: row.attempt, inMs });
  await giveBack(carried, { reason, next, attempt: row.attempt, inMs });
  return { state: "again", inMs };
}

/** Back into the queue. @param to.attempt tries that count */
export async function giveBack(
  { row, kit, signal }: Pick<Carried, "row" | "kit" | "signal">,
  to: { reason: string; next?: number; attempt: number; inMs?: number },
): Promise<void> {
  const at = kit.ctx.clock.now();
  const reason = summaryLine(to.reason);
  await reached("hooks.before-requeue");
  await commitAtLast(
    [
      // Not without our lease: whoever has claimed it meanwhile goes on undisturbed.
      stepOp({ row, kit }, "retry", { next: to.next ?? runNumber(row), reason }),
      {
        op: "delivery.requeue",
        uid: row.uid,
        from: ["running"],
        attempt: to.attempt,
        result: { reason },
        ...(to.inMs === undefined ? {} : { notBefore: at + to.inMs }),
        at,
      },
    ],
    { kit, signal, isStored: () => kit.store().deliveries.get(row.uid)?.state !== "running" },
  );
  await reached("hooks.after-requeue");
}

async function finish(
  carried: Carried,
  { ran, reply, delivered }: { ran: Ran; reply: HookReply | undefined; delivered: Delivered | undefined },
): Promise<void> {
  const { row, action, kit, signal } = carried;
  await reached("hooks.before-heartbeat");
  const woken = wake(carried);
  await reached("hooks.before-finish");
  const completion = toCompletion(ran, reply, delivered);
  const result = { status: ran.status, ...(ran.code === undefined ? {} : { code: ran.code }), completion, about: aboutOf(action) };
  const at = kit.ctx.clock.now();
  await commitAtLast(
    [stepOp(carried, "heartbeat", { woken }), { op: "delivery.finish", uid: row.uid, from: ["running"], state: "done", result, at }],
    { kit, signal, isStored: () => kit.store().deliveries.get(row.uid)?.state === "done" },
  );
  await reached("hooks.after-finish");
  const isWell = ran.status === "ok" && !(delivered && hasFailed(delivered));
  const line = `hook agent run completed runId=${row.uid} status=${ran.status}`;
  const fields = logFields({
    path: action.path,
    mapping: action.mapping,
    code: ran.code,
    error: ran.error,
    delivery: delivered?.state,
    deliveryError: delivered?.error,
  });
  if (isWell) kit.ctx.logger.info(line, fields);
  else kit.ctx.logger.warn(line, fields);
}

/** The event of the summary remembers that somebody is to be woken: a wake that is lost here comes at the next start. */
function wake({ action, kit }: Carried): boolean {
  if (action.wakeMode !== "now") return false;
  try {
    kit.agents().wake({ agentId: mainSessionOf(action.agentId, kit).agentId, reason: "hook", mode: "now" });
    return true;
  } catch (error) {
    kit.ctx.logger.warn("no agent could be woken for a hook", { agentId: action.agentId, error: messageOf(error) });
    return false;
  }
}

/** Drops fields without a value. */
function logFields(fields: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
