import { describe, expect, it } from "vitest";
import { isRefusal, reconnectDelayMs } from "./backoff.ts";
import { ClientError } from "./error.ts";

describe("reconnectDelayMs", () => {
  it.each([
    [1, 1_000],
    [2, 2_000],
    [3, 4_000],
    [5, 16_000],
    [6, 30_000],
    [60, 30_000],
  ])("attempt %i waits at most %i ms", (attempt, ceiling) => {
    expect(reconnectDelayMs(attempt, 0)).toBe(0);
    expect(reconnectDelayMs(attempt, 0.5)).toBe(ceiling / 2);
    expect(reconnectDelayMs(attempt, 0.9999999)).toBeLessThanOrEqual(ceiling);
  });

  it("adds the jitter to what the gateway asked for", () => {
    expect(reconnectDelayMs(1, 0, 1_500)).toBe(1_500);
    expect(reconnectDelayMs(1, 0.5, 1_500)).toBe(2_000);
  });
});

describe("isRefusal", () => {
  const closed = (closeCode: number) => new ClientError("connection-closed", "", { details: { closeCode }, retryable: true });
  it.each([1002, 1008, 4001])("a close with %i is one", (code) => expect(isRefusal(closed(code))).toBe(true));
  it.each([1001, 1006, 1011, 1012, 1013, 4000])("a close with %i is a loss", (code) => expect(isRefusal(closed(code))).toBe(false));

  it("a wrong secret, also a locked one, is a refusal; a starting gateway is not", () => {
    expect(isRefusal(new ClientError("INVALID_REQUEST", "", { details: { code: "AUTH_TOKEN_MISMATCH" } }))).toBe(true);
    expect(isRefusal(new ClientError("INVALID_REQUEST", "", { details: { code: "AUTH_RATE_LIMITED" }, retryable: true }))).toBe(true);
    expect(isRefusal(new ClientError("NOT_PAIRED", ""))).toBe(true);
    expect(isRefusal(new ClientError("UNAVAILABLE", "", { retryable: true, retryAfterMs: 500 }))).toBe(false);
    expect(isRefusal(new ClientError("gateway-unreachable", ""))).toBe(false);
  });
});
