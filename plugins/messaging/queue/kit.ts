import type { Clock, DeliveryDir, Disposable, Lease, Logger, MessageRoute, Store, Timers } from "svc/sdk";
import type { Outgoing } from "./message.ts";

/** The rows of this plugin. */
export const OUT: readonly DeliveryDir[] = ["out"];

/** `waiting`: nothing can be sent at present, the message stays where it is. `refused`: it never can. */
export type Readiness = "ready" | "waiting" | { refused: string };

/** Hands messages to one channel. */
export interface Carrier {
  /** A message that comes again under its `uid` is shown once. */
  readonly isIdempotent: boolean;
  readiness(route: MessageRoute): Readiness;
  /** @throws as `Channel.send` */
  send(message: Outgoing, signal: AbortSignal): Promise<{ messageId: string }>;
}

/** Event for plugins about a failed attempt. */
export interface Failure {
  error: string;
  attempt: number;
  permanent: boolean;
  outcome: "retry" | "uncertain" | "failed" | "expired";
}

/** Dependencies of the queue. */
export interface QueueKit {
  store(): Store;
  clock: Clock;
  timers: Pick<Timers, "setTimeout">;
  logger: Logger;
  /** Owner of claimed rows: this instance in this boot. What another one has claimed and left is taken over at the start. */
  lease: string;
  /** Acquires the role of the one queue that sends; an earlier instance loses it. */
  acquire(): Promise<Lease>;
  /** Undefined: there is no such channel. */
  carrierOf(channel: string): Promise<Carrier | undefined>;
  /** Messages that the channel cannot take now are left in their place; a nudge follows when it can. */
  canSend(route: MessageRoute): boolean;
  /** Leaves a line in the session of the message; once for each `id`, however often it is asked for. */
  leaveNote(message: Outgoing, note: { id: string; text: string }): Promise<void>;
  sent(message: Outgoing, receipt: { messageId: string; attempt: number; at: number }): void;
  failed(message: Outgoing, failure: Failure): void;
  /** Work that a stop of the gateway waits for. */
  hold(reason: string): Disposable;
  /** [0, 1) */
  random(): number;
}
