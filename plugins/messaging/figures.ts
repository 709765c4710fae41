import type { PluginContext, Store } from "svc/sdk";
import type { AccountState } from "./accounts/state.ts";

/** Figures of channels and of what is sent through them, for monitoring. */
export interface ChannelFigures {
  /** Why an account was started again: its channel ended by itself, or a check found it stuck. */
  restarted(channel: string, account: string, cause: "ended" | "check"): void;
  received(channel: string, outcome: string): void;
  /** One try to send a message; `sent`, or what comes next. */
  tried(channel: string, outcome: "sent" | "retry" | "uncertain" | "failed" | "expired"): void;
}

interface Sources {
  accounts(): Iterable<{ channel: { id: string }; accountId: string; state: Pick<AccountState, "lifecycle" | "connected"> }>;
  store(): Store;
}

/** How often the rows that wait are counted, at most. */
const COUNT_MS = 5_000;

export function createFigures(ctx: Pick<PluginContext, "metrics" | "clock">, { accounts, store }: Sources): ChannelFigures {
  const { metrics } = ctx;
  const of = ["channel", "account"];
  const restarts = metrics.counter({
    name: "channel_restarts_total",
    help: "Accounts of channels that were started again",
    labels: [...of, "cause"],
  });
  const received = metrics.counter({ name: "channel_inbound_total", help: "Messages from channels", labels: ["channel", "outcome"] });
  const tries = metrics.counter({ name: "deliveries_total", help: "Tries to send a message to a channel", labels: ["channel", "outcome"] });
  metrics.gauge({ name: "channel_account_state", help: "1 for the state that an account is in", labels: [...of, "state"] }, (set) => {
    for (const { channel, accountId, state } of accounts()) set(1, channel.id, accountId, state.lifecycle);
  });
  metrics.gauge({ name: "channel_connected", help: "1 while the link of an account is up", labels: of }, (set) => {
    for (const { channel, accountId, state } of accounts()) set(state.connected ? 1 : 0, channel.id, accountId);
  });
  const waiting = createCount(ctx, async () => {
    const { byDir } = await store().deliveries.counts();
    const { accepted = 0, sending = 0, uncertain = 0 } = byDir.out ?? {};
    return accepted + sending + uncertain;
  });
  metrics.gauge({ name: "queue_depth", help: "Work that waits", labels: ["queue"] }, (set) => set(waiting(), "deliveries"));
  return {
    restarted: (channel, account, cause) => restarts.add(1, channel, account, cause),
    received: (channel, outcome) => received.add(1, channel, outcome),
    tried: (channel, outcome) => tries.add(1, channel, outcome),
  };
}

/** A gauge is read at once, rows are not: it shows the last count, and asks for another. */
function createCount({ clock }: Pick<PluginContext, "clock">, count: () => Promise<number>): () => number {
  let known = 0;
  let askedAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock.monotonic();
    if (now - askedAt >= COUNT_MS) {
      askedAt = now;
      count().then(
        (found) => {
          known = found;
        },
        () => undefined, // the storage's own figures say that it is away
      );
    }
    return known;
  };
}
