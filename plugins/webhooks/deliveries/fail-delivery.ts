import { type DeliveryRow, type DeliveryState, isSvcError, type JsonObject, messageOf, reached, type StoreOp } from "svc/sdk";
import { aboutOf } from "../about.ts";
import type { DeliveryKit } from "../kit.ts";
import { commitAtLast, isPassing, untilTaken } from "../patience.ts";
import { decodeAction, type StoredAction } from "../stored-action.ts";
import { hookLabel, summaryLine, summaryText } from "../summary-text.ts";
import { mainSessionOf } from "../target.ts";
import { stepOp } from "./carried.ts";
import { summaryEvent } from "./summary.ts";

/** An end without a result. */
export interface GivenUp {
  state: "failed" | "expired";
  /** States the row may be in; with `running` of this instance, nobody else may have claimed it meanwhile. */
  from: readonly DeliveryState[];
  isOwn: boolean;
  /** Plain sentence, safe to show. */
  reason: string;
  /** An operator has just asked for it: first the end, which may be refused, then the note. */
  isAsked?: boolean;
  /** Number of the run that an operator's retry begins. */
  next?: number;
}

/** Ends a row that will not be carried out (any more), with a note that people see in the main session. @throws {SvcError} `delivery-state` */
export async function giveUp(row: DeliveryRow, end: GivenUp, { kit, signal }: { kit: DeliveryKit; signal: AbortSignal }): Promise<void> {
  const action = decodeAction(row);
  const at = { kit, signal };
  if (!end.isAsked) await note(row, { action, end }, at);
  await reached("hooks.before-give-up");
  await commitEnd(row, { action, end }, at);
  await reached("hooks.after-give-up");
  if (end.isAsked) await note(row, { action, end }, at);
  if (action) wakeFor(action, kit);
  kit.ctx.logger.warn(`hook agent run failed runId=${row.uid} state=${end.state}`, { reason: end.reason, attempt: row.attempt });
}

interface What {
  action: StoredAction | undefined;
  end: GivenUp;
}

async function commitEnd(
  row: DeliveryRow,
  { action, end }: What,
  { kit, signal }: { kit: DeliveryKit; signal: AbortSignal },
): Promise<void> {
  const result: JsonObject = {
    status: end.isAsked || end.state === "expired" ? "skipped" : "error",
    reason: summaryLine(end.reason),
    ...(action ? { about: aboutOf(action) } : {}),
  };
  const finish: StoreOp[] = [
    ...(end.isOwn ? [stepOp({ row, kit }, "retry", { next: end.next ?? 1, reason: summaryLine(end.reason) })] : []),
    { op: "delivery.finish", uid: row.uid, from: end.from, state: end.state, result, at: kit.ctx.clock.now() },
  ];
  const isTold = action === undefined || row.steps.summary !== undefined;
  const event = isTold ? [] : [summaryEvent({ row, action, kit }, summaryText(action.name, { error: end.reason }))];
  const isStored = () => kit.store().deliveries.get(row.uid)?.state === end.state;
  try {
    await commitAtLast([...event, ...finish], { kit, signal, isStored });
  } catch (error) {
    // The note says it, too.
    if (!isSvcError(error, "system-events-full")) throw error;
    await commitAtLast(finish, { kit, signal, isStored });
  }
}

/** Its id is the same for every try to end the row, and another one after an operator's retry. */
async function note(row: DeliveryRow, { action, end }: What, { kit, signal }: { kit: DeliveryKit; signal: AbortSignal }): Promise<void> {
  const text = `${hookLabel(action?.name ?? "without a readable payload")} ${verbOf(end)}: ${summaryLine(end.reason)}${adviceOf(row, end, action)}`;
  await reached("hooks.before-note");
  try {
    const id = `${row.uid}:note:${row.expiresAt}`;
    await untilTaken(() => kit.agents().inject({ ...mainSessionOf(action?.agentId, kit), text, id }), signal, kit);
  } catch (error) {
    signal.throwIfAborted();
    // A session that takes no note must not keep the row for ever.
    if (isPassing(error)) throw error;
    kit.ctx.logger.error(`hook agent run runId=${row.uid}: its note could not be stored`, { error: messageOf(error), text });
  }
  await reached("hooks.after-note");
}

function verbOf({ state, isAsked }: GivenUp): string {
  if (isAsked) return "was dropped";
  return state === "expired" ? "expired" : "failed";
}

function adviceOf({ uid }: DeliveryRow, { isAsked }: GivenUp, action: StoredAction | undefined): string {
  return isAsked || !action ? "" : ` (svc hooks retry ${uid} runs it again within 7 days)`;
}

function wakeFor({ agentId, wakeMode }: StoredAction, kit: DeliveryKit): void {
  if (wakeMode !== "now") return;
  try {
    kit.agents().wake({ agentId: mainSessionOf(agentId, kit).agentId, reason: "hook", mode: "now" });
  } catch (error) {
    kit.ctx.logger.warn("no agent could be woken for a hook", { agentId, error: messageOf(error) });
  }
}
