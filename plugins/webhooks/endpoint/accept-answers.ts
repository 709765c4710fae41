import { isSvcError, type JsonObject, messageOf } from "svc/sdk";
import type { Refusal } from "../action.ts";
import type { Accepted } from "../deliveries/accept.ts";
import type { Completion } from "../deliveries/delivery-state.ts";
import { type Answer, failure, jsonAnswer, unavailable, wholeSeconds } from "./answers.ts";

/** A full queue or a failing disk: long enough that senders do not add to it, short enough that they do not give up. */
const RETRY_MS = 5_000;
const MAX_TOLD_ERRORS = 5;
const REPLAY = { "Idempotent-Replay": "true" };

interface AcceptedOptions {
  completion?: Completion | undefined;
  headers: Record<string, string>;
}

/** One action that is stored. */
export function acceptedAnswer(accepted: Accepted, { completion, headers }: AcceptedOptions): Answer {
  if (accepted.kind === "wake") {
    return jsonAnswer(200, { ok: true, mode: accepted.mode, eventOutcome: accepted.eventOutcome }, headers);
  }
  const body = { ok: true, runId: accepted.runId, ...(completion ? { completion } : {}) };
  return jsonAnswer(200, body, { ...headers, ...(accepted.isReplay ? REPLAY : {}) });
}

interface FanOutOptions {
  refusals: readonly Refusal[];
  /** Items in all. */
  of: number;
  headers: Record<string, string>;
}

/** Several items of one request: all stored, or the first refusal with what was stored all the same. */
export function fanOutAnswer(accepted: readonly Accepted[], { refusals, of, headers }: FanOutOptions): Answer {
  const runIds = accepted.flatMap((one) => (one.kind === "agent" ? [one.runId] : []));
  const [refusal] = refusals;
  if (refusal) {
    const error = `hook fan-out incomplete: ${accepted.length}/${of} dispatched, ${refusals.length} failed`;
    const errors = refusals.slice(0, MAX_TOLD_ERRORS).map(({ message }) => message);
    return jsonAnswer(refusal.status, { ok: false, error, runIds, errors }, { ...headers, ...retryAfter(refusal) });
  }
  const dispatched = accepted.length;
  const [first] = accepted;
  if (first?.kind === "wake") return jsonAnswer(200, { ok: true, mode: first.mode, eventOutcome: first.eventOutcome, dispatched }, headers);
  const isReplay = accepted.every((one) => one.kind === "agent" && one.isReplay);
  return jsonAnswer(200, { ok: true, runId: runIds[0], runIds, dispatched }, { ...headers, ...(isReplay ? REPLAY : {}) });
}

/** One action that policy, template or transform refused. */
export function refusalAnswer(refusal: Refusal): Answer {
  return failure(refusal.status, refusal.message, retryAfter(refusal));
}

function retryAfter({ status, retryAfterMs = RETRY_MS }: Refusal): Record<string, string> {
  return status === 503 ? { "Retry-After": wholeSeconds(retryAfterMs) } : {};
}

const sayings: Readonly<Record<string, string>> = {
  draining: "gateway_unavailable",
  "plugin-disposed": "gateway_unavailable",
  "deliveries-full": "hook queue is full",
  "system-events-full": "hook queue is full",
};

/** Nothing was stored: the sender's next try is the buffer. @param log told of what nobody expected */
export function acceptFailure(error: unknown, log: (message: string, fields: JsonObject) => void): Answer {
  if (isSvcError(error) && (error.spec.http === 503 || Object.hasOwn(sayings, error.code))) {
    log("hook not accepted", { code: error.code });
    return unavailable(sayings[error.code] ?? "storage unavailable", error.retryAfterMs ?? RETRY_MS);
  }
  if (isSvcError(error, "hook-action-too-large")) return failure(413, "payload too large");
  log("hook failed", { error: messageOf(error) });
  return failure(500, "internal error");
}
