import { createError, SvcError } from "svc/sdk";
import { memoryErrors } from "./errors.ts";
import type { HostCall, IndexMethod, WorkerFault, WorkerMessage } from "./worker-protocol.ts";

export interface RequestOptions {
  /** Time limit for an answer; for a sync: for its silence. */
  timeoutMs: number;
  /** Gives up waiting; the work itself goes on. */
  signal?: AbortSignal | undefined;
  /** Receives interim results of a search. */
  interim?(value: unknown): void;
}

export interface PendingRequests {
  /** Calls `send` with a fresh id; the promise is the answer. */
  track(method: IndexMethod, options: RequestOptions, send: (id: number) => void): Promise<unknown>;
  settle(message: Exclude<WorkerMessage, { news: unknown } | HostCall>): void;
  /** Gives the waiting requests of a method their whole time again. */
  extend(method: IndexMethod): void;
  rejectAll(error: Error): void;
  /** Resolves once nobody waits any more, or after `limitMs`. */
  whenIdle(limitMs: number): Promise<void>;
}

interface Entry {
  method: IndexMethod;
  interim: RequestOptions["interim"];
  restartTimer(): void;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Requests waiting for one index at a time; more are refused. */
export const MAX_PENDING = 1_000;
/** Never refused: an index that is not told of another provider would take its vectors for those of the one before. */
const neverRefused: ReadonlySet<IndexMethod> = new Set(["provider", "close"]);

/** Open requests to a worker: each ends by its answer, its time-out, its signal, or the death of the worker. */
export function createPendingRequests(): PendingRequests {
  const open = new Map<number, Entry>();
  let nextId = 1;
  let onIdle: () => void = () => undefined;
  const ended = () => void (open.size === 0 && onIdle());
  return {
    track(method, options, send) {
      if (options.signal?.aborted) return Promise.reject(options.signal.reason);
      if (open.size >= MAX_PENDING && !neverRefused.has(method)) return Promise.reject(memoryErrors.memoryBusy({ pending: open.size }));
      const id = nextId++;
      const answer = wait(open, { id, method, options, ended });
      send(id);
      return answer;
    },
    settle(message) {
      const entry = open.get(message.id);
      if (!entry) return; // nobody waits any more
      if ("interim" in message) entry.interim?.(message.interim);
      else if ("fault" in message) entry.reject(toError(message.fault));
      else entry.resolve(message.reply);
    },
    extend(method) {
      for (const entry of open.values()) if (entry.method === method) entry.restartTimer();
    },
    async whenIdle(limitMs) {
      if (open.size === 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, limitMs);
        onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
    rejectAll(error) {
      for (const entry of [...open.values()]) entry.reject(error);
    },
  };
}

function wait(
  open: Map<number, Entry>,
  { id, method, options, ended }: { id: number; method: IndexMethod; options: RequestOptions; ended(): void },
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      entry.reject(memoryErrors.memoryTimedOut({ method, timeoutMs: options.timeoutMs }));
    }, options.timeoutMs);
    const onAbort = () => entry.reject(options.signal?.reason);
    const end = () => {
      open.delete(id);
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", onAbort);
      ended();
    };
    const entry: Entry = {
      method,
      interim: options.interim,
      restartTimer: () => timer.refresh(),
      resolve(value) {
        end();
        resolve(value);
      },
      reject(error) {
        end();
        reject(error);
      },
    };
    open.set(id, entry);
    options.signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** An error with a specification began on this thread; every other is of this plugin's own table. */
function toError(fault: WorkerFault): SvcError {
  return fault.spec ? SvcError.fromPlain(fault) : createError(memoryErrors, fault.code, fault.fields);
}
