import { createRequire } from "node:module";
import type { Disposable, Logger, Timers } from "svc/sdk";

/** The first answers after a start come before this. */
const START_MS = 500;
/** Between two parts everything else of the gateway has its turn. */
const PAUSE_MS = 20;

/**
 * Files of undici, each of which needs those before it. The package is one graph of 110 files whose loading blocks the event loop for as long as it
 * takes; loaded in this order it blocks for a part at a time.
 */
export const undiciParts = [
  "undici/lib/core/util.js",
  "undici/lib/dispatcher/client-h1.js",
  "undici/lib/dispatcher/client-h2.js",
  "undici/lib/dispatcher/client.js",
  "undici/lib/dispatcher/agent.js",
  "undici/lib/web/webidl/index.js",
  "undici/lib/web/fetch/headers.js",
  "undici/lib/web/fetch/response.js",
  "undici/lib/web/fetch/index.js",
  "undici/lib/mock/mock-agent.js",
  "undici/lib/interceptor/cache.js",
  "undici/lib/web/websocket/websocket.js",
  "undici/lib/web/cache/cachestorage.js",
] as const;

const require = createRequire(import.meta.url);

/** Modules of a model call, a step at a time; the last steps are the packages themselves. */
function loadingSteps(): Array<() => unknown> {
  const parts = undiciParts.map((file) => () => require(file) as unknown);
  return [
    ...parts,
    () => import("undici"),
    () => import("@ai-sdk/openai-compatible"),
    () => import("./rehearsal.ts").then((m) => m.rehearse()),
  ];
}

/** Loads the code of model calls before the first of them needs it. */
export interface Preload extends Disposable {
  /** From now on a provider may be called. Idempotent. */
  begin(): void;
}

export function createPreload(ctx: { timers: Timers; logger: Logger }): Preload {
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
      ctx.timers.setTimeout(() => run(loadingSteps()), START_MS);
    },
    dispose() {
      state.ended = true;
    },
  };
}
