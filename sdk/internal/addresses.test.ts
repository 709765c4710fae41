import { describe, expect, test } from "vitest";
import { addressBucket, plainAddress } from "./addresses.ts";

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
