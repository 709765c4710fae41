import { type DeliveryRow, type DeliveryState, isSvcError, type JsonObject, messageOf, type StoreOp } from "svc/sdk";
import { commitWhenAvailable, deliveryOwner, isTransient, isUnchanged, reached, untilAvailable } from "svc/sdk/internal";
import type { DeliveryDeps } from "./delivery-deps.ts";
import { mainSessionOf, stepOp, summaryEvent, wakeMainSession } from "./steps.ts";
import { aboutOf, decodeAction, type StoredAction } from "./stored-action.ts";
import { hookLabel, summaryLine, summaryText } from "./texts.ts";

/** Reason for the end of a row whose payload is of another program, or damaged. */
export const UNREADABLE = "what is stored of it cannot be read";

/** An end without a result. */
export interface Failure {
  state: "failed" | "expired";
  /** States the row may be in; with `running` of this instance, nobody else may have claimed it meanwhile. */
  from: readonly DeliveryState[];
  isOwn: boolean;
  /** Plain sentence, safe to show. */
  reason: string;
  /** An operator has just asked for it. */
  isAsked?: boolean;
  /** Number of the run that an operator's retry begins. */
  next?: number;
}

/** Ends a row that will not be processed (any more), with a note that people see in the main session. @throws {SvcError} `delivery-state`, `fenced` */
export async function failDelivery(
  row: DeliveryRow,
  end: Failure,
  { deps, signal }: { deps: DeliveryDeps; signal: AbortSignal },
): Promise<void> {
  const action = decodeAction(row);
  const at = { deps, signal };
  // The note comes first, so that no kill leaves an end without it; but not for an end that may be refused: one that an operator asks for, and that of a row which
  // somebody else has by now.
  const isNotedFirst = !end.isAsked && isUnchanged(row, await untilAvailable(() => deps.store().deliveries.get(row.uid), signal, deps));
  if (isNotedFirst) await note(row, { action, end }, at);
  await reached("hooks.before-give-up");
  await commitEnd(row, { action, end }, at);
  await reached("hooks.after-give-up");
  if (!isNotedFirst) await note(row, { action, end }, at);
  if (action) wakeMainSession(action, deps);
  deps.ctx.logger.warn(`hook agent run failed runId=${row.uid} state=${end.state}`, { reason: end.reason, attempt: row.attempt });
}

/** Parts of the end that the note and the record need. */
interface What {
  action: StoredAction | undefined;
  end: Failure;
}

async function commitEnd(
  row: DeliveryRow,
  { action, end }: What,
  { deps, signal }: { deps: DeliveryDeps; signal: AbortSignal },
): Promise<void> {
  const result: JsonObject = {
    status: end.isAsked || end.state === "expired" ? "skipped" : "error",
    reason: summaryLine(end.reason),
    ...(action ? { about: aboutOf(action) } : {}),
  };
  const finish: StoreOp[] = [
    ...(end.isOwn ? [stepOp({ row, deps }, "retry", { next: end.next ?? 1, reason: summaryLine(end.reason) })] : []),
    { op: "delivery.finish", uid: row.uid, from: end.from, ...deliveryOwner(row), state: end.state, result, at: deps.ctx.clock.now() },
  ];
  const isTold = action === undefined || row.steps.summary !== undefined;
  const event = isTold ? [] : [summaryEvent({ row, action, deps }, summaryText(action.name, { error: end.reason }))];
  const isStored = async () => (await deps.store().deliveries.get(row.uid))?.state === end.state;
  try {
    await commitWhenAvailable([...event, ...finish], { deps, signal, isStored });
  } catch (error) {
    // The note says it, too.
    if (!isSvcError(error, "system-events-full")) throw error;
    await commitWhenAvailable(finish, { deps, signal, isStored });
  }
}

/** Its id is the same for every attempt to end the row, and another one after an operator's retry. */
async function note(row: DeliveryRow, { action, end }: What, { deps, signal }: { deps: DeliveryDeps; signal: AbortSignal }): Promise<void> {
  const text = `${hookLabel(action?.name ?? "without a readable payload")} ${verbOf(end)}: ${summaryLine(end.reason)}${adviceOf(row, end, action)}`;
  await reached("hooks.before-note");
  try {
    const id = `${row.uid}:note:${row.expiresAt}`;
    await untilAvailable(() => deps.agents().inject({ ...mainSessionOf(action?.agentId, deps), text, id }), signal, deps);
  } catch (error) {
    signal.throwIfAborted();
    // A session that takes no note must not keep the row for ever.
    if (isTransient(error)) throw error;
    deps.ctx.logger.error(`hook agent run runId=${row.uid}: its note could not be stored`, { error: messageOf(error), text });
  }
  await reached("hooks.after-note");
}

function verbOf({ state, isAsked }: Failure): string {
  if (isAsked) return "was dropped";
  return state === "expired" ? "expired" : "failed";
}

function adviceOf({ uid }: DeliveryRow, { isAsked }: Failure, action: StoredAction | undefined): string {
  return isAsked || !action ? "" : ` (svc hooks retry ${uid} runs it again within 7 days)`;
}
