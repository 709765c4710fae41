import { isSvcError, type OpResult, type StoreOp, sleep } from "svc/sdk";
import type { DeliveryKit } from "./kit.ts";

/** Nothing about the work is wrong: who should take it cannot at the moment. */
const passing = ["draining", "busy", "service-unavailable", "deliveries-full"];
const FIRST_PAUSE_MS = 250;
/** Short, so that work goes on within seconds after a full disk has space again. */
const MAX_PAUSE_MS = 2_000;

export function isPassing(error: unknown): boolean {
  return isSvcError(error) && (passing.includes(error.code) || error.code.startsWith("storage-"));
}

/**
 * Tries until it is taken. No try is counted against the row: it waits in its place, nothing of it is lost meanwhile.
 * @throws what is no passing state, and the signal's reason
 */
export async function untilTaken<T>(work: () => Promise<T>, signal: AbortSignal, kit: Pick<DeliveryKit, "ctx">): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error)) throw error;
      kit.ctx.logger.debug("a hook delivery waits", { error: String(error) });
      await sleep(Math.max(pauseMs, isSvcError(error) ? Math.min(error.retryAfterMs ?? 0, MAX_PAUSE_MS) : 0), signal, kit.ctx.timers);
    }
  }
}

/**
 * Commits as soon as the storage takes it.
 * @param isStored asked before each further try: a commit that failed with the writer may have been stored all the same
 */
export async function commitAtLast(
  ops: StoreOp[],
  { kit, signal, isStored }: { kit: DeliveryKit; signal: AbortSignal; isStored: () => boolean },
): Promise<OpResult[]> {
  let isRepeat = false;
  return untilTaken(
    async () => {
      if (isRepeat && isStored()) return [];
      isRepeat = true;
      return kit.store().commit(ops);
    },
    signal,
    kit,
  );
}
