import { expect, test } from "vitest";
import { addressRange } from "./gateway.ts";

test.each([
  ["192.0.2.1", true],
  ["10.0.0.0/8", true],
  ["10.0.0.0/32", true],
  ["10.0.0.0/33", false],
  ["::1", true],
  ["fd00::/128", true],
  ["fd00::/129", false],
  ["10.0.0.0/", false],
  ["10.0.0.0/8/8", false],
  ["10.0.0", false],
  ["proxy", false],
  ["", false],
])("%j is an address or a range: %j", (text, expected) => {
  expect(addressRange().safeParse(text).success).toBe(expected);
});
