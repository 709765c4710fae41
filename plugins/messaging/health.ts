import type { DeliveryState, HookMeta, PluginContext, Store } from "svc/sdk";
import type { Accounts } from "./accounts/accounts.ts";
import { channelsStatus } from "./accounts/status.ts";
import type { Queue } from "./queue/queue.ts";

const states = ["accepted", "sending", "uncertain", "done", "failed", "expired"] as const satisfies readonly DeliveryState[];
type OutState = (typeof states)[number];

interface HealthDeps {
  ctx: Pick<PluginContext, "snapshot" | "clock" | "signal">;
  store(): Store;
  queue: Pick<Queue, "problem">;
  accounts: Accounts;
}

/** Accounts of channels; messages by state, in `status` all of them, in `health` only whether the queue works. */
export async function reportHealth({ ctx, store, queue, accounts }: HealthDeps, meta: Pick<HookMeta, "report">): Promise<void> {
  const problem = queue.problem();
  meta.report({ part: "messaging", ok: problem === undefined, ...(problem === undefined ? {} : { message: `messages wait: ${problem}` }) });
  meta.report({ part: "outbound", ok: true, only: "status", value: await outboundCounts(store()) });
  const { channelOrder, channelLabels, channels, channelAccounts } = await channelsStatus({}, { ctx, accounts, store });
  const rows = Object.fromEntries(
    channelOrder.map((id) => [id, { accounts: channelAccounts[id]?.map((one) => ({ ...one, state: one.lifecycle })) ?? [] }]),
  );
  const down = Object.entries(channelAccounts).flatMap(([id, listed]) =>
    listed
      .filter(({ lifecycle, isHeldElsewhere }) => lifecycle === "blocked" || isHeldElsewhere === true)
      .map(
        ({ accountId, lifecycle, lastError }) =>
          `${id}/${accountId} is ${lifecycle === "blocked" ? "blocked" : "not started"}${lastError === undefined ? "" : `: ${lastError}`}`,
      ),
  );
  const broken = Object.entries(channels).flatMap(([id, { error }]) => (error === undefined ? [] : [`${id}: ${error}`]));
  const message = [...down, ...broken].join("; ");
  // A chat that is down must not take the gateway out of rotation.
  meta.report({ part: "channels", ok: message === "", critical: false, value: rows, ...(message === "" ? {} : { message }) });
  meta.report({ part: "channelOrder", ok: true, value: channelOrder });
  meta.report({ part: "channelLabels", ok: true, value: channelLabels });
  meta.report({
    part: "channelSummary",
    ok: true,
    only: "status",
    value: Object.entries(channelAccounts).flatMap(([id, listed]) =>
      listed.map(({ accountId, lifecycle, lastError, queueDepth }) => ({
        channel: id,
        accountId,
        lifecycle,
        queueDepth,
        ...(lastError === undefined ? {} : { lastError }),
      })),
    ),
  });
}

/** Number of messages by state; failed ones are kept for a week. */
export async function outboundCounts(store: Store): Promise<Record<OutState, number>> {
  const counted = (await store.deliveries.counts()).byDir.out ?? {};
  return Object.fromEntries(states.map((state) => [state, counted[state] ?? 0])) as Record<OutState, number>;
}
