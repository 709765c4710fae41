import type { Agents, DeliveryDir, Messaging, PluginContext, Store } from "svc/sdk";

/** Rows that are carried out here; wakes are done when they are accepted. */
export const CARRIED: readonly DeliveryDir[] = ["hook-agent"];

/** Dependencies shared by the parts of this folder. Services are asked for at each use: a provider may be replaced. */
export interface DeliveryKit {
  readonly ctx: Pick<PluginContext, "clock" | "timers" | "logger">;
  /** Owner of claimed rows: this instance of the plugin in this boot. What another one has claimed, and did not end, is found as left behind. */
  readonly lease: string;
  store(): Store;
  agents(): Agents;
  /** Undefined where nobody carries messages. */
  messaging(): Messaging | undefined;
}
