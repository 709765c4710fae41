import type { Disposable, HttpRequestFunction, Logger, Timers } from "svc/sdk";

/** The first answers after a start come before this. */
const START_MS = 500;
/** Between two parts everything else of the gateway has its turn. */
const PAUSE_MS = 20;

/** Modules of a model call, a step at a time; the last steps are the packages themselves. */
function loadingSteps(request: HttpRequestFunction): Array<() => unknown> {
  return [
    // A request that has ended before it begins loads the client of the plugin's connections, a file a turn, and opens none.
    () => request("http://rehearsal.invalid/", { signal: AbortSignal.abort() }).catch(() => undefined),
    () => globalThis.Response,
    () => import("@ai-sdk/openai-compatible"),
    () => import("./rehearsal.ts").then((m) => m.rehearse()),
  ];
}

/** Loads the code of model calls before the first of them needs it. */
export interface Preload extends Disposable {
  /** From now on a provider may be called. Idempotent. */
  begin(): void;
}

export function createPreload(ctx: { timers: Timers; logger: Logger; request: HttpRequestFunction }): Preload {
  const state = { begun: false, ended: false };
  const run = (steps: Array<() => unknown>) => {
    const [step, ...rest] = steps;
    if (!step || state.ended) return;
    Promise.resolve()
      .then(step)
      // A call loads what it needs by itself, and says then what is wrong.
      .catch((error: unknown) => ctx.logger.debug("a part of the model client could not be preloaded", { error: String(error) }))
      .finally(() => state.ended || ctx.timers.setTimeout(() => run(rest), PAUSE_MS));
  };
  return {
    begin() {
      if (state.begun) return;
      state.begun = true;
      ctx.timers.setTimeout(() => run(loadingSteps(ctx.request)), START_MS);
    },
    dispose() {
      state.ended = true;
    },
  };
}
