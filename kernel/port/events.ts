import { protocolEvents } from "../../sdk/protocol/events.ts";
import { limits, type StateVersion } from "../../sdk/protocol/frames.ts";
import { hasScope, toOperatorScope } from "../../sdk/scopes.ts";
import type { ClientInfo, EmitOptions, Scope } from "../../sdk/types/rpc.ts";

/** Deltas of one key reach a receiver at most this often. */
const MERGE_MS = 50;

/** What the fan-out needs of a connection. */
export interface Receiver {
  readonly info: ClientInfo;
  readonly topics: ReadonlySet<string>;
  /** Unsent bytes. */
  buffered(): number;
  send(frame: string): void;
  cut(code: number, reason: string): void;
}

export interface Fanout {
  add(receiver: Receiver): { remove(): void };
  emit(event: string, payload: unknown, options?: EmitOptions & { stateVersion?: StateVersion }): void;
  size(): number;
  receivers(): Iterable<ClientInfo>;
}

interface Outgoing {
  name: string;
  payload: unknown;
  droppable: boolean;
  merge: EmitOptions["merge"];
  stateVersion: StateVersion | undefined;
  /** Payload and state version, serialised once for all receivers, and not at all when it is merged away. */
  tail: string | undefined;
}

interface Line {
  receiver: Receiver;
  seq: number;
  waiting: Map<string, { event: Outgoing | undefined; timer: NodeJS.Timeout }>;
}

/** Serialises an event once and hands each receiver a numbered frame. */
export function createFanout(): Fanout {
  const lines = new Set<Line>();
  return {
    add(receiver) {
      const line: Line = { receiver, seq: 0, waiting: new Map() };
      lines.add(line);
      return {
        remove() {
          lines.delete(line);
          for (const { timer } of line.waiting.values()) clearTimeout(timer);
          line.waiting.clear();
        },
      };
    },
    emit(name, payload, options = {}) {
      const spec = (protocolEvents as Record<string, { scope: Scope | "none"; droppable: boolean }>)[name];
      const scope = options.scope ?? spec?.scope ?? "write";
      let event: Outgoing | undefined;
      for (const line of lines) {
        if (!wants(line.receiver, scope, options)) continue;
        event ??= {
          name,
          payload,
          droppable: options.droppable ?? (spec?.droppable || options.merge !== undefined),
          merge: options.merge,
          stateVersion: options.stateVersion,
          tail: undefined,
        };
        if (options.merge) hold(line, event, options.merge);
        else {
          flush(line);
          deliver(line, event);
        }
      }
    },
    size: () => lines.size,
    *receivers() {
      for (const line of lines) yield line.receiver.info;
    },
  };
}

function wants(receiver: Receiver, scope: Scope | "none", options: EmitOptions): boolean {
  if (scope !== "none" && !hasScope(receiver.info.scopes, toOperatorScope(scope))) return false;
  if (options.topic !== undefined && !receiver.topics.has(options.topic)) return false;
  return options.only === undefined || options.only(receiver.info);
}

function tailOf(payload: unknown, stateVersion: StateVersion | undefined): string {
  const body = payload === undefined ? "" : `,"payload":${JSON.stringify(payload)}`;
  return stateVersion ? `${body},"stateVersion":${JSON.stringify(stateVersion)}` : body;
}

/** The first event of a key goes out at once; what follows within 50 ms is joined into one. */
function hold(line: Line, event: Outgoing, merge: NonNullable<EmitOptions["merge"]>): void {
  const slot = line.waiting.get(merge.key);
  if (!slot) {
    const timer = setTimeout(() => release(line, merge.key), MERGE_MS);
    line.waiting.set(merge.key, { event: undefined, timer });
    deliver(line, event);
    return;
  }
  if (!slot.event) {
    slot.event = event;
    return;
  }
  const payload = merge.join(slot.event.payload, event.payload);
  slot.event = { ...event, payload, tail: undefined };
}

function release(line: Line, key: string): void {
  const slot = line.waiting.get(key);
  if (!slot) return;
  clearTimeout(slot.timer);
  line.waiting.delete(key);
  if (!slot.event) return;
  deliver(line, slot.event);
  line.waiting.set(key, { event: undefined, timer: setTimeout(() => release(line, key), MERGE_MS) });
}

/** Order is kept: what waits goes out before any later event. */
function flush(line: Line): void {
  for (const [key, slot] of line.waiting) {
    clearTimeout(slot.timer);
    line.waiting.delete(key);
    if (slot.event) deliver(line, slot.event);
  }
}

/** A skipped event still takes its number, so that a gap always means loss. */
function deliver(line: Line, event: Outgoing): void {
  line.seq += 1;
  if (line.receiver.buffered() > limits.maxBufferedBytes) {
    if (!event.droppable) line.receiver.cut(1008, "slow consumer");
    return;
  }
  event.tail ??= tailOf(event.payload, event.stateVersion);
  line.receiver.send(`{"type":"event","event":${JSON.stringify(event.name)}${event.tail},"seq":${line.seq}}`);
}
