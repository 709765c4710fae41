import type { Scope } from "../types/rpc.ts";

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

/** Events of the protocol. Plugins' own events are `plugin.<id>.<name>`. */
export const protocolEvents = {
  "connect.challenge": { scope: "none", droppable: false, about: "first frame of every socket: nonce and server time" },
  tick: { scope: "none", droppable: true, about: "every 30 s" },
  shutdown: { scope: "none", droppable: false, about: "the gateway is stopping: only the close frame follows" },
  health: { scope: "none", droppable: true, nodes: "subscribed", about: "the health snapshot, after each change and every 60 s" },
  presence: { scope: "read", droppable: true, about: "a client connected, disconnected or sent a beacon" },
  "config.changed": { scope: "read", droppable: true, about: "the config file was written: path, hash, ts" },
  "plugins.changed": { scope: "read", droppable: true, about: "a plugin changed state" },
  "device.pair.requested": { scope: "pairing", droppable: true, about: "a device is waiting for approval" },
  "device.pair.resolved": { scope: "pairing", droppable: true, about: "a device was approved or rejected, or its request expired" },
  agent: { scope: "read", droppable: false, about: "progress of a run: lifecycle, assistant, tool, item, usage" },
  chat: { scope: "read", droppable: false, about: "what a chat view shows of a run: delta, final, aborted, error" },
  "session.message": { scope: "read", droppable: false, about: "a message was stored; after sessions.messages.subscribe" },
  "session.tool": { scope: "read", droppable: false, about: "a tool call in a subscribed session" },
  heartbeat: { scope: "none", droppable: true, nodes: "subscribed", about: "a heartbeat of an agent ended or was skipped, and why" },
  "sessions.changed": { scope: "read", droppable: true, about: "the session list changed; after sessions.subscribe" },
  "exec.approval.requested": { scope: "approvals", droppable: true, about: "a request to run a command is waiting for a decision" },
  "exec.approval.resolved": { scope: "approvals", droppable: true, about: "a request to run a command was decided, or it expired" },
  "plugin.approval.requested": { scope: "approvals", droppable: true, about: "a request of a plugin is waiting for a decision" },
  "plugin.approval.resolved": { scope: "approvals", droppable: true, about: "a request of a plugin was decided, or it expired" },
  "memory.progress": { scope: "read", droppable: true, about: "progress of an index sync, at most ten a second" },
} as const satisfies Record<string, EventSpec>;

/** Name of an event of this release. */
export type ProtocolEvent = keyof typeof protocolEvents;
