import type { Disposable } from "../../sdk/types/common.ts";

/** Work under way that a stop or a restart waits for. */
export interface Holds {
  hold(reason: string): Disposable;
  count(): number;
  /** True once nothing is held, false when `limitMs` passed or the signal came first. */
  whenFree(limitMs: number, signal?: AbortSignal): Promise<boolean>;
}

/** Counts holds; who waits is told with the last one, nobody polls. */
export function createHolds(): Holds {
  const held = new Set<{ reason: string }>();
  const waiting = new Set<() => void>();
  return {
    hold(reason) {
      const one = { reason };
      held.add(one);
      return {
        dispose() {
          if (held.delete(one) && held.size === 0) for (const wake of [...waiting]) wake();
        },
      };
    },
    count: () => held.size,
    whenFree(limitMs, signal) {
      if (held.size === 0) return Promise.resolve(true);
      if (signal?.aborted) return Promise.resolve(false);
      return new Promise((resolve) => {
        const end = (free: boolean) => () => {
          clearTimeout(timer);
          waiting.delete(woken);
          signal?.removeEventListener("abort", gaveUp);
          resolve(free);
        };
        const woken = end(true);
        const gaveUp = end(false);
        const timer = setTimeout(gaveUp, limitMs);
        waiting.add(woken);
        signal?.addEventListener("abort", gaveUp, { once: true });
      });
    },
  };
}
