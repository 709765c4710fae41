import type { RunOutcome } from "svc/sdk";
import { internalProblem, type Problem, unavailable } from "./error-body.ts";

/** A failed run in the words of `http.md` 1, "upstream failures". A vendor's own text is passed on only where the caller can act on it. */
export function toUpstreamProblem(outcome: Pick<RunOutcome, "code" | "error" | "stopReason">): Problem {
  const text = outcome.error ?? "";
  switch (outcome.code) {
    case "AUTH":
      return { status: 401, type: "authentication_error", code: null, message: "the upstream provider rejected its credential" };
    case "RATE_LIMIT":
      return { status: 429, type: "rate_limit_error", code: null, message: text };
    case "OVERLOADED":
      return { ...internalProblem, status: 503, message: "upstream provider overloaded" };
    case "NETWORK":
      return { ...internalProblem, status: 502, message: "upstream provider error" };
    case "TIMEOUT":
      return { ...internalProblem, status: 504, message: "upstream provider timeout" };
    case "CONTEXT_OVERFLOW":
      return { status: 413, type: "invalid_request_error", code: null, message: text };
    case "INVALID_REQUEST":
      return { status: 400, type: "invalid_request_error", code: null, message: text };
    case "INVALID_MODEL":
      return { status: 404, type: "invalid_request_error", code: "model_not_found", message: text };
  }
  return outcome.stopReason === "shutdown" ? unavailable("the gateway is stopping; try again after the restart") : internalProblem;
}
