import { describe, expect, test } from "vitest";
import { toModelError } from "./faults.ts";

const at = { provider: "lab", secrets: ["hunter2-hunter2"], now: 0 };

function call(statusCode: number, body: unknown = "", responseHeaders: Record<string, string> = {}): Error {
  const responseBody = typeof body === "string" ? body : JSON.stringify(body);
  return Object.assign(new Error("x"), { name: "AI_APICallError", statusCode, responseBody, responseHeaders });
}

describe("the class of a fault", () => {
  test.each([
    [401, "auth"],
    [402, "rate_limit"],
    [403, "auth"],
    [404, "invalid_request"],
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
    ["ECONNRESET", "network"],
    ["ENOTFOUND", "network"],
    ["UND_ERR_SOCKET", "network"],
    ["CERT_HAS_EXPIRED", "network"],
    ["UND_ERR_HEADERS_TIMEOUT", "timeout"],
    ["UND_ERR_BODY_TIMEOUT", "timeout"],
    ["UND_ERR_CONNECT_TIMEOUT", "timeout"],
  ])("%s, also below other errors → %s", (code, fault) => {
    const cause = Object.assign(new Error("low"), { code });

    expect(toModelError(new Error("outer", { cause: new TypeError("fetch failed", { cause }) }), at)).toMatchObject({
      fault,
      message: expect.stringContaining(code),
    });
  });

  test.each([
    [{ message: "slow down", code: "rate_limit_exceeded" }, "rate_limit"],
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
