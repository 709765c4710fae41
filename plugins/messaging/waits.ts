import { commonErrors, type DeliveryRow, type Disposable, type OutboundEnd, type Store, type Timers } from "svc/sdk";
import { messagingErrors } from "./errors.ts";
import { handleOf, partsOf, partUid } from "./queue/message.ts";

const DEFAULT_WAIT_MS = 60_000;
/** Callers that wait at a time. */
const MAX_WAITS = 2_000;

/** Callers that wait for the end of messages. */
export interface Waits {
  /** @throws {SvcError} `unknown-delivery`, `wait-timeout`, `busy`, or the signal's reason */
  wait(uid: string, options?: { signal?: AbortSignal; timeoutMs?: number }): Promise<OutboundEnd>;
}

/** Creates waits. Each subscribes first and reads then: the other way round an end that is stored between the two would be missed. */
export function createWaits(kit: { store(): Store; timers: Pick<Timers, "setTimeout"> }): Waits {
  const waiting = new Map<string, Set<() => void>>();
  let subscription: Disposable | undefined;
  let count = 0;

  const rowOf = async (uid: string): Promise<DeliveryRow> => {
    const row = await kit.store().deliveries.get(uid);
    if (row?.dir !== "out") throw commonErrors.unknownDelivery({ uid });
    return row;
  };
  /** The row that decides about a message: its first part that has not arrived, or its first part when all of them have. */
  const decisive = async (uid: string): Promise<DeliveryRow> => {
    const first = await rowOf(uid);
    const { message, index, of } = partsOf(first);
    for (let next = index + 1, row = first; row.state === "done" && next <= of; next++) {
      const part = await kit.store().deliveries.get(partUid(message, next));
      if (part && part.state !== "done") return part;
      row = part ?? row;
    }
    return first;
  };
  const enter = (uid: string, look: () => void) => {
    if (count >= MAX_WAITS) throw commonErrors.busy({}, { retryAfterMs: 5_000 });
    subscription ??= kit.store().changes((change) => {
      if (change !== "resync" && change.kind !== "deliveries") return;
      const handles = change === "resync" ? waiting.keys() : change.keys.flatMap((key) => [handleOf(key), key.replace(/#\d+$/, "")]);
      for (const handle of new Set(handles)) for (const one of [...(waiting.get(handle) ?? [])]) one();
    });
    const handle = handleOf(uid);
    waiting.set(handle, (waiting.get(handle) ?? new Set()).add(look));
    count += 1;
    return () => {
      const looks = waiting.get(handle);
      looks?.delete(look);
      if (looks?.size === 0) waiting.delete(handle);
      count -= 1;
      if (count > 0) return;
      void subscription?.dispose();
      subscription = undefined;
    };
  };

  return {
    async wait(uid, { signal, timeoutMs = DEFAULT_WAIT_MS } = {}) {
      signal?.throwIfAborted();
      return new Promise((resolve, reject) => {
        let isOver = false;
        const end = (settle: () => void) => {
          if (isOver) return;
          isOver = true;
          timer.dispose();
          signal?.removeEventListener("abort", aborted);
          leave();
          settle();
        };
        const aborted = () => end(() => reject(signal?.reason));
        const look = () => {
          decisive(uid).then(
            (row) => {
              const known = endOf(row);
              if (known) end(() => resolve(known));
            },
            (error: unknown) => end(() => reject(error)),
          );
        };
        const late = () =>
          decisive(uid).then(
            (row) => end(() => settleLate(row, { uid, timeoutMs, resolve, reject })),
            (error: unknown) => end(() => reject(error)),
          );
        const leave = enter(uid, look);
        const timer = kit.timers.setTimeout(() => void late(), timeoutMs);
        signal?.addEventListener("abort", aborted, { once: true });
        look();
      });
    },
  };
}

/** Ends a wait that takes too long; a message that may have arrived is reported as such. */
function settleLate(
  row: DeliveryRow,
  { uid, timeoutMs, resolve, reject }: { uid: string; timeoutMs: number; resolve(end: OutboundEnd): void; reject(error: unknown): void },
): void {
  const known = endOf(row);
  if (known) resolve(known);
  else if (row.state === "uncertain") resolve({ state: "uncertain", ...errorOf(row) });
  else reject(messagingErrors.waitTimeout({ uid, timeoutMs }));
}

function endOf(row: DeliveryRow): OutboundEnd | undefined {
  const { state, result } = row;
  if (state !== "done" && state !== "failed" && state !== "expired") return undefined;
  return {
    state,
    ...(typeof result?.messageId === "string" ? { messageId: result.messageId } : {}),
    ...(state !== "done"
      ? errorOf(row)
      : result?.status === "suppressed"
        ? { withheld: result.reason as OutboundEnd["withheld"] & string }
        : {}),
  };
}

function errorOf({ result }: DeliveryRow): { error?: string } {
  return typeof result?.reason === "string" ? { error: result.reason } : {};
}
