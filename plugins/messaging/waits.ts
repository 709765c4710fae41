import { commonErrors, type DeliveryRow, type OutboundEnd, type SyncStore, type Timers } from "svc/sdk";
import { messagingErrors } from "./errors.ts";

const DEFAULT_WAIT_MS = 60_000;
/** Callers that wait at a time. */
const MAX_WAITS = 2_000;

/** Callers that wait for the end of messages. */
export interface Waits {
  /** @throws {SvcError} `unknown-delivery`, `wait-timeout`, `busy`, or the signal's reason */
  wait(uid: string, options?: { signal?: AbortSignal; timeoutMs?: number }): Promise<OutboundEnd>;
  /** The row may have come to its end. */
  look(uid: string): void;
}

export function createWaits(kit: { store(): SyncStore; timers: Pick<Timers, "setTimeout"> }): Waits {
  const waiting = new Map<string, Set<() => void>>();
  let count = 0;
  const rowOf = (uid: string): DeliveryRow => {
    const row = kit.store().deliveries.get(uid);
    if (row?.dir !== "out") throw commonErrors.unknownDelivery({ uid });
    return row;
  };

  return {
    async wait(uid, { signal, timeoutMs = DEFAULT_WAIT_MS } = {}) {
      signal?.throwIfAborted();
      const now = endOf(rowOf(uid));
      if (now) return now;
      if (count >= MAX_WAITS) throw commonErrors.busy({}, { retryAfterMs: 5_000 });
      return new Promise((resolve, reject) => {
        const looks = waiting.get(uid) ?? new Set();
        const leave = () => {
          timer.dispose();
          signal?.removeEventListener("abort", aborted);
          looks.delete(look);
          if (looks.size === 0) waiting.delete(uid);
          count -= 1;
        };
        const end = (settle: () => void) => {
          leave();
          settle();
        };
        const aborted = () => end(() => reject(signal?.reason));
        const look = () => {
          try {
            const known = endOf(rowOf(uid));
            if (known) end(() => resolve(known));
          } catch (error) {
            end(() => reject(error));
          }
        };
        const timer = kit.timers.setTimeout(() => end(() => settleLate(uid, { rowOf, timeoutMs, resolve, reject })), timeoutMs);
        signal?.addEventListener("abort", aborted, { once: true });
        looks.add(look);
        waiting.set(uid, looks);
        count += 1;
      });
    },
    look(uid) {
      for (const look of [...(waiting.get(uid) ?? [])]) look();
    },
  };
}

/** Ends waits that take too long; a message that may have arrived is reported as such. */
function settleLate(
  uid: string,
  {
    rowOf,
    timeoutMs,
    resolve,
    reject,
  }: { rowOf(uid: string): DeliveryRow; timeoutMs: number; resolve(end: OutboundEnd): void; reject(error: unknown): void },
): void {
  try {
    const row = rowOf(uid);
    if (row.state === "uncertain") resolve({ state: "uncertain", ...errorOf(row) });
    else reject(messagingErrors.waitTimeout({ uid, timeoutMs }));
  } catch (error) {
    reject(error);
  }
}

function endOf(row: DeliveryRow): OutboundEnd | undefined {
  const { state, result } = row;
  if (state !== "done" && state !== "failed" && state !== "expired") return undefined;
  return {
    state,
    ...(typeof result?.messageId === "string" ? { messageId: result.messageId } : {}),
    ...(state === "done" ? {} : errorOf(row)),
  };
}

function errorOf({ result }: DeliveryRow): { error?: string } {
  return typeof result?.reason === "string" ? { error: result.reason } : {};
}
