import { describe, expect, test } from "vitest";
import { keyOf, scopedKey } from "./idempotency.ts";

const headers = (given: Record<string, string> = {}) => new Headers(given);

describe("the key of a request is", () => {
  test.each([
    ["that of Idempotency-Key", { "idempotency-key": " a ", "x-svc-idempotency-key": "b" }, { idempotencyKey: "c" }, "a"],
    ["that of x-svc-idempotency-key", { "x-svc-idempotency-key": "b" }, { idempotencyKey: "c" }, "b"],
    ["that of the payload", {}, { idempotencyKey: " c " }, "c"],
    ["the delivery id of a sender that signs", {}, {}, "d"],
    ["the next one when one is blank", { "idempotency-key": " " }, { idempotencyKey: "c" }, "c"],
    ["of 256 characters", { "idempotency-key": "k".repeat(256) }, {}, "k".repeat(256)],
    ["the next one when one has 257", { "idempotency-key": "k".repeat(257) }, {}, "d"],
    ["of a foreign payload as a store can hold it", {}, { idempotencyKey: "c\ud83d" }, "c\ufffd"],
    ["never a number or a list", {}, { idempotencyKey: ["c"] }, "d"],
    ["never inherited", {}, Object.create({ idempotencyKey: "c" }), "d"],
    ["of a payload that is no object that of the sender", {}, [1], "d"],
  ])("%s", (_name, given, payload, key) => {
    expect(keyOf({ headers: headers(given as Record<string, string>), payload, deliveryId: () => "d" })).toBe(key);
  });

  test("missing where nobody gave one", () => {
    expect(keyOf({ headers: headers(), payload: {} })).toBeUndefined();
    expect(keyOf({ headers: headers(), payload: {}, deliveryId: () => undefined })).toBeUndefined();
  });
});

describe("its scope", () => {
  const token = { kind: "token" } as const;

  test("is who vouched for it and the path", () => {
    expect(scopedKey("k", { identity: token, path: "agent" })).toEqual({ scope: "token agent", key: "k" });
    expect(scopedKey("k", { identity: { kind: "mapping", id: "gh" }, path: "github" })).toEqual({ scope: "mapping:gh github", key: "k" });
  });

  test("gives every item of a fan-out a key of its own", () => {
    expect([0, 1].map((place) => scopedKey("k", { identity: token, path: "mail", place }).key)).toEqual(["k#0", "k#1"]);
  });

  test("stays within 256 characters and tells long ones apart", () => {
    const at = (path: string, place?: number) => scopedKey("k".repeat(256), { identity: token, path, place });
    const [one, two] = [at(`${"p".repeat(9_000)}1`, 1), at(`${"p".repeat(9_000)}2`, 2)];
    expect(one.scope).not.toBe(two.scope);
    expect(one.key).not.toBe(two.key);
    for (const text of [one.scope, one.key]) expect(text.length).toBeLessThanOrEqual(256);
  });
});
