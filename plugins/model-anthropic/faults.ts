import type { ModelFault } from "svc/sdk";
import type { FaultRules } from "svc/sdk/internal";

/** The vendor's types of errors, over HTTP and in a stream alike. */
const faults: Readonly<Record<string, ModelFault>> = {
  authentication_error: "auth",
  permission_error: "auth",
  billing_error: "quota",
  not_found_error: "model_not_found",
  request_too_large: "context_overflow",
  rate_limit_error: "rate_limit",
  timeout_error: "timeout",
  api_error: "overloaded",
  overloaded_error: "overloaded",
};
const spent = /credit balance is too low|enforced_spend_limit_reached|spend limit/i;
const tooLong = /prompt is too long|exceed context limit/i;

export const faultRules: FaultRules = {
  faultOf({ words, body }) {
    const { type, message = "" } = words;
    if (spent.test(`${message} ${body ?? ""}`)) return "quota";
    if (type === "invalid_request_error") return tooLong.test(message) ? "context_overflow" : "invalid_request";
    return type !== undefined && Object.hasOwn(faults, type) ? faults[type] : undefined;
  },
};
