import type { HttpFault } from "svc/sdk";

/** An error as clients of the OpenAI API see it. */
export interface Problem {
  status: number;
  type: string;
  code: string | null;
  message: string;
  headers?: Record<string, string>;
}

/** The `{"error": …}` object, as JSON. */
export function errorJson({ message, type, code }: Problem): string {
  return JSON.stringify({ error: { message, type, param: null, code } });
}

export function errorResponse(problem: Problem): Response {
  const headers = { "Content-Type": "application/json; charset=utf-8", ...problem.headers };
  return new Response(errorJson(problem), { status: problem.status, headers });
}

/** Converts a refusal of the kernel or an error of this plugin to an OpenAI-style error. The kernel adds its own headers. */
export function toProblem(fault: HttpFault): Problem {
  const invalid = { status: fault.status, type: "invalid_request_error", code: null, message: fault.message };
  switch (fault.code) {
    case "unauthorized":
      return { status: 401, type: "unauthorized", code: "invalid_api_key", message: "Unauthorized" };
    case "missing-scope":
      return { ...invalid, type: "forbidden", code: "missing_scope" };
    case "proxy-attribution-required":
      return { ...invalid, type: "proxy_attribution_required", code: "proxy_attribution_required" };
    case "rate-limited":
      return { ...invalid, type: "rate_limited", code: "rate_limited" };
    case "request-timeout":
      return { ...invalid, code: "request_timeout" };
    case "payload-too-large":
      return { ...invalid, code: "payload_too_large" };
    case "v1-model-not-found":
    case "invalid-model":
      return { ...invalid, status: 404, code: "model_not_found" };
    case "v1-previous-response-not-found":
      return { ...invalid, code: "previous_response_not_found" };
  }
  if (fault.status === 503) return unavailable(fault.message);
  return fault.status >= 500 ? internalProblem : invalid;
}

export const internalProblem: Problem = { status: 500, type: "api_error", code: null, message: "internal error" };

/** The gateway is draining, or a part of it is down. */
export function unavailable(message: string): Problem {
  return { status: 503, type: "api_error", code: "gateway_unavailable", message, headers: { "Retry-After": "1" } };
}
