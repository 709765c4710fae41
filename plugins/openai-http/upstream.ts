import { type EmbeddingError, isSvcError, type RunOutcome } from "svc/sdk";
import type { EmbeddingsRequest } from "./embeddings-request.ts";
import { internalProblem, type Problem, unavailable } from "./error-body.ts";

/** Converts a failed run to an OpenAI-style error. A vendor's own text is passed on only where the caller can act on it. */
export function toUpstreamProblem(outcome: Pick<RunOutcome, "code" | "error" | "httpStatus" | "retryAfterMs" | "stopReason">): Problem {
  const text = withoutAddresses(outcome.error ?? "");
  switch (outcome.code) {
    case "AUTH":
      return refusedCredential(outcome.httpStatus);
    case "QUOTA":
      return { status: 402, type: "insufficient_quota", code: null, message: text };
    case "RATE_LIMIT":
      return { status: 429, type: "rate_limit_error", code: null, message: text, ...retryAfter(outcome) };
    case "OVERLOADED":
      return { ...internalProblem, status: 503, message: "upstream provider overloaded", ...retryAfter(outcome) };
    case "NETWORK":
      return { ...internalProblem, status: 502, message: "upstream provider error" };
    case "TIMEOUT":
      return { ...internalProblem, status: 504, message: "upstream provider timeout" };
    case "CONTEXT_OVERFLOW":
      return { status: 413, type: "invalid_request_error", code: null, message: text };
    case "INVALID_REQUEST":
      return { status: 400, type: "invalid_request_error", code: null, message: text };
    case "INVALID_MODEL":
    case "MODEL_NOT_FOUND":
      return { status: 404, type: "invalid_request_error", code: "model_not_found", message: text };
  }
  if (outcome.code === "INTERRUPTED" && outcome.stopReason === "interrupted") return interrupted(text);
  if (outcome.stopReason === "disconnect") return interrupted(`${text}; send the request again with a new key to repeat it`);
  return outcome.stopReason === "shutdown" ? unavailable("the gateway is stopping; try again after the restart") : internalProblem;
}

/** A repeat of a request whose run was cut off by the end of the gateway or of the first client; it would get the same answer again, so clients are told not to retry. */
function interrupted(message: string): Problem {
  return { ...internalProblem, code: "interrupted", message, headers: { "x-should-retry": "false" } };
}

/**
 * A failed embedding call in the same words; undefined for what was no vendor's fault and has its own answer. Of its text only what the caller can act
 * on is passed on, without addresses.
 */
export function toEmbeddingProblem(error: unknown, pathOf: EmbeddingsRequest["pathOf"] = (i) => `input.${i}`): Problem | undefined {
  if (isSvcError(error, "embedding-text-too-long")) {
    const { index, model, limit } = error.fields;
    return { ...invalid, message: `${pathOf(Number(index))}: longer than the ${limit} tokens that ${model} takes; send it in parts` };
  }
  if (isSvcError(error, "embedding-provider-missing")) return noEmbeddingProvider;
  if (isSvcError(error, "embedding-provider-not-allowed")) {
    return { ...invalid, message: "This agent does not allow that embedding provider on `/v1/embeddings`." };
  }
  return isEmbeddingError(error) ? ofFault(error) : undefined;
}

const invalid = { status: 400, type: "invalid_request_error", code: null };
/** No 5xx: clients try those again, and this stays as it is until somebody configures one. */
const noEmbeddingProvider: Problem = {
  ...invalid,
  code: "no_embedding_provider",
  message: "no embedding provider is configured; set memorySearch.provider of the agent, or the key of a vendor",
};

function ofFault(error: EmbeddingError): Problem {
  const message = withoutAddresses(error.message);
  switch (error.fault) {
    case "no-credentials":
      return noEmbeddingProvider;
    case "auth":
      return refusedCredential(error.status);
    case "model":
      return { ...invalid, status: 404, code: "model_not_found", message };
    case "not-ready":
      return unavailable("the embedding model is not loaded yet; try again shortly");
    case "quota":
      return { status: 402, type: "insufficient_quota", code: null, message };
    case "rate-limit":
      return { status: 429, type: "rate_limit_error", code: null, message, ...retryAfter(error) };
    case "overloaded":
      // 529 is what some vendors say instead of 503; any other 5xx is an error of theirs.
      return error.status === undefined || error.status === 503 || error.status === 529
        ? { ...internalProblem, status: 503, message: "upstream provider overloaded", ...retryAfter(error) }
        : { ...internalProblem, status: 502, message: "upstream provider error" };
    case "bad-response": {
      const dims = /expected (?:vectors of )?(\d+) dimensions, got (?:one of )?(\d+)/.exec(error.message);
      if (!dims) return { ...internalProblem, status: 502, message: "upstream provider error" };
      const [, expected, got] = dims;
      const message = `the embedding model answered with vectors of ${got} dimensions, expected ${expected}; name it by another id if it is not the vendor's model of that name`;
      return { ...invalid, code: "dimensions_mismatch", message };
    }
    case "network":
      return { ...internalProblem, status: 502, message: "upstream provider error" };
    case "timeout":
      return { ...internalProblem, status: 504, message: "upstream provider timeout" };
    case "invalid-request":
      return { ...invalid, message };
    case "too-long":
      return { ...invalid, status: 413, message };
  }
}

function refusedCredential(status: number | undefined): Problem {
  return status === 403
    ? { status: 403, type: "permission_error", code: null, message: "the upstream provider refused permission" }
    : { status: 401, type: "authentication_error", code: null, message: "the upstream provider rejected its credential" };
}

function retryAfter({ retryAfterMs }: { retryAfterMs?: number | undefined }): Pick<Problem, "headers"> {
  return retryAfterMs === undefined ? {} : { headers: { "Retry-After": String(Math.ceil(retryAfterMs / 1000)) } };
}

function withoutAddresses(text: string): string {
  return text.replace(/\bhttps?:\/\/[^\s"'<>)]+/gi, "***");
}

/** True for one of any SDK copy. */
function isEmbeddingError(error: unknown): error is EmbeddingError {
  return error instanceof Error && error.name === "EmbeddingError";
}
