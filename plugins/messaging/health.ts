import type { DeliveryState, HookMeta, Store } from "svc/sdk";
import type { Queue } from "./queue/queue.ts";

const states = ["accepted", "sending", "uncertain", "done", "failed", "expired"] as const satisfies readonly DeliveryState[];
type OutState = (typeof states)[number];

/** Messages by state: in `status` all of them, in `health` only whether the queue works. */
export async function reportHealth(
  { store, queue }: { store(): Store; queue: Pick<Queue, "problem"> },
  meta: Pick<HookMeta, "report">,
): Promise<void> {
  const problem = queue.problem();
  meta.report({ part: "messaging", ok: problem === undefined, ...(problem === undefined ? {} : { message: `messages wait: ${problem}` }) });
  meta.report({ part: "outbound", ok: true, only: "status", value: await outboundCounts(store()) });
}

/** Number of messages by state; failed ones are kept for a week. */
export async function outboundCounts(store: Store): Promise<Record<OutState, number>> {
  const counted = (await store.deliveries.counts()).byDir.out ?? {};
  return Object.fromEntries(states.map((state) => [state, counted[state] ?? 0])) as Record<OutState, number>;
}
