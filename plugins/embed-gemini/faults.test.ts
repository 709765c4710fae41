import { expect, test } from "vitest";
import { faultOf } from "./adapter.ts";

const body = (...details: object[]) => JSON.stringify({ error: { message: "check your plan and billing details", details } });
const quota = (quotaId: string) => ({ "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId }] });
const retry = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "12s" };

test.each([
  [400, body({ reason: "API_KEY_INVALID" }), "auth"],
  [400, body({ reason: "API_KEY_EXPIRED" }), "auth"],
  [400, body({ reason: "SOMETHING" }), undefined],
  [400, body(), undefined],
  [429, body(quota("EmbedContentRequestsPerMinutePerProjectPerModel"), retry), "rate-limit"],
  [429, body(quota("EmbedContentRequestsPerMinutePerUser")), "rate-limit"],
  [429, body(retry), "rate-limit"],
  [429, body(quota("EmbedContentRequestsPerDayPerProjectPerModel-FreeTier"), retry), "quota"],
  [429, body(), undefined],
  [429, "busy", undefined],
  [429, '{"error":{"details":[null,5]}}', undefined],
  [503, body(retry), undefined],
])("%i %s is %s", (status, text, fault) => {
  expect(faultOf(status, text)).toBe(fault);
});
