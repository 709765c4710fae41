import type { Disposable, Timers } from "../types/common.ts";

/** Shortest time between two lines of progress of one call. */
const GAP_MS = 250;

/** Passes on at most four texts in a second, the newest of each while; what waits at the end is dropped. */
export function createProgress(
  timers: Pick<Timers, "setTimeout">,
  show: (text: string) => void,
): Disposable & { update(text: string): void } {
  let timer: Disposable | undefined;
  let waiting: string | undefined;
  let isOpen = true;
  const tick = () => {
    timer = undefined;
    if (waiting === undefined) return;
    const text = waiting;
    waiting = undefined;
    pass(text);
  };
  const pass = (text: string) => {
    timer = timers.setTimeout(tick, GAP_MS);
    show(text);
  };
  return {
    update(text) {
      if (!isOpen || typeof text !== "string") return;
      if (timer) waiting = text;
      else pass(text);
    },
    dispose() {
      isOpen = false;
      timer?.dispose();
    },
  };
}
