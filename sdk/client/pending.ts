import type { RequestFrame, ResponseFrame } from "../protocol/frames.ts";
import type { JsonObject } from "../types/common.ts";
import { ClientError, fromWire } from "./error.ts";
import type { ClientPlatform, RequestOptions } from "./types.ts";

/** Open requests at one time; more are refused rather than kept. */
export const MAX_PENDING = 1_000;
const FINAL_TIMEOUT_MS = 86_400_000;

interface Entry {
  method: string;
  options: RequestOptions;
  settle(outcome: { ok: true; payload: unknown } | { ok: false; error: ClientError }): void;
  setLimit(timeoutMs: number): void;
}

/** Open requests of one connection: each ends by an answer, its limit, its signal or `rejectAll`. */
export function createPending(platform: Pick<ClientPlatform, "setTimeout">, defaultTimeoutMs: number) {
  const open = new Map<string, Entry>();
  let nextId = 1;

  function track(id: string, method: string, options: RequestOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      let cancelTimer: (() => void) | undefined;
      const onAbort = () => entry.settle({ ok: false, error: new ClientError("aborted", `${method}: the wait was cancelled`) });
      const entry: Entry = {
        method,
        options,
        settle(outcome) {
          if (!open.delete(id)) return;
          cancelTimer?.();
          options.signal?.removeEventListener("abort", onAbort);
          if (outcome.ok) resolve(outcome.payload);
          else reject(outcome.error);
        },
        setLimit(timeoutMs) {
          cancelTimer?.();
          cancelTimer = timeoutMs > 0 ? platform.setTimeout(() => entry.settle(timedOut(method, timeoutMs)), timeoutMs) : undefined;
        },
      };
      open.set(id, entry);
      entry.setLimit(options.timeoutMs ?? defaultTimeoutMs);
      options.signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  return {
    get size(): number {
      return open.size;
    },
    /** Sends one request through `send`; the promise is its answer. */
    request(send: (frame: RequestFrame) => void, method: string, params: JsonObject, options: RequestOptions): Promise<unknown> {
      if (options.signal?.aborted) return Promise.reject(new ClientError("aborted", `${method}: cancelled before it was sent`));
      if (open.size >= MAX_PENDING) {
        return Promise.reject(new ClientError("too-many-pending", `${method}: ${MAX_PENDING} requests are open already; wait for answers`));
      }
      const id = String(nextId++);
      const answer = track(id, method, options);
      const frame: RequestFrame = { type: "req", id, method, params };
      if (options.traceparent !== undefined) frame.traceparent = options.traceparent;
      try {
        send(frame);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        open.get(id)?.settle({ ok: false, error: new ClientError("connection-closed", `${method}: could not be sent: ${message}`) });
      }
      return answer;
    },
    /** An answer from the wire; unknown ids (a second phase nobody waits for, a late answer) are ignored. */
    answer(frame: ResponseFrame): void {
      const entry = open.get(frame.id);
      if (!entry) return;
      if (!frame.ok) {
        entry.settle({ ok: false, error: fromWire(frame.error, frame.payload) });
      } else if (entry.options.onAccepted && isAccepted(frame.payload)) {
        entry.setLimit(entry.options.finalTimeoutMs ?? FINAL_TIMEOUT_MS);
        entry.options.onAccepted(frame.payload);
      } else {
        entry.settle({ ok: true, payload: frame.payload });
      }
    },
    rejectAll(error: ClientError): void {
      for (const entry of [...open.values()]) entry.settle({ ok: false, error });
    },
  };
}

function isAccepted(payload: unknown): payload is JsonObject {
  return typeof payload === "object" && payload !== null && (payload as { status?: unknown }).status === "accepted";
}

function timedOut(method: string, timeoutMs: number): { ok: false; error: ClientError } {
  return { ok: false, error: new ClientError("request-timed-out", `${method}: no answer within ${timeoutMs} ms`, { retryable: true }) };
}
