import { SvcError } from "./errors.ts";
import type { Disposable } from "./types/common.ts";

/**
 * Places for work that may run at the same time: at most `maxActive`; `maxWaiting` more wait in order of arrival.
 * @returns takes a place and resolves when there is one; disposing of it lets the next one in
 * @throws {SvcError} `busy` when the queue is full too
 */
export function createAdmission({ maxActive, maxWaiting }: { maxActive: number; maxWaiting: number }): () => Promise<Disposable> {
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
  return async () => {
    if (active < maxActive) {
      active += 1;
      return place();
    }
    if (waiting.length >= maxWaiting) throw new SvcError("busy", {}, { retryAfterMs: 1_000 });
    await new Promise<void>((resolve) => waiting.push(resolve));
    return place();
  };
}
