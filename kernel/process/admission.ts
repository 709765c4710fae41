import { commonErrors } from "../../sdk/errors.ts";
import type { Disposable } from "../../sdk/types/common.ts";

/**
 * Places for work that may run at the same time: at most `maxActive`; `maxWaiting` more wait in order of arrival.
 * @returns takes a place and resolves when there is one; disposing of it lets the next one in. Its signal ends the wait with the signal's reason
 * @throws {SvcError} `busy` when the queue is full too
 */
export function createAdmission({
  maxActive,
  maxWaiting,
}: {
  maxActive: number;
  maxWaiting: number;
}): (signal?: AbortSignal) => Promise<Disposable> {
  let active = 0;
  const waiting: Array<() => void> = [];
  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else active -= 1;
  };
  const place = (): Disposable => {
    let left = false;
    return {
      dispose() {
        if (!left) leave();
        left = true;
      },
    };
  };
  return async (signal) => {
    signal?.throwIfAborted();
    if (active < maxActive) {
      active += 1;
      return place();
    }
    if (waiting.length >= maxWaiting) throw commonErrors.busy({}, { retryAfterMs: 1_000 });
    await turnIn(waiting, signal);
    return place();
  };
}

/** Waits in a queue until it is called, or leaves it. */
function turnIn(waiting: Array<() => void>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const enter = () => {
      signal?.removeEventListener("abort", leave);
      resolve();
    };
    const leave = () => {
      waiting.splice(waiting.indexOf(enter), 1);
      reject(signal?.reason);
    };
    waiting.push(enter);
    signal?.addEventListener("abort", leave, { once: true });
  });
}
