import { commonErrors } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { actionErrors } from "./errors.ts";
import { invalid, mappingFailed, toRefusal } from "./refusal.ts";

describe("message for the sender", () => {
  test("hook-invalid: the sentence itself", () =>
    expect(toRefusal(invalid("text required"))).toEqual({ status: 400, message: "text required" }));

  test("hook-too-large: 413", () => expect(toRefusal(actionErrors.hookTooLarge())).toEqual({ status: 413, message: "payload too large" }));

  test("hook-mapping-failed: nothing of the reason", () => {
    expect(toRefusal(mappingFailed("line 3"))).toEqual({ status: 500, message: "hook mapping failed", reason: "line 3" });
  });

  test("nothing of an error that nobody expected", () => {
    expect(toRefusal(new TypeError("/secret/path"))).toEqual({ status: 500, message: "hook mapping failed", reason: "/secret/path" });
    expect(toRefusal("thrown text")).toEqual({ status: 500, message: "hook mapping failed", reason: "thrown text" });
  });

  test("when to come again, where something is down", () => {
    const down = commonErrors.serviceUnavailable({ service: "agents@1" });
    expect(toRefusal(down)).toEqual({ status: 503, message: "gateway_unavailable", reason: down.message, retryAfterMs: 5_000 });
    expect(toRefusal(commonErrors.busy({}, { retryAfterMs: 250 }))).toMatchObject({ status: 503, retryAfterMs: 250 });
  });
});
