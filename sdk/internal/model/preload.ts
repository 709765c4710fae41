import type { Disposable, Logger, Timers } from "../../types/common.ts";
import type { HttpRequestFunction } from "../../types/request.ts";

/** The first answers after a start come before this. */
const START_MS = 500;
/** Between two parts everything else of the gateway has its turn. */
const PAUSE_MS = 20;

/** Loads a module, or a part of one. */
export type LoadingStep = () => unknown;

/** Loads the code of model calls before the first of them needs it. */
export interface Preload extends Disposable {
  /** From now on a provider may be called. Idempotent. */
  begin(): void;
}

/** @param loads in this order, after the client of the plugin's connections */
export function createPreload(
  ctx: { timers: Timers; logger: Logger; request: HttpRequestFunction },
  loads: readonly LoadingStep[],
): Preload {
  const state = { begun: false, ended: false };
  const run = ([step, ...rest]: readonly LoadingStep[]) => {
    if (!step || state.ended) return;
    Promise.resolve()
      .then(step)
      // A call loads what it needs by itself, and says then what is wrong.
      .catch((error: unknown) => ctx.logger.debug("a part of the model client could not be preloaded", { error: String(error) }))
      .finally(() => state.ended || ctx.timers.setTimeout(() => run(rest), PAUSE_MS));
  };
  const client: LoadingStep[] = [
    // A request that has ended before it begins loads the client of the plugin's connections, a file a turn, and opens none.
    () => ctx.request("http://rehearsal.invalid/", { signal: AbortSignal.abort() }).catch(() => undefined),
    () => globalThis.Response,
  ];
  return {
    begin() {
      if (state.begun) return;
      state.begun = true;
      ctx.timers.setTimeout(() => run([...client, ...loads]), START_MS);
    },
    dispose() {
      state.ended = true;
    },
  };
}
