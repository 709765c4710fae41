import { isSvcError, messageOf, type SvcError } from "svc/sdk";
import type { Refusal } from "../action.ts";
import { actionErrors } from "./errors.ts";

/** A request that says something it may not say: 400 with this text. */
export function invalid(message: string): SvcError {
  return actionErrors.hookInvalid({ message });
}

/** A template, a transform or a mapping that does not work: the sender learns nothing of it. */
export function mappingFailed(reason: string): SvcError {
  return actionErrors.hookMappingFailed({ reason });
}

/** Time for something that is down to come back. */
const RETRY_MS = 5_000;

/** Converts any failure to a refusal for the sender. */
export function toRefusal(error: unknown): Refusal {
  if (!isSvcError(error)) return { status: 500, message: "hook mapping failed", reason: messageOf(error) };
  const { http } = error.spec;
  if (http === 400 || http === 413) return { status: http, message: error.message };
  if (http === 503)
    return { status: 503, message: "gateway_unavailable", reason: error.message, retryAfterMs: error.retryAfterMs ?? RETRY_MS };
  return { status: 500, message: "hook mapping failed", reason: reasonOf(error) };
}

function reasonOf(error: SvcError): string {
  return typeof error.fields.reason === "string" ? error.fields.reason : error.message;
}
