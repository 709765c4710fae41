import type { Agents, DeliveryDir, Lease, Messaging, PluginContext, Store } from "svc/sdk";

/** Rows that are processed here; wakes are done when they are accepted. */
export const PROCESSED_DIRS: readonly DeliveryDir[] = ["hook-agent"];

/** Dependencies shared by the parts of this folder. Services are asked for at each use: a provider may be replaced. */
export interface DeliveryDeps {
  readonly ctx: Pick<PluginContext, "clock" | "timers" | "logger" | "tracing">;
  /** Owner of claimed rows: this instance of the plugin in this boot. What another one has claimed, and did not end, is found as left behind. */
  readonly lease: string;
  /** Acquires the role of the one instance that processes; an earlier one loses it. */
  acquire(): Promise<Lease>;
  store(): Store;
  agents(): Agents;
  /** Undefined where nobody carries messages. */
  messaging(): Messaging | undefined;
}
