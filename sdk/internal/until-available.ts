import { isSvcError } from "../errors.ts";
import { sleep } from "../time.ts";
import type { Logger, Timers } from "../types/common.ts";
import type { OpResult, Store, StoreOp } from "../types/store.ts";

/** Codes by which nothing about the work is wrong: its receiver cannot take it at the moment. */
const transient = ["draining", "memory-pressure", "busy", "service-unavailable", "deliveries-full"];
const FIRST_PAUSE_MS = 250;
/** Short, so that work goes on within seconds after a full disk has space again. */
const MAX_PAUSE_MS = 2_000;

/** Dependencies of whoever carries out accepted work. */
export interface WaitDeps {
  readonly ctx: { readonly logger: Pick<Logger, "debug">; readonly timers: Pick<Timers, "setTimeout"> };
  /** Asked for at each use: a provider may be replaced. */
  store(): Pick<Store, "commit">;
}

/** True for an error that passes by itself. */
export function isTransient(error: unknown): boolean {
  return isSvcError(error) && (transient.includes(error.code) || error.code.startsWith("storage-"));
}

/**
 * Retries until the work is taken: after 0.25 s, doubling to 2 s, later if the error asks for it. No attempt is counted against accepted work meanwhile.
 * @throws what is not transient, and the signal's reason
 */
export async function untilAvailable<T>(work: () => Promise<T>, signal: AbortSignal, { ctx }: Pick<WaitDeps, "ctx">): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error)) throw error;
      ctx.logger.debug("accepted work waits", { error: String(error) });
      const askedMs = isSvcError(error) ? Math.min(error.retryAfterMs ?? 0, MAX_PAUSE_MS) : 0;
      await sleep(Math.max(pauseMs, askedMs), signal, ctx.timers);
    }
  }
}

/**
 * Commits as soon as the storage takes it.
 * @param isStored asked before each further attempt: a commit that failed with the writer may have been stored all the same
 * @returns the results; none when it was stored already. @throws as `untilAvailable`
 */
export async function commitWhenAvailable(
  ops: StoreOp[],
  { deps, signal, isStored }: { deps: WaitDeps; signal: AbortSignal; isStored: () => Promise<boolean> },
): Promise<OpResult[]> {
  let isRepeat = false;
  return untilAvailable(
    async () => {
      if (isRepeat && (await isStored())) return [];
      isRepeat = true;
      return deps.store().commit(ops);
    },
    signal,
    deps,
  );
}
