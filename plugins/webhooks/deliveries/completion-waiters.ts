import { sharedErrors } from "svc/sdk/internal";
import type { Completion } from "./delivery-state.ts";

/** Callers that wait for the end of an action. */
export interface CompletionWaiters {
  wait(uid: string, signal: AbortSignal): Promise<Completion>;
  tell(uid: string, completion: Completion): void;
  /** Rejects all that wait: this instance learns of no more ends. */
  close(): void;
}

type Waiter = { resolve(completion: Completion): void; reject(error: unknown): void };

export function createCompletionWaiters(): CompletionWaiters {
  const waiting = new Map<string, Set<Waiter>>();
  return {
    wait(uid, signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const onAbort = () => waiter.reject(signal.reason);
        const leave = () => {
          signal.removeEventListener("abort", onAbort);
          const others = waiting.get(uid);
          others?.delete(waiter);
          if (others?.size === 0) waiting.delete(uid);
        };
        const waiter: Waiter = {
          resolve(completion) {
            leave();
            resolve(completion);
          },
          reject(error) {
            leave();
            reject(error);
          },
        };
        signal.addEventListener("abort", onAbort, { once: true });
        waiting.set(uid, (waiting.get(uid) ?? new Set()).add(waiter));
      });
    },
    tell(uid, completion) {
      for (const waiter of [...(waiting.get(uid) ?? [])]) waiter.resolve(completion);
    },
    close() {
      const error = sharedErrors.draining({}, { retryAfterMs: 2_000 });
      for (const waiters of [...waiting.values()]) for (const waiter of [...waiters]) waiter.reject(error);
    },
  };
}
