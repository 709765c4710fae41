import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import { IndexFault } from "./fault.ts";

const SLICE_MS = 12;
/** Between two looks whether work that was held may go on. */
const HELD_MS = 250;

/** Says when the slices of long work are cut, and whether there are any. */
export interface PacerOptions {
  /** Other work goes first at the moment, so that each step gives way. */
  isSecondary?(): boolean;
  /** The work waits altogether: the process is short of memory. */
  isHeld?(): boolean;
}

/** Lets long work give way: searches that arrive meanwhile are answered between two slices. */
export interface Pacer {
  /** Waits for other work when the slice is used up. @throws {IndexFault} `memory-sync-aborted` after the signal */
  breathe(): Promise<void>;
}

/** Runs a step-wise computation to its result; other work runs in between. */
export async function paced<T>(steps: Generator<void, T>, pacer: Pacer): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await pacer.breathe();
  }
}

export function createPacer(signal: AbortSignal, { isSecondary = () => false, isHeld = () => false }: PacerOptions = {}): Pacer {
  let sliceStart = performance.now();
  return {
    async breathe() {
      while (isHeld() && !signal.aborted) await wait(HELD_MS);
      if (isSecondary() || performance.now() - sliceStart >= SLICE_MS) {
        await nextTurn();
        sliceStart = performance.now();
      }
      if (signal.aborted) throw new IndexFault("memory-sync-aborted", {});
    },
  };
}
