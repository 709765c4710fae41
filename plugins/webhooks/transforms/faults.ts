import { isSvcError, messageOf } from "svc/sdk";
import { transformErrors } from "./errors.ts";

const BUSY_RETRY_MS = 1_000;

/**
 * An error of a call as the endpoint reports it. Whatever the code of an operator or of a plugin threw is a failure; only what is over by itself is worth a
 * retry.
 * @param signal the caller's: a call that it gave up ends with its reason
 */
export function toTransformError(module: string, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted && error === signal.reason) return error;
  if (isSvcError(error, "transform-failed")) return error;
  if (isSvcError(error, "sandbox-unavailable")) {
    return transformErrors.transformResting({ module }, { retryAfterMs: error.retryAfterMs ?? BUSY_RETRY_MS, cause: error });
  }
  if (isSvcError(error, "busy") || (isSvcError(error, "sandbox-timeout") && error.fields.isWaiting === true)) {
    return transformErrors.transformBusy({ module }, { retryAfterMs: BUSY_RETRY_MS, cause: error });
  }
  return transformErrors.transformFailed({ module, reason: reasonOf(module, error) }, { cause: error });
}

function reasonOf(module: string, error: unknown): string {
  if (isSvcError(error, "sandbox-failed")) {
    const { reason, code } = error.fields;
    return typeof code === "string" ? `${reason} [${code.slice(0, 64)}]` : String(reason);
  }
  return `${module}: ${isSvcError(error) ? error.message : messageOf(error).slice(0, 500)}`;
}
