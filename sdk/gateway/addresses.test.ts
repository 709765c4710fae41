import { describe, expect, test } from "vitest";
import { addressBucket, addressRanges, isLoopback, plainAddress } from "./addresses.ts";

test.each([
  ["::ffff:1.2.3.4", "1.2.3.4"],
  ["::ffff:7f00:1", "127.0.0.1"],
  ["0:0:0:0:0:ffff:7f00:1", "127.0.0.1"],
  ["fe80::1%eth0", "fe80::1"],
  ["2001:DB8:0:0::1", "2001:db8::1"],
  ["10.0.0.1", "10.0.0.1"],
  ["10.0.0.01", undefined],
  ["0x7f.1", undefined],
  ["2130706433", undefined],
  ["[::1]", undefined],
  ["10.0.0.1:80", undefined],
  [" 10.0.0.1", undefined],
  ["nonsense", undefined],
  ["", undefined],
  [undefined, undefined],
])("address %j is %j in its plain form", (given, plain) => {
  expect(plainAddress(given)).toBe(plain);
});

describe("callers are counted", () => {
  test("by their IPv4 address, however it is written", () => {
    expect(addressBucket("192.0.2.1")).not.toBe(addressBucket("192.0.2.2"));
    expect(addressBucket("::ffff:192.0.2.1")).toBe(addressBucket("192.0.2.1"));
    expect(addressBucket("::ffff:c000:201")).toBe(addressBucket("192.0.2.1"));
  });

  test.each([
    ["2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", true],
    ["2001:db8:1:2::1", "2001:DB8:1:2:0:0:0:9", true],
    ["2001:db8:1:2::1", "2001:db8:1:3::1", false],
    ["2001:db8::1", "2001:db8:0:0:1::1", true],
    ["2001:db8::1", "2001:db8:0:1::1", false],
    ["fe80::1%eth0", "fe80::2%eth1", true],
    ["::2", "0:0:0:0:9::", true],
  ])("by their IPv6 /64, because they own all of it: %s and %s are one: %s", (a, b, same) => {
    expect(addressBucket(a) === addressBucket(b)).toBe(same);
  });

  test("as themselves on loopback and when the address is unknown", () => {
    expect(addressBucket("::1")).toBe("::1");
    expect(addressBucket("")).toBe("");
  });
});

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
