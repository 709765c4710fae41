import { RawJson } from "../../../sdk/internal/raw-json.ts";
import type { EventSpec } from "../../../sdk/protocol/events.ts";
import { limits, type StateVersion } from "../../../sdk/protocol/frames.ts";
import type { ClientInfo, EmitOptions } from "../../../sdk/types/rpc.ts";
import { audienceOf, coreEventSpec } from "./audience.ts";
import { createGroups } from "./groups.ts";
import { createMergeWindows } from "./merge-windows.ts";
import {
  createSlowConsumers,
  type OutboundAccount,
  type OutboundLimits,
  type OutboundSocket,
  type SlowConsumers,
} from "./slow-consumers.ts";

/** Part of a connection that the fan-out uses. */
export interface Subscriber extends OutboundSocket {
  readonly info: ClientInfo;
  write(frame: string): void;
}

/** The way of everything that a connection gets. */
export interface Subscription {
  subscribe(topic: string): void;
  unsubscribe(topic: string): void;
  /** A frame that is never skipped: it goes out, or the connection ends. */
  answer(frame: string): void;
  remove(): void;
}

/** Sends events to all subscribers. */
export interface Fanout {
  add(subscriber: Subscriber): Subscription;
  emit(event: string, payload: unknown, options?: EmitOptions & { stateVersion?: StateVersion }): void;
  size(): number;
  subscribers(): Iterable<ClientInfo>;
  /** Cuts subscribers that have stood still; called every few seconds. */
  cutStalled(): void;
  /** Resolves once everything has been handed to the system, or after `limitMs`. */
  flushed(limitMs: number): Promise<void>;
}

/** Deltas of one key reach a subscriber at most this often. */
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
  /** Everything but the number, serialised once for all subscribers, and not at all when it is merged away. */
  text: string | undefined;
}

/** State shared by all subscriptions. */
interface Hub {
  subscribe(subscription: OpenSubscription, topic: string): void;
  unsubscribe(subscription: OpenSubscription, topic: string): void;
  remove(subscription: OpenSubscription): void;
}

/** One connection's numbering and account. A class, as there are thousands: its methods are made once. */
class OpenSubscription implements Subscription {
  readonly info: ClientInfo;
  readonly subscriber: Subscriber;
  readonly account: OutboundAccount;
  readonly #hub: Hub;
  seq = 0;

  constructor(subscriber: Subscriber, account: OutboundAccount, hub: Hub) {
    this.info = subscriber.info;
    this.subscriber = subscriber;
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
    if (this.account.admits(frame.length, false)) this.subscriber.write(frame);
  }

  remove(): void {
    this.#hub.remove(this);
  }
}

/** Serialises an event once, decides once per group of equal subscribers, and hands each one a numbered frame. */
export function createFanout(options: {
  monotonic(): number;
  /** Row of an event in the table of the plugin that sends it. */
  eventRow?(name: string): EventSpec | undefined;
  bounds?: OutboundLimits;
  /** The account that further kinds of connections share; default: one of its own. */
  outbound?: SlowConsumers | undefined;
}): Fanout {
  const { eventRow } = options;
  const groups = createGroups<OpenSubscription>();
  const slow = options.outbound ?? createSlowConsumers(options.bounds ?? outboundLimits, options.monotonic);
  const windows = createMergeWindows<Outgoing, OpenSubscription>({ windowMs: MERGE_MS, send: deliverLate, join });
  const hub: Hub = {
    subscribe: groups.subscribe,
    unsubscribe: groups.unsubscribe,
    remove(subscription) {
      groups.leave(subscription);
      windows.drop(subscription);
      subscription.account.remove();
    },
  };

  const hand = (event: Outgoing, subscription: OpenSubscription, merge: EmitOptions["merge"]) => {
    if (merge) return windows.offer(subscription, merge.key, event);
    // Order is kept: what waits goes out before any later event.
    windows.flush(subscription);
    deliver(subscription, event);
  };
  return {
    add(subscriber) {
      const subscription = new OpenSubscription(subscriber, slow.watch(subscriber), hub);
      groups.enter(subscription);
      return subscription;
    },
    emit(name, payload, options = {}) {
      // Each word of a model is an event, whether or not somebody listens.
      if (groups.size() === 0) return;
      const { merge, stateVersion } = options;
      const spec = coreEventSpec(name) ?? eventRow?.(name);
      const droppable = options.droppable ?? (spec?.droppable || merge !== undefined);
      let event: Outgoing | undefined;
      for (const subscriptions of groups.select(audienceOf(name, spec, options))) {
        for (const subscription of subscriptions) {
          if (options.only && !options.only(subscription.info)) continue;
          event ??= { name, payload, droppable, join: merge?.join, stateVersion, text: undefined };
          hand(event, subscription, merge);
        }
      }
    },
    size: groups.size,
    *subscribers() {
      for (const { info } of groups.all()) yield info;
    },
    cutStalled: slow.look,
    async flushed(limitMs) {
      const deadline = performance.now() + limitMs;
      while (slow.total() > 0 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, FLUSH_POLL_MS));
    },
  };
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
function deliverLate(subscription: OpenSubscription, event: Outgoing): void {
  try {
    deliver(subscription, event);
  } catch {
    subscription.seq += 1; // a loss shows as a gap
  }
}

/** A skipped event still takes its number, so that a gap always means loss. @throws {TypeError} for a payload without a JSON form, before it takes one */
function deliver(subscription: OpenSubscription, event: Outgoing): void {
  event.text ??= textOf(event);
  subscription.seq += 1;
  const frame = `${event.text}${subscription.seq}}`;
  if (subscription.account.admits(frame.length, event.droppable)) subscription.subscriber.write(frame);
}
