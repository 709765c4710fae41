import type { Clock, EmbeddingFault } from "svc/sdk";
import type { PlainEmbeddingFault } from "./embedding-fault.ts";

/** Whether a provider may be called. */
export interface Circuit {
  /** Returns why no call is made now; undefined: it may be called. */
  refusal(): PlainEmbeddingFault | undefined;
  succeeded(): void;
  /** Counts a failed query. @returns true once failures in a row show that it is no blip */
  failed(fault: PlainEmbeddingFault): boolean;
  /** No calls for five minutes; the first failure after them is enough for the next pause. */
  pause(fault: PlainEmbeddingFault): void;
  /** No calls until config or secrets change. */
  block(fault: PlainEmbeddingFault): void;
  /** Allows another attempt now; a block stays. */
  resume(): void;
}

export const PAUSE_MS = 300_000;
const BLIPS = 3;

/** Faults that say nothing about the provider's health. */
const ownFault: ReadonlySet<EmbeddingFault> = new Set(["not-ready", "invalid-request", "too-long"]);

export function createCircuit(clock: Pick<Clock, "monotonic">): Circuit {
  let failures = 0;
  let closed: { fault: PlainEmbeddingFault; untilMs: number } | undefined;
  return {
    refusal() {
      if (closed && clock.monotonic() >= closed.untilMs) {
        closed = undefined;
        failures = BLIPS - 1;
      }
      return closed?.fault;
    },
    succeeded() {
      failures = 0;
      closed = undefined;
    },
    failed({ fault }) {
      if (ownFault.has(fault)) return false;
      failures++;
      return failures >= BLIPS;
    },
    pause(fault) {
      if (closed?.untilMs !== Number.POSITIVE_INFINITY) closed = { fault, untilMs: clock.monotonic() + PAUSE_MS };
    },
    block(fault) {
      closed = { fault, untilMs: Number.POSITIVE_INFINITY };
    },
    resume() {
      if (closed && closed.untilMs !== Number.POSITIVE_INFINITY) closed = undefined;
    },
  };
}
