import { ModelError, type ModelFault } from "svc/sdk";
import { expect, test } from "vitest";
import { httpErrors } from "../../test/fakes/bedrock-converse-scripts.ts";
import { faultOf, toModelError } from "./faults.ts";

type Failure = Parameters<typeof faultOf>[0];
const failed = (failure: Partial<Failure>) => Object.assign(new Error("x"), { failure: { name: "", message: "", ...failure } });
const at = { provider: "lab", secrets: ["a-secret-header"], now: 0 };

const overHttp: Record<string, ModelFault> = {
  ...{ throttled: "rate_limit", daily: "quota", quota: "quota", denied: "auth", expired: "auth", missing: "model_not_found" },
  ...{ identifier: "model_not_found", profile: "model_not_found", long: "context_overflow", prompt: "context_overflow" },
  ...{ both: "context_overflow", bad: "invalid_request", slow: "timeout", failed: "overloaded", cold: "overloaded" },
  ...{ internal: "overloaded", busy: "overloaded", gateway: "timeout" },
};

test("every error over HTTP has its class", () => {
  const faults = Object.entries(httpErrors).map(([name, { status, type = "", message }]) => [
    name,
    faultOf({ name: type, message, status }),
  ]);
  expect(Object.fromEntries(faults)).toEqual(overHttp);
});

test.each<[failure: Partial<Failure>, fault: ModelFault]>([
  [{ name: "CredentialsProviderError", message: "Could not load credentials from any providers" }, "auth"],
  [{ name: "TokenProviderError" }, "auth"],
  [{ name: "InvalidSignatureException", status: 403 }, "auth"],
  [{ name: "UnrecognizedClientException", status: 403 }, "auth"],
  [{ name: "accessDeniedException" }, "auth"],
  [{ name: "throttlingException", message: "Too many tokens, please wait" }, "rate_limit"],
  [{ name: "validationException", message: "The model returned: maximum context length is 8192" }, "context_overflow"],
  [{ name: "validationException", message: "The value at messages.0 is not valid" }, "invalid_request"],
  [{ name: "modelStreamErrorException" }, "overloaded"],
  [{ name: "TimeoutError" }, "timeout"],
  [{ name: "BadAnswer", message: "is no stream" }, "network"],
  [{ code: "ECONNRESET" }, "network"],
  [{ code: "ECONNREFUSED" }, "network"],
  [{ code: "ERR_MODULE_NOT_FOUND" }, "auth"],
  [{ status: 302 }, "invalid_request"],
  [{ status: 401 }, "auth"],
  [{ status: 404 }, "model_not_found"],
  [{ status: 413 }, "context_overflow"],
  [{ status: 418 }, "invalid_request"],
  [{ status: 429 }, "rate_limit"],
  [{ status: 502 }, "overloaded"],
  [{ message: "the thread of the AWS client: it ended" }, "network"],
])("%j is %s", (failure, fault) => {
  expect(toModelError(failed(failure), at)).toMatchObject({ name: "ModelError", fault });
});

test("the message names provider, meaning, status and the vendor's words, without what must not be shown", () => {
  const error = toModelError(
    failed({ name: "ThrottlingException", message: "slow down, a-secret-header", status: 429, retryAfter: "7" }),
    at,
  ) as ModelError;
  expect(error).toMatchObject({ fault: "rate_limit", status: 429, retryAfterMs: 7_000 });
  expect(error.message).toMatch(/^provider "lab": the limit of the account is reached \(429\): ThrottlingException: slow down, /);
  expect(error.message).not.toContain("a-secret-header");
});

test("other errors stay as they are", () => {
  const own = new ModelError("network", "x");
  const other = new TypeError("y");
  expect([toModelError(own, at), toModelError(other, at), toModelError("z", at)]).toEqual([own, other, "z"]);
});
