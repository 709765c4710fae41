import type { Transport } from "./library.ts";

/** Most at once, and in each second. */
interface Rate {
  burst: number;
  eachSecond: number;
}

/** Messages of a server: each costs the gateway work. */
const MESSAGES: Rate = { burst: 2_000, eachSecond: 200 };
/** Requests of a server: each costs an answer, which it may never read. */
const REQUESTS: Rate = { burst: 50, eachSecond: 2 };

/** Ends a connection whose server floods it. To be called before the transport is used. */
export function guardInbound(transport: Transport, monotonic: () => number, onFlood: () => void): void {
  let handler = transport.onmessage;
  const takesMessage = createBudget(MESSAGES, monotonic);
  const takesRequest = createBudget(REQUESTS, monotonic);
  let isFlooded = false;
  const counted: NonNullable<Transport["onmessage"]> = (message, extra) => {
    if (isFlooded) return;
    const isRequest = message.method !== undefined && message.id !== undefined;
    if (takesMessage() && (!isRequest || takesRequest())) return handler?.(message, extra);
    isFlooded = true;
    onFlood();
  };
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: () => handler && counted,
    set(next: Transport["onmessage"]) {
      handler = next;
    },
  });
}

/** @returns a function that is false once there was more than the rate allows */
function createBudget({ burst, eachSecond }: Rate, monotonic: () => number): () => boolean {
  let left = burst;
  let at = monotonic();
  return () => {
    const now = monotonic();
    left = Math.min(burst, left + ((now - at) / 1_000) * eachSecond) - 1;
    at = now;
    return left >= 0;
  };
}
