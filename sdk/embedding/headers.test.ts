import { expect, test } from "vitest";
import { isCredentialHeader, mergeHeaders, plainHeaders } from "./headers.ts";

test.each([
  "Authorization",
  "Proxy-Authorization",
  "x-api-key",
  "X-Goog-Api-Key",
  "api-key",
  "Cookie",
  "set-cookie",
  "x-auth-token",
  "x-client-secret",
])("%s carries a credential", (name) => {
  expect(isCredentialHeader(name, "v")).toBe(true);
});

test.each([
  ["x-anything", "Bearer abc", true],
  ["x-anything", "basic YWJj", true],
  ["x-team", "north", false],
  ["accept", "application/json", false],
])("%s: %s carries a credential: %s", (name, value, expected) => {
  expect(isCredentialHeader(name, value)).toBe(expected);
});

test("later headers win whatever their case, and what is told of them is sorted and without credentials", () => {
  const merged = mergeHeaders({ "X-B": "1", Authorization: "Bearer a" }, undefined, { "x-b": "2", "X-A": "3" });

  expect(merged).toEqual({ "x-b": "2", authorization: "Bearer a", "x-a": "3" });
  expect(JSON.stringify(plainHeaders(merged))).toBe('{"x-a":"3","x-b":"2"}');
});
