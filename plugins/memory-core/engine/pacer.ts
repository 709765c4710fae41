import { setImmediate as nextTurn } from "node:timers/promises";
import { IndexFault } from "./fault.ts";

const SLICE_MS = 12;

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

/** @param isSecondary whether other work goes first at the moment, so that each step gives way */
export function createPacer(signal: AbortSignal, isSecondary: () => boolean = () => false): Pacer {
  let sliceStart = performance.now();
  return {
    async breathe() {
      if (isSecondary() || performance.now() - sliceStart >= SLICE_MS) {
        await nextTurn();
        sliceStart = performance.now();
      }
      if (signal.aborted) throw new IndexFault("memory-sync-aborted", {});
    },
  };
}
