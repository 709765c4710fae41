import type { DeliveryState, HookMeta, SyncStore } from "svc/sdk";
import type { Queue } from "./queue/queue.ts";

const states = ["accepted", "sending", "uncertain", "done", "failed", "expired"] as const satisfies readonly DeliveryState[];
type OutState = (typeof states)[number];

/** Messages by state: in `status` all of them, in `health` only whether the queue works. */
export function reportHealth(
  { store, queue }: { store(): SyncStore; queue: Pick<Queue, "problem"> },
  meta: Pick<HookMeta, "report">,
): void {
  const problem = queue.problem();
  meta.report({ part: "messaging", ok: problem === undefined, ...(problem === undefined ? {} : { message: `messages wait: ${problem}` }) });
  meta.report({ part: "outbound", ok: true, only: "status", value: outboundCounts(store()) });
}

/** Number of messages by state; failed ones are kept for a week. */
export function outboundCounts(store: SyncStore): Record<OutState, number> {
  const counted = store.deliveries.counts().byDir.out ?? {};
  return Object.fromEntries(states.map((state) => [state, counted[state] ?? 0])) as Record<OutState, number>;
}
