import { isSvcError, reached, type StoreOp } from "svc/sdk";
import { untilTaken } from "../patience.ts";
import { summaryText } from "../summary-text.ts";
import { mainSessionOf } from "../target.ts";
import { type Carried, record } from "./carried.ts";

/** Tells the main session what came of the action. The event and the record of it are one commit: it is told exactly once. */
export async function summaryStep(carried: Carried, end: { text: string } | { error: string }): Promise<void> {
  const { row, action, kit, signal } = carried;
  if (row.steps.summary) return;
  const text = summaryText(action.name, end);
  await reached("hooks.before-summary");
  try {
    await record(carried, "summary", { value: { as: "event" }, with: [summaryEvent(carried, text)] });
  } catch (error) {
    if (!isSvcError(error, "system-events-full")) throw error;
    // Nobody has read a thousand events; the people who look into the session see it all the same.
    const target = mainSessionOf(action.agentId, kit);
    await untilTaken(() => kit.agents().inject({ ...target, text, id: `${row.uid}:summary` }), signal, kit);
    await record(carried, "summary", { value: { as: "note" } });
  }
  await reached("hooks.after-summary");
}

/** With `wakeMode: now` the event remembers that somebody is to be woken, so that a restart does not forget it. */
export function summaryEvent({ row, action, kit }: Pick<Carried, "row" | "action" | "kit">, text: string): StoreOp {
  const { sessionKey } = mainSessionOf(action.agentId, kit);
  const event = { sessionKey, text, same: row.uid, source: "hook", ts: kit.ctx.clock.now(), wake: action.wakeMode === "now" };
  return { op: "systemEvent.add", event };
}
