import { expect, test } from "vitest";
import { connectionError, faultOfStatus, refusalError } from "./errors.ts";

test.each([
  [301, "", "model"],
  [400, "", "invalid-request"],
  [400, "This model's maximum context length is 8192 tokens", "too-long"],
  [400, "Invalid 'input': maximum request size is 300000 tokens per request.", "too-long"],
  [401, "", "auth"],
  [402, "", "quota"],
  [403, "", "auth"],
  [404, "", "model"],
  [408, "", "timeout"],
  [409, "", "invalid-request"],
  [413, "", "too-long"],
  [422, "", "invalid-request"],
  [429, "", "rate-limit"],
  [429, '{"error":{"code":"insufficient_quota"}}', "quota"],
  [429, "check your plan and billing details", "quota"],
  [429, "too many tokens per minute", "rate-limit"],
  [500, "", "overloaded"],
  [529, "", "overloaded"],
])("status %i with %j is %s", (status, body, fault) => {
  expect(faultOfStatus(status, body)).toBe(fault);
});

const subject = { adapter: "acme", secrets: ["hunter2-hunter2"] };
const answer = { headers: {}, body: "", now: 0 };

test("a refusal says what it means, what the vendor said without the key, and the wait", () => {
  const body = '{"error":{"message":"no hunter2-hunter2\\nhere"}}';
  const error = refusalError({ ...answer, status: 429, body, headers: { "retry-after": "2" } }, subject);

  expect(error).toMatchObject({ fault: "rate-limit", status: 429, retryAfterMs: 2_000 });
  expect(error.message).toBe('embedding adapter "acme": the rate limit is reached (429): no *** here');
});

test("a redirect names the other server only", () => {
  const headers = { location: "https://u:p@elsewhere.example/login?token=1" };

  expect(refusalError({ ...answer, status: 302, headers }, subject).message).toBe(
    'embedding adapter "acme": the server redirects to https://elsewhere.example (302), where no key is sent; set baseUrl to the address that answers',
  );
  expect(refusalError({ ...answer, status: 302 }, subject).message).toContain("redirects to another address");
});

test("a vendor may mean something of its own by a status", () => {
  expect(refusalError({ ...answer, status: 429 }, { ...subject, faultOf: () => "quota" }).fault).toBe("quota");
  expect(refusalError({ ...answer, status: 429 }, { ...subject, faultOf: () => undefined }).fault).toBe("rate-limit");
});

test.each([
  ["ECONNREFUSED", "network"],
  ["ENOTFOUND", "network"],
  ["CERT_HAS_EXPIRED", "network"],
  ["ETIMEDOUT", "timeout"],
])("a connection that fails with %s is %s", (code, fault) => {
  const error = connectionError(Object.assign(new Error("at https://u:p@host"), { code }), { adapter: "acme", timeoutMs: 1_000 });

  expect(error).toMatchObject({ fault, message: expect.stringContaining(code) });
  expect(error.message).not.toContain("u:p");
});
