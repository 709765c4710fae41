import type { FaultRules } from "svc/sdk/internal";

/** Classes of the vendor's errors where their status says something else (developers.openai.com/api/docs/guides/error-codes). */
export const faults: FaultRules = {
  faultOf({ words }) {
    switch (words.code ?? words.type) {
      // Comes with 403 where the project may not use the model.
      case "model_not_found":
        return "model_not_found";
      case "billing_hard_limit_reached":
      case "billing_not_active":
        return "quota";
      case "content_policy_violation":
      case "invalid_prompt":
        return "content_filter";
      default:
        return undefined;
    }
  },
};

interface PackageError {
  statusCode?: unknown;
  responseHeaders?: unknown;
  data?: unknown;
}

/**
 * An error that came as an event of a stream, in the form of one that came with a status. Anything else is left as it is. Pure.
 * @param error as the package throws it before the first output, or reports it later
 */
export function asCallError(error: unknown): unknown {
  const { statusCode, responseHeaders, data } = (typeof error === "object" && error !== null ? error : {}) as PackageError;
  const words = wordsOf(data);
  if (typeof statusCode !== "number" || words === undefined) return error;
  return Object.assign(new Error("the vendor reported an error"), {
    statusCode,
    responseBody: JSON.stringify({ error: words }),
    ...(responseHeaders === undefined ? {} : { responseHeaders }),
  });
}

/** `{type: "response.failed", response: {error}}`, `{type: "error", error}` or `{type: "error", code, message}`. */
function wordsOf(frame: unknown): { code: unknown; message: unknown; type?: unknown } | undefined {
  if (typeof frame !== "object" || frame === null) return undefined;
  const { response, error, ...rest } = frame as { response?: { error?: object | null }; error?: object };
  const { code, message, type } = (response?.error ?? error ?? rest) as { code?: unknown; message?: unknown; type?: unknown };
  return { code, message, ...(type === "error" ? {} : { type }) };
}

/** True for the refusal of summaries of reasoning, which the vendor gives to verified organizations only. */
export function refusesSummaries(error: unknown): boolean {
  const { statusCode, data } = (typeof error === "object" && error !== null ? error : {}) as PackageError;
  const { param } = ((data as { error?: { param?: unknown } } | undefined)?.error ?? {}) as { param?: unknown };
  return statusCode === 400 && param === "reasoning.summary";
}
