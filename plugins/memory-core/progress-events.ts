import type { Disposable, MemoryProgress } from "svc/sdk";

export interface ProgressEvents extends Disposable {
  push(progress: MemoryProgress): void;
}

const EVERY_MS = 100;
const MAX_WAITING = 16;

/** Passes on at most ten a second: the newest of a phase, and every end. */
export function createProgressEvents(
  send: (progress: MemoryProgress) => void,
  setTimer: (fn: () => void, delayMs: number) => Disposable,
): ProgressEvents {
  let waiting: MemoryProgress[] = [];
  let timer: Disposable | undefined;
  const next = () => {
    timer = undefined;
    const progress = waiting.shift();
    if (!progress) return;
    timer = setTimer(next, EVERY_MS);
    send(progress);
  };
  return {
    push(progress) {
      const last = waiting.at(-1);
      if (last && !isEnd(last)) waiting.pop();
      if (waiting.length < MAX_WAITING) waiting.push(progress);
      if (!timer) next();
    },
    dispose() {
      waiting = [];
      return timer?.dispose();
    },
  };
}

function isEnd({ phase }: MemoryProgress): boolean {
  return phase === "done" || phase === "error";
}
