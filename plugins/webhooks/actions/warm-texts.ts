import { setImmediate as nextTurn } from "node:timers/promises";
import { wrapExternal } from "svc/sdk";
import { countSuspicious } from "./suspicious.ts";

/** Plain and other characters are matched by code of their own, which is made at the second text of each kind. */
const samples = ["a", "b", "ä", "ö"];

/**
 * Makes what reads texts from outside ready: its expressions are compiled at their first use, which took 15 ms of the first requests each. One piece a
 * turn, so that nobody waits for all of it.
 */
export async function warmTexts(signal: AbortSignal): Promise<void> {
  for (const text of samples) {
    for (const read of [countSuspicious, (one: string) => wrapExternal(one, { source: "Webhook", task: `${one} ${one}` })]) {
      await nextTurn();
      if (signal.aborted) return;
      read(text);
    }
  }
}
