import { expect, test } from "vitest";
import { faultOf, toEmbeddingError } from "./call-fault.ts";
import { isRefusal, type RawFailure, rawFailureOf } from "./raw-failure.ts";

const failure = (own: Partial<RawFailure>): RawFailure => ({ name: "", message: "", ...own });

test.each([
  ["ThrottlingException", 429, "rate-limit"],
  ["TooManyRequestsException", 429, "rate-limit"],
  ["ServiceQuotaExceededException", 400, "quota"],
  ["ServiceUnavailableException", 503, "overloaded"],
  ["InternalServerException", 500, "overloaded"],
  ["ModelNotReadyException", 429, "overloaded"],
  ["ModelErrorException", 424, "overloaded"],
  ["ModelTimeoutException", 408, "timeout"],
  ["AccessDeniedException", 403, "auth"],
  ["ExpiredTokenException", 403, "auth"],
  ["UnrecognizedClientException", 403, "auth"],
  ["InvalidSignatureException", 403, "auth"],
  ["SignatureDoesNotMatch", 403, "auth"],
  ["MissingAuthenticationTokenException", 403, "auth"],
  ["ResourceNotFoundException", 404, "model"],
  ["ValidationException", 400, "invalid-request"],
])("%s (%d) is %s", (name, status, fault) => {
  const raw = rawFailureOf(Object.assign(new Error("why"), { name, $metadata: { httpStatusCode: status } }));
  expect(raw).toEqual({ name, message: "why", status });
  expect(faultOf(raw)).toBe(fault);
  expect(toEmbeddingError(raw, 0)).toMatchObject({
    fault,
    status,
    message: expect.stringMatching(new RegExp(`\\(${status}\\): ${name}: why$`)),
  });
});

test.each([
  [302, "model"],
  [400, "invalid-request"],
  [401, "auth"],
  [403, "auth"],
  [404, "model"],
  [413, "too-long"],
  [422, "invalid-request"],
  [429, "rate-limit"],
  [500, "overloaded"],
  [503, "overloaded"],
  [529, "overloaded"],
])("status %d without a name is %s", (status, fault) => {
  const raw = rawFailureOf(Object.assign(new Error("UnknownError"), { name: "Unknown", $metadata: { httpStatusCode: status } }));
  expect(raw).toEqual({ name: "", message: "", status });
  expect(faultOf(raw)).toBe(fault);
});

test.each([
  ["Too many input tokens. Max input tokens: 8192, request input token count: 9001", "too-long"],
  ["Malformed input request: expected maxLength: 2048, actual: 3000", "too-long"],
  ["The provided model identifier is invalid.", "model"],
  ["Malformed input request: extraneous key [x] is not permitted", "invalid-request"],
])("a ValidationException that says %j is %s", (message, fault) => {
  expect(faultOf(failure({ name: "ValidationException", message, status: 400 }))).toBe(fault);
});

test("a limit that is about money is quota; tokens of a day are not", () => {
  expect(faultOf(failure({ name: "ThrottlingException", message: "billing is not set up", status: 429 }))).toBe("quota");
  expect(faultOf(failure({ message: "insufficient_quota", status: 429 }))).toBe("quota");
  expect(faultOf(failure({ name: "ThrottlingException", message: "Too many tokens per day, please wait", status: 429 }))).toBe(
    "rate-limit",
  );
});

test.each(["ECONNRESET", "EPIPE"])("%s is network, though the package calls it a time-out", (code) => {
  expect(faultOf(rawFailureOf(Object.assign(new Error("hung up"), { code, name: "TimeoutError" })))).toBe("network");
});

test.each(["ECONNREFUSED", "ENOTFOUND"])("%s is network, also as a cause", (code) => {
  const raw = rawFailureOf(new Error("outer", { cause: Object.assign(new Error("inner"), { code }) }));
  expect(raw).toEqual({ name: "", message: "outer", code });
  expect(toEmbeddingError(raw, 0)).toMatchObject({ fault: "network", message: expect.stringMatching(new RegExp(`: ${code}: outer$`)) });
});

test("a silent server is timeout, an answer that is none bad-response, no credentials no-credentials", () => {
  expect(faultOf(failure({ name: "TimeoutError" }))).toBe("timeout");
  expect(toEmbeddingError(failure({ name: "BadAnswer", message: "the answer is no JSON" }), 0).message).toBe(
    'embedding adapter "bedrock": the answer cannot be used: the answer is no JSON',
  );
  for (const name of ["CredentialsProviderError", "TokenProviderError"]) expect(faultOf(failure({ name }))).toBe("no-credentials");
});

test("a missing package is no-credentials with what to do", () => {
  const raw = rawFailureOf(Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" }));
  expect(toEmbeddingError(raw, 0)).toMatchObject({
    fault: "no-credentials",
    message: expect.stringMatching(/@aws-sdk\/client-bedrock-runtime is missing; reinstall svc/),
  });
});

test("the wait that the vendor asks for is handed on, in seconds or as a date", () => {
  const asking = (retryAfter: string) =>
    Object.assign(new Error(), { name: "ThrottlingException", $response: { statusCode: 429, headers: { "retry-after": retryAfter } } });
  expect(toEmbeddingError(rawFailureOf(asking("7")), 0)).toMatchObject({ fault: "rate-limit", status: 429, retryAfterMs: 7_000 });
  const now = Date.parse("2026-01-01T00:00:00Z");
  expect(toEmbeddingError(rawFailureOf(asking("Thu, 01 Jan 2026 00:00:05 GMT")), now).retryAfterMs).toBe(5_000);
});

test("what was sent is not repeated: neither in the first line nor in the lines of the signature", () => {
  const text = "token AKIA1 is wrong\n\nThe Canonical String should have been 'x-amz-security-token:SECRET'";
  const raw = rawFailureOf(Object.assign(new Error(text), { name: "InvalidSignatureException" }), ["AKIA1", "SECRET", ""]);
  expect(raw.message).toBe("token *** is wrong");
});

test("the words of a server in between are read", () => {
  const thrown = (error: unknown) => Object.assign(new Error("UnknownError"), { error, $metadata: { httpStatusCode: 429 } });
  expect(rawFailureOf(thrown({ message: "insufficient_quota" }))).toEqual({ name: "", message: "insufficient_quota", status: 429 });
  expect(rawFailureOf(thrown("slow down")).message).toBe("slow down");
  expect(rawFailureOf(thrown([1])).message).toBe("");
});

test("what is no error is told as it is", () => {
  expect(rawFailureOf("gone")).toEqual({ name: "", message: "gone" });
  expect(rawFailureOf(undefined)).toEqual({ name: "", message: "undefined" });
});

test("refused or missing credentials are looked for again, other failures change nothing", () => {
  const refusals = [{ status: 401 }, { status: 403 }, { name: "CredentialsProviderError" }].map(failure);
  expect(refusals.map(isRefusal)).toEqual([true, true, true]);
  expect([{ status: 429 }, { status: 500 }, { code: "ECONNRESET" }].map(failure).map(isRefusal)).toEqual([false, false, false]);
});
