import { isModelError, isSvcError, type ModelFault, messageOf } from "svc/sdk";

export type AbortReason = "rpc" | "timeout" | "superseded" | "disconnect" | "shutdown";
export type ErrorKind = "refusal" | "timeout" | "rate_limit" | "context_length" | "unknown";

/** Failure of a run. `code` is stable and upper case, the message may be shown. */
export class RunFailure extends Error {
  readonly code: string;
  readonly kind: ErrorKind;
  /** `provider`, `model`, `httpStatus`, `failoverReason`: short strings for the chat event. */
  readonly detail: Record<string, string>;
  /** The vendor's wish, for whoever may try again. */
  readonly retryAfterMs: number | undefined;
  constructor(
    code: string,
    message: string,
    options: { kind?: ErrorKind; detail?: Record<string, string>; retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "RunFailure";
    this.code = code;
    this.kind = options.kind ?? "unknown";
    this.detail = options.detail ?? {};
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Reason of an abort signal of a run. */
export class RunAborted extends Error {
  readonly reason: AbortReason;
  constructor(reason: AbortReason) {
    super(abortSentences[reason]);
    this.name = "AbortError";
    this.reason = reason;
  }
}

export const abortSentences: Record<AbortReason, string> = {
  rpc: "the run was stopped",
  timeout: "the run did not finish within its time limit",
  superseded: "the run was stopped because a newer message replaced it",
  disconnect: "the run was stopped because its caller went away",
  shutdown: "the run was stopped because the gateway is stopping",
};

const kinds: Partial<Record<ModelFault, ErrorKind>> = {
  timeout: "timeout",
  quota: "rate_limit",
  rate_limit: "rate_limit",
  context_overflow: "context_length",
  content_filter: "refusal",
};

/** Codes that are not the name of their fault. */
const codes: Partial<Record<ModelFault, string>> = { content_filter: "REFUSAL", empty: "EMPTY_RESPONSE" };

/** Anything that ended a run, as a `RunFailure`. */
export function toRunFailure(error: unknown, from: { provider?: string | undefined; model?: string | undefined } = {}): RunFailure {
  if (error instanceof RunFailure) return error;
  const detail = { ...(from.provider ? { provider: from.provider } : {}), ...(from.model ? { model: from.model } : {}) };
  if (isModelError(error)) {
    const code = codes[error.fault] ?? error.fault.toUpperCase();
    return new RunFailure(code, error.message, {
      kind: kinds[error.fault] ?? "unknown",
      detail: { ...detail, failoverReason: error.fault, ...(error.status === undefined ? {} : { httpStatus: String(error.status) }) },
      retryAfterMs: error.retryAfterMs,
      cause: error,
    });
  }
  if (isSvcError(error)) {
    const code = error.code.startsWith("storage-") ? "STORAGE" : (error.details?.code ?? error.code.replaceAll("-", "_").toUpperCase());
    return new RunFailure(String(code), error.message, { detail, cause: error });
  }
  return new RunFailure("INTERNAL", messageOf(error), { detail, cause: error });
}
