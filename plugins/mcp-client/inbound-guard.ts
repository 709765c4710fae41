import type { Transport } from "./library.ts";

/** Messages that a server may send at once, and in a second. */
const BURST = 2_000;
const EACH_SECOND = 200;

/**
 * Ends a connection whose server floods it: each message costs the gateway work, and each request of a server an answer that it may never read.
 * To be called before the transport is used.
 */
export function guardInbound(transport: Transport, monotonic: () => number, onFlood: () => void): void {
  let handler = transport.onmessage;
  let left = BURST;
  let at = monotonic();
  let isFlooded = false;
  const counted: NonNullable<Transport["onmessage"]> = (message, extra) => {
    if (isFlooded) return;
    const now = monotonic();
    left = Math.min(BURST, left + ((now - at) / 1_000) * EACH_SECOND) - 1;
    at = now;
    if (left >= 0) return handler?.(message, extra);
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
