import { arrivalsOf, inArrivals, knowsArrivals } from "../../sdk/internal/arrivals.ts";
import type { Disposable } from "../../sdk/types/common.ts";
import { runningCall } from "../hooks/running.ts";

/** One call under way in a plugin's code, and the call it was made from. */
interface Lease {
  readonly plugin: string;
  readonly outer: Lease | undefined;
  over: boolean;
  /** Callers that wait for its end. */
  readonly waiting: Array<() => void>;
}

/** Calls under way in one plugin instance; it is not taken down before they end, or their limit passes. */
export interface Leases {
  /** Runs code of the instance; the lease ends when its result has settled: a promise, or an async iterator read to its end. */
  run<T>(fn: () => T): T;
  /** A lease that its holder ends: an HTTP answer that is still being sent. */
  hold(): Disposable;
  count(): number;
  /** Resolves when no lease is left, at once when there is none. */
  idle(): Promise<void>;
}

const current = {
  run: <T>(lease: Lease | undefined, fn: () => T): T => runningCall.run(lease, fn),
  getStore: () => runningCall.getStore() as Lease | undefined,
};

/**
 * The end of the call of this plugin that the present code runs in, at whatever depth; undefined outside of any.
 * A call that takes the plugin down from inside such a call would wait for itself.
 */
export function ownCallEnd(plugin: string): Promise<void> | undefined {
  let lease = current.getStore();
  while (lease && (lease.over || lease.plugin !== plugin)) lease = lease.outer;
  const found = lease;
  return found && new Promise((resolve) => found.waiting.push(resolve));
}

/** Runs code as nobody's call: what it does later is not inside the call it was started from. */
export function outsideCalls<T>(fn: () => T): T {
  return current.run(undefined, fn);
}

export function createLeases(plugin: string): Leases {
  let open = 0;
  let waiting: Array<() => void> = [];

  const take = () => {
    const lease: Lease = { plugin, outer: current.getStore(), over: false, waiting: [] };
    open += 1;
    const end = () => {
      if (lease.over) return;
      lease.over = true;
      open -= 1;
      for (const tell of lease.waiting) tell();
      if (open > 0) return;
      const all = waiting;
      waiting = [];
      for (const tell of all) tell();
    };
    return { lease, end };
  };

  return {
    run(fn) {
      const { lease, end } = take();
      try {
        return settle(current.run(lease, fn), end);
      } catch (error) {
        end();
        throw error;
      }
    },
    hold() {
      const { end } = take();
      return { dispose: end };
    },
    count: () => open,
    idle: () => (open === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}

/** Calls `end` once the result is final; the result itself is passed on, an iterator in a wrapper that knows its end. */
function settle<T>(result: T, end: () => void): T {
  if (typeof result === "object" && result !== null) {
    if (result instanceof Promise) {
      return result.then(
        (value) => {
          end();
          return value;
        },
        (error: unknown) => {
          end();
          throw error;
        },
      ) as T;
    }
    if (isIterable(result)) return followed(result, end) as T;
  }
  end();
  return result;
}

/** Generators and plain iterables; a web stream is read by its own methods and stays what it is. */
function isIterable(value: object): value is AsyncIterable<unknown> {
  const at = value as { [Symbol.asyncIterator]?: unknown; next?: unknown };
  if (typeof at[Symbol.asyncIterator] !== "function") return false;
  return typeof at.next === "function" || Object.getPrototypeOf(value) === Object.prototype;
}

/** A stream that can be read by arrivals still can. */
function followed(source: AsyncIterable<unknown>, end: () => void): AsyncIterable<unknown> {
  return knowsArrivals(source) ? inArrivals(() => watched(arrivalsOf(source), end)) : watched(source, end);
}

function watched(source: AsyncIterable<unknown>, end: () => void): AsyncIterableIterator<unknown> {
  const iterator = source[Symbol.asyncIterator]();
  const step = async (take: () => Promise<IteratorResult<unknown>>) => {
    try {
      const result = await take();
      if (result.done) end();
      return result;
    } catch (error) {
      end();
      throw error;
    }
  };
  return {
    next: () => step(() => iterator.next()),
    return: (value) => step(async () => (iterator.return ? iterator.return(value) : { done: true, value })),
    throw: (error) => step(async () => (iterator.throw ? iterator.throw(error) : Promise.reject(error))),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
