import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

let collect: (() => void) | undefined;

/**
 * Gives memory back that this thread has used and needs no longer. V8 looks for it while a thread asks for more, so one that has become quiet keeps what it
 * had at its busiest. Takes some 10 ms: not for the main thread.
 */
export function collectGarbage(): void {
  if (!collect) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as () => void;
  }
  collect();
}
