import { AsyncLocalStorage } from "node:async_hooks";
import { SvcError } from "../../sdk/errors.ts";
import type { HookMeta } from "../../sdk/hooks.ts";
import { withLimit } from "../../sdk/limit.ts";
import "../errors.ts";

/** Whose code is running; read by the process-level error handlers to name the owner of a late failure. */
export const running = new AsyncLocalStorage<{ plugin: string; what: string }>();

/** One tap of one plugin. */
export interface Tap {
  readonly plugin: string;
  readonly fn: (event: never, meta: HookMeta) => unknown;
  readonly priority: number;
  readonly timeoutMs: number;
  /** Load order of the plugin, then order of registration. */
  readonly order: number;
}

/**
 * Runs plugin code under its owner's name with a time limit.
 * The limit's signal goes to the code; what it does after the limit is no longer waited for.
 * @throws what the code throws, or {SvcError} `hook-failed` when the limit passes
 */
export async function runTap(tap: Tap, hook: string, event: unknown, meta: Partial<HookMeta>): Promise<unknown> {
  const controller = new AbortController();
  const signal = meta.signal ? AbortSignal.any([meta.signal, controller.signal]) : controller.signal;
  const call = running.run({ plugin: tap.plugin, what: hook }, async () =>
    tap.fn(event as never, { report: () => undefined, ...meta, signal }),
  );
  return withLimit(call, tap.timeoutMs, () => {
    const error = new SvcError("hook-failed", { hook, plugin: tap.plugin, reason: `did not finish within ${tap.timeoutMs} ms` });
    controller.abort(error);
    throw error;
  });
}
