import type { ClientError } from "./error.ts";

/**
 * ms: first and longest wait between two attempts, over how long the clients of a restarted gateway
 * spread, and how long a connection must have lasted for the row of waits to begin anew.
 */
export const backoffMs = { first: 1_000, longest: 30_000, restartSpread: 5_000, steady: 60_000 } as const;

/**
 * Full jitter: anything from 0 to the doubled ceiling, so that a thousand clients of one restarted gateway do not return together.
 * @param attempt failed attempts so far, from 1
 * @param floorMs what the gateway asked for (`retryAfterMs`, `restartExpectedMs`); added, not replaced by, the jitter
 */
export function reconnectDelayMs(attempt: number, random: number, floorMs = 0): number {
  const ceiling = Math.min(backoffMs.longest, backoffMs.first * 2 ** Math.min(attempt - 1, 16));
  return Math.round(floorMs + random * ceiling);
}

/** The first attempt after an announced restart: all clients were told the same moment, so they spread over 5 s. */
export function restartDelayMs(expectedMs: number, random: number): number {
  return Math.round(expectedMs + random * backoffMs.restartSpread);
}

/** Close codes after which the same credentials would be refused again, or the protocol does not match. */
const refusingCloses: ReadonlySet<unknown> = new Set([1002, 1008, 4001]);

/** True when trying again with the same credentials is pointless until somebody acts. */
export function isRefusal(error: ClientError): boolean {
  if (error.code === "gateway-unreachable") return false;
  if (error.code === "connection-closed") return error.details?.code === undefined && refusingCloses.has(error.details?.closeCode);
  // AUTH_RATE_LIMITED is retryable for a person with the right secret; a program that goes on by itself would only lengthen the lock.
  return !(error.code === "UNAVAILABLE" && error.retryable);
}
