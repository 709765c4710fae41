import { describe, expect, test } from "vitest";
import { addressRanges, isLoopback } from "./address-ranges.ts";

test.each([
  ["127.0.0.1", true],
  ["127.8.9.10", true],
  ["::1", true],
  ["::ffff:127.0.0.1", true],
  ["::ffff:7f00:1", true],
  ["10.0.0.1", false],
  ["0.0.0.0", false],
  ["::", false],
  ["localhost", false],
  ["127.0.0.1.evil.example", false],
  ["", false],
])("%j is loopback: %s", (address, loopback) => {
  expect(isLoopback(address)).toBe(loopback);
});

describe("a list of proxies", () => {
  const isIn = addressRanges(["10.0.0.0/8", "192.0.2.1", "2001:db8::/32", "::ffff:198.51.100.0/120"]);

  test.each([
    ["10.0.0.0", true],
    ["10.255.255.255", true],
    ["::ffff:10.1.2.3", true],
    ["::ffff:a01:203", true],
    ["11.0.0.0", false],
    ["192.0.2.1", true],
    ["192.0.2.2", false],
    ["2001:db8:ffff::1", true],
    ["2001:db9::1", false],
    ["198.51.100.255", true],
    ["198.51.101.0", false],
    ["", false],
    ["nonsense", false],
  ])("holds %j: %s", (address, held) => {
    expect(isIn(address)).toBe(held);
  });

  test("that is empty holds nobody, and /0 everybody of its family", () => {
    expect(addressRanges([])("10.0.0.1")).toBe(false);
    expect(addressRanges(["0.0.0.0/0"])("203.0.113.9")).toBe(true);
    expect(addressRanges(["0.0.0.0/0"])("2001:db8::1")).toBe(false);
  });
});
