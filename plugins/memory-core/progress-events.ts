import type { Disposable, MemoryProgress } from "svc/sdk";

export interface ProgressEvents extends Disposable {
  push(progress: MemoryProgress): void;
}

/** A little over 100, so that no second ever holds eleven. */
const EVERY_MS = 110;
const MAX_WAITING = 16;

/** Passes on at most ten a second: the newest of a phase, and every end. */
export function createProgressEvents(send: (progress: MemoryProgress) => void): ProgressEvents {
  let waiting: MemoryProgress[] = [];
  let isDisposed = false;
  let timer: NodeJS.Timeout | undefined;
  const next = () => {
    timer = undefined;
    const progress = waiting.shift();
    if (!progress) return;
    timer = setTimeout(next, EVERY_MS);
    send(progress);
  };
  return {
    push(progress) {
      if (isDisposed) return;
      const last = waiting.at(-1);
      if (last && !isEnd(last)) waiting.pop();
      if (waiting.length < MAX_WAITING) waiting.push(progress);
      if (!timer) next();
    },
    dispose() {
      waiting = [];
      clearTimeout(timer);
      isDisposed = true;
    },
  };
}

function isEnd({ phase }: MemoryProgress): boolean {
  return phase === "done" || phase === "error";
}
