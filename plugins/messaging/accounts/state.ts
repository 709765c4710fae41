import type { ChannelState } from "svc/sdk";

/** An account as operators see it. Times are epoch ms. */
export interface AccountState {
  lifecycle: ChannelState["lifecycle"];
  connected: boolean;
  /** Tries to connect since it was last connected. */
  reconnectAttempts: number;
  /** Starts after the channel ended by itself. */
  restarts: number;
  lastStartAt?: number;
  lastStopAt?: number;
  lastConnectedAt?: number;
  lastDisconnect?: { at: number; error?: string };
  lastInboundAt?: number;
  lastOutboundAt?: number;
  lastError?: string;
  /** The last time that it was started again because it was stuck. */
  lastRestart?: { at: number; reason: string };
  /** Another gateway of this machine runs it. */
  isHeldElsewhere?: true;
  self?: { id?: string; name?: string };
}

export const stoppedState: AccountState = { lifecycle: "stopped", connected: false, reconnectAttempts: 0, restarts: 0 };

const lifecycles = ["starting", "ready", "recovering", "blocked", "stopped"] as const satisfies ReadonlyArray<ChannelState["lifecycle"]>;

/**
 * The state after what a channel says of itself. Pure.
 * @param clean takes secrets and control characters off a text of the channel
 */
export function patched(
  state: AccountState,
  patch: Partial<ChannelState>,
  { now, clean }: { now: number; clean: (text: string) => string },
): AccountState {
  const lifecycle = lifecycles.find((one) => one === patch.lifecycle) ?? state.lifecycle;
  const connected =
    typeof patch.connected === "boolean" ? patch.connected : lifecycle === "ready" || (state.connected && lifecycle === state.lifecycle);
  const lastError = typeof patch.lastError === "string" ? clean(patch.lastError) : state.lastError;
  const isNewlyReady = lifecycle === "ready" && state.lifecycle !== "ready";
  const isNewlyLost = lifecycle === "recovering" && state.lifecycle !== "recovering";
  return {
    ...state,
    lifecycle,
    connected,
    reconnectAttempts: isNewlyReady
      ? 0
      : state.reconnectAttempts + (lifecycle === "recovering" && patch.lifecycle === "recovering" ? 1 : 0),
    ...(lastError === undefined ? {} : { lastError }),
    ...(isNewlyReady ? { lastConnectedAt: now } : {}),
    ...(isNewlyLost ? { lastDisconnect: { at: now, ...(lastError === undefined ? {} : { error: lastError }) } } : {}),
    ...(patch.self ? { self: selfOf(patch.self, clean) } : {}),
  };
}

function selfOf({ id, name }: NonNullable<ChannelState["self"]>, clean: (text: string) => string): NonNullable<AccountState["self"]> {
  return {
    ...(typeof id === "string" && id !== "" ? { id: id.slice(0, 500) } : {}),
    ...(typeof name === "string" && name !== "" ? { name: clean(name) } : {}),
  };
}
