import type { Agents, DeliveryDir, DeliveryRow, Lease, Messaging, PluginContext, RunHandle, Store } from "svc/sdk";
import type { RunDisplay } from "../live/run-display.ts";
import type { MediaStore } from "../media/media-store.ts";
import type { Inbound } from "./stored.ts";

/** The rows that are executed here. */
export const IN: readonly DeliveryDir[] = ["in"];

/** Dependencies of the parts that run messages from channels. Services are asked for at each use: a provider may be replaced. */
export interface InboundDeps {
  readonly ctx: Pick<PluginContext, "clock" | "timers" | "logger" | "snapshot">;
  /** Owner of claimed rows: this instance in this boot. It begins with the id of the boot and a slash, by which the store knows whose run a row began. */
  readonly lease: string;
  /** Acquires the role of the one instance that runs them. */
  acquire(): Promise<Lease>;
  store(): Store;
  agents(): Agents;
  media: Pick<MediaStore, "read" | "remove" | "takeOver" | "expire">;
  deliver: Messaging["deliver"];
  isOwner: Messaging["isOwner"];
  /** Shows a run in the conversation that it answers. */
  display(work: { row: DeliveryRow; inbound: Inbound; handle: RunHandle }): RunDisplay;
}
