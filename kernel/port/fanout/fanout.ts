import { limits, type StateVersion } from "../../../sdk/protocol/frames.ts";
import { RawJson } from "../../../sdk/protocol/raw-json.ts";
import type { ClientInfo, EmitOptions } from "../../../sdk/types/rpc.ts";
import { audienceOf, eventSpec } from "./audience.ts";
import { createGroups } from "./groups.ts";
import { createMergeWindows } from "./merge-windows.ts";
import { createSlowConsumers, type OutboundAccount, type OutboundLimits, type Outlet, type SlowConsumers } from "./slow-consumers.ts";

/** What the fan-out needs of a connection. */
export interface Receiver extends Outlet {
  readonly info: ClientInfo;
  write(frame: string): void;
}

/** The way of everything that a connection gets. */
export interface Line {
  subscribe(topic: string): void;
  unsubscribe(topic: string): void;
  /** A frame that is never skipped: it goes out, or the connection ends. */
  answer(frame: string): void;
  remove(): void;
}

/** Everybody who gets events. */
export interface Fanout {
  add(receiver: Receiver): Line;
  emit(event: string, payload: unknown, options?: EmitOptions & { stateVersion?: StateVersion }): void;
  size(): number;
  receivers(): Iterable<ClientInfo>;
  /** Cuts receivers that have stood still; called every few seconds. */
  look(): void;
  /** Resolves once everything has been handed to the system, or after `limitMs`. */
  flushed(limitMs: number): Promise<void>;
}

/** Deltas of one key reach a receiver at most this often. */
const MERGE_MS = 50;
const FLUSH_POLL_MS = 5;

/** Bounds of what waits unsent on the port. */
export const outboundLimits: OutboundLimits = {
  maxBytes: limits.maxBufferedBytes,
  maxTotalBytes: limits.maxBufferedTotalBytes,
  stallBytes: limits.stallBytes,
  stallProgressBytes: limits.stallProgressBytes,
  stallMs: limits.stallMs,
};

interface Outgoing {
  readonly name: string;
  readonly payload: unknown;
  readonly droppable: boolean;
  readonly stateVersion: StateVersion | undefined;
  readonly join: NonNullable<EmitOptions["merge"]>["join"] | undefined;
  /** Everything but the number, serialised once for all receivers, and not at all when it is merged away. */
  text: string | undefined;
}

/** What all lines share. */
interface Hub {
  subscribe(line: OpenLine, topic: string): void;
  unsubscribe(line: OpenLine, topic: string): void;
  remove(line: OpenLine): void;
}

/** One connection's numbering and account. A class, as there are thousands: its methods are made once. */
class OpenLine implements Line {
  readonly info: ClientInfo;
  readonly receiver: Receiver;
  readonly account: OutboundAccount;
  readonly #hub: Hub;
  seq = 0;

  constructor(receiver: Receiver, account: OutboundAccount, hub: Hub) {
    this.info = receiver.info;
    this.receiver = receiver;
    this.account = account;
    this.#hub = hub;
  }

  subscribe(topic: string): void {
    this.#hub.subscribe(this, topic);
  }

  unsubscribe(topic: string): void {
    this.#hub.unsubscribe(this, topic);
  }

  answer(frame: string): void {
    if (this.account.admits(frame.length, false)) this.receiver.write(frame);
  }

  remove(): void {
    this.#hub.remove(this);
  }
}

/** Serialises an event once, decides once per group of equal receivers, and hands each one a numbered frame. */
export function createFanout(options: {
  monotonic(): number;
  bounds?: OutboundLimits;
  /** The account that further kinds of connections share; default: one of its own. */
  outbound?: SlowConsumers | undefined;
}): Fanout {
  const groups = createGroups<OpenLine>();
  const slow = options.outbound ?? createSlowConsumers(options.bounds ?? outboundLimits, options.monotonic);
  const windows = createMergeWindows<Outgoing, OpenLine>({ windowMs: MERGE_MS, send: deliverLate, join });
  const hub: Hub = {
    subscribe: groups.subscribe,
    unsubscribe: groups.unsubscribe,
    remove(line) {
      groups.leave(line);
      windows.drop(line);
      line.account.remove();
    },
  };

  const hand = (event: Outgoing, line: OpenLine, merge: EmitOptions["merge"]) => {
    if (merge) return windows.offer(line, merge.key, event);
    // Order is kept: what waits goes out before any later event.
    windows.flush(line);
    deliver(line, event);
  };
  return {
    add(receiver) {
      const line = new OpenLine(receiver, slow.watch(receiver), hub);
      groups.enter(line);
      return line;
    },
    emit(name, payload, options = {}) {
      let event: Outgoing | undefined;
      for (const lines of groups.select(audienceOf(name, options))) {
        for (const line of lines) {
          if (options.only && !options.only(line.info)) continue;
          event ??= toOutgoing(name, payload, options);
          hand(event, line, options.merge);
        }
      }
    },
    size: groups.size,
    *receivers() {
      for (const { info } of groups.all()) yield info;
    },
    look: slow.look,
    async flushed(limitMs) {
      const deadline = performance.now() + limitMs;
      while (slow.total() > 0 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, FLUSH_POLL_MS));
    },
  };
}

function toOutgoing(name: string, payload: unknown, options: EmitOptions & { stateVersion?: StateVersion }): Outgoing {
  const { merge, stateVersion } = options;
  const droppable = options.droppable ?? (eventSpec(name)?.droppable || merge !== undefined);
  return { name, payload, droppable, join: merge?.join, stateVersion, text: undefined };
}

function join(earlier: Outgoing, later: Outgoing): Outgoing {
  return { ...later, payload: later.join?.(earlier.payload, later.payload), text: undefined };
}

function textOf({ name, payload, stateVersion }: Outgoing): string {
  const json = payload instanceof RawJson ? payload.text : JSON.stringify(payload);
  const body = json === undefined ? "" : `,"payload":${json}`;
  const versions = stateVersion ? `,"stateVersion":${JSON.stringify(stateVersion)}` : "";
  return `{"type":"event","event":${JSON.stringify(name)}${body}${versions},"seq":`;
}

/** An event that waited is sent by a timer or in front of somebody else's event: its emitter is not there any more to be told that it has no JSON form. */
function deliverLate(line: OpenLine, event: Outgoing): void {
  try {
    deliver(line, event);
  } catch {
    line.seq += 1; // a loss shows as a gap
  }
}

/** A skipped event still takes its number, so that a gap always means loss. @throws {TypeError} for a payload without a JSON form, before it takes one */
function deliver(line: OpenLine, event: Outgoing): void {
  event.text ??= textOf(event);
  line.seq += 1;
  const frame = `${event.text}${line.seq}}`;
  if (line.account.admits(frame.length, event.droppable)) line.receiver.write(frame);
}
