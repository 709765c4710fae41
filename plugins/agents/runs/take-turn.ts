import type { Kit } from "../kit.ts";
import { executeRun } from "./execute.ts";
import { fail } from "./finish.ts";
import { absorb, waitingRuns } from "./join.ts";
import type { Run } from "./run.ts";

/** The turn of a run whose place in the lane has come, with the messages that joined it. Never rejects. */
export async function takeTurn(run: Run, kit: Kit): Promise<void> {
  if (run.waited && run.mode === "collect") {
    await quiet(run, kit);
    if (run.aborted) return fail(run, kit, undefined);
    const others = waitingRuns(kit, run.sessionKey).filter((next) => next !== run);
    for (const next of others) if (next.mode !== "collect" || !absorb(run, next, kit)) break;
  }
  await executeRun(run, kit);
}

/** Until nobody has written for `messages.queue.debounceMs`, as many wait as may, or the run is stopped. */
async function quiet(run: Run, kit: Kit): Promise<void> {
  for (;;) {
    const { cap, debounceMs } = kit.config.messages.queue;
    const waiting = waitingRuns(kit, run.sessionKey).filter((r) => r !== run && r.mode === "collect");
    const last = waiting.at(-1)?.arrivedAt ?? run.arrivedAt;
    const leftMs = last + debounceMs - kit.ctx.clock.monotonic();
    if (leftMs <= 0 || waiting.length >= cap || run.signal.aborted) return;
    await rest(run, kit, leftMs);
  }
}

function rest(run: Run, kit: Kit, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      timer.dispose();
      run.signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = kit.ctx.timers.setTimeout(end, Math.ceil(ms));
    run.signal.addEventListener("abort", end, { once: true });
  });
}
