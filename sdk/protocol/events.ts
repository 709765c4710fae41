import type { Scope } from "../types/rpc.ts";
import type { PluginEvents } from "./plugin-methods.ts";

/** One row of the table of events. */
export interface EventSpec {
  /** Scope a receiver needs; `none` = every authenticated connection. */
  scope: Scope | "none";
  /** May be skipped for a receiver whose buffer is full. */
  droppable: boolean;
  /** `subscribed`: a node gets it only when it has subscribed to it by name. */
  nodes?: "subscribed";
  about: string;
}

/** Events that the gateway itself sends. Those of bundled plugins stand in the plugins; other plugins' events are `plugin.<id>.<name>`. */
export const protocolEvents = {
  "connect.challenge": { scope: "none", droppable: false, about: "first frame of every socket: nonce and server time" },
  tick: { scope: "none", droppable: true, about: "every 30 s" },
  shutdown: { scope: "none", droppable: false, about: "the gateway is stopping: only the close frame follows" },
  health: { scope: "none", droppable: true, nodes: "subscribed", about: "the health snapshot, after each change and every 60 s" },
  presence: { scope: "read", droppable: true, about: "a client connected, disconnected or sent a beacon" },
  "config.changed": { scope: "read", droppable: true, about: "the config file was written: path, hash, ts" },
  "plugins.changed": { scope: "read", droppable: true, about: "a plugin changed state, or panels of the control UI came or went" },
} as const satisfies Record<string, EventSpec>;

/** Name of an event whose row stands here. */
export type CoreEvent = keyof typeof protocolEvents;
/** Name of an event of this release, those of bundled plugins included. */
export type ProtocolEvent = CoreEvent | keyof PluginEvents;
