import { describe, expect, test } from "vitest";
import { defineErrors } from "../../errors.ts";
import { toModelError } from "./faults.ts";

/** Errors of `ctx.request`. */
const requestErrors = defineErrors({
  "request-failed": { message: "the connection failed", http: 502, rpc: "UNAVAILABLE" },
  "response-timeout": { message: "no answer", http: 504, rpc: "UNAVAILABLE" },
  "proxy-failed": { message: "the proxy http://p:1 refused a connection; check HTTPS_PROXY", http: 502, rpc: "UNAVAILABLE" },
  "too-many-requests-waiting": { message: "too many", http: 503, rpc: "UNAVAILABLE" },
  "invalid-request": { message: "no", http: 500, rpc: "UNAVAILABLE" },
});
const at = { provider: "lab", secrets: ["hunter2-hunter2"], now: 0 };

function call(statusCode: number, body: unknown = "", responseHeaders: Record<string, string> = {}): Error {
  const responseBody = typeof body === "string" ? body : JSON.stringify(body);
  return Object.assign(new Error("x"), { name: "AI_APICallError", statusCode, responseBody, responseHeaders });
}

describe("the class of a fault", () => {
  test.each([
    [401, "auth"],
    [402, "quota"],
    [403, "auth"],
    [404, "model_not_found"],
    [408, "timeout"],
    [413, "context_overflow"],
    [422, "invalid_request"],
    [429, "rate_limit"],
    [500, "overloaded"],
    [503, "overloaded"],
    [504, "timeout"],
    [529, "overloaded"],
  ])("status %i → %s", (status, fault) => {
    expect(toModelError(call(status), at)).toMatchObject({ fault, status });
  });

  test.each([
    { error: { message: "no", code: "context_length_exceeded" } },
    { message: "The prompt is too long: 9000 tokens" },
    { detail: "This model's maximum context length is 8192 tokens" },
    { error: "input exceeds the model's maximum context" },
  ])("400 %j → context_overflow", (body) => {
    expect(toModelError(call(400, body), at)).toMatchObject({ fault: "context_overflow" });
  });

  test.each([
    [{ code: "insufficient_quota" }, "quota"],
    [{ type: "insufficient_quota" }, "quota"],
    [{ code: "rate_limit_exceeded" }, "rate_limit"],
  ])("429 %j → %s", (words, fault) => {
    expect(toModelError(call(429, { error: { message: "no", ...words } }), at)).toMatchObject({ fault, status: 429 });
  });

  test.each([
    [{ reason: "ECONNRESET" }, "network", "the connection failed: ECONNRESET"],
    [
      { reason: "ENOTFOUND", via: " (through the proxy http://p:1)" },
      "network",
      "the connection failed: ENOTFOUND (through the proxy http://p:1)",
    ],
    [{ reason: "CERT_HAS_EXPIRED" }, "network", "the connection failed: CERT_HAS_EXPIRED"],
    [{ reason: "ETIMEDOUT" }, "timeout", "no answer in time: ETIMEDOUT"],
  ])("a connection that failed with %j, also below other errors → %s", (fields, fault, text) => {
    const cause = requestErrors.requestFailed(fields);

    expect(toModelError(new Error("outer", { cause: new Error("inner", { cause }) }), at)).toMatchObject({
      fault,
      message: `provider "lab": ${text}`,
    });
  });

  test.each([
    [requestErrors.responseTimeout({ seconds: 120 }), "timeout", "no answer within 120 s"],
    [requestErrors.proxyFailed(), "network", "the proxy http://p:1 refused a connection; check HTTPS_PROXY"],
    [requestErrors.tooManyRequestsWaiting(), "overloaded", "too many requests are waiting for it"],
    [requestErrors.invalidRequest(), "invalid_request", "the request could not be made: no"],
  ])("%s → %s", (error, fault, text) => {
    expect(toModelError(error, at)).toMatchObject({ fault, message: `provider "lab": ${text}` });
  });

  test.each([
    [{ message: "slow down", code: "rate_limit_exceeded" }, "rate_limit"],
    [{ message: "no credit", code: "insufficient_quota" }, "quota"],
    [{ message: "bad key", code: "invalid_api_key" }, "auth"],
    [{ message: "busy" }, "overloaded"],
  ])("an error in the stream %j → %s", (error, fault) => {
    expect(toModelError(error, at)).toMatchObject({ fault });
  });

  test("anything unforeseen stops the run with its message", () => {
    expect(toModelError(new TypeError("odd"), at)).toMatchObject({
      fault: "invalid_request",
      message: 'provider "lab": the request could not be made: odd',
    });
  });
});

test("a message has the vendor's words, without key, address credentials or line breaks", () => {
  const body = { error: { message: "key hunter2-hunter2 or sk-abcdefgh12345678 refused\nat https://bob:pw@host/v1, Bearer abc" } };

  expect(toModelError(call(401, body), at).message).toBe(
    'provider "lab": the key was rejected (401): key *** or *** refused at https://host/v1, Bearer ***',
  );
});
