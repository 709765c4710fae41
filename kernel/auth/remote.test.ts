import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { addressBucket, hasForwardingHeader, isLoopback, normalizeAddress, remoteOf } from "./remote.ts";

test.each([
  ["::ffff:1.2.3.4", "1.2.3.4"],
  ["::ffff:7f00:1", "127.0.0.1"],
  ["fe80::1%eth0", "fe80::1"],
  ["2001:DB8:0:0::1", "2001:db8::1"],
  ["10.0.0.1", "10.0.0.1"],
  [undefined, ""],
  ["nonsense", "nonsense"],
])("address %j is %j in its plain form", (given, plain) => {
  expect(normalizeAddress(given)).toBe(plain);
});

describe("callers are counted", () => {
  test("by their IPv4 address", () => {
    expect(addressBucket("192.0.2.1")).not.toBe(addressBucket("192.0.2.2"));
  });

  test("by their IPv6 /64, because they own all of it", () => {
    expect(addressBucket("2001:db8:1:2::1")).toBe(addressBucket("2001:db8:1:2:ffff:ffff:ffff:ffff"));
    expect(addressBucket("2001:db8:1:2::1")).not.toBe(addressBucket("2001:db8:1:3::1"));
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
  ["10.0.0.1", false],
  ["0.0.0.0", false],
  ["localhost", false],
  ["", false],
])("%j is loopback: %s", (address, loopback) => {
  expect(isLoopback(address)).toBe(loopback);
});

test.each([
  ["forwarded", true],
  ["x-forwarded-for", true],
  ["x-forwarded-host", true],
  ["x-forwarded-anything", true],
  ["x-real-ip", true],
  ["x-request-id", false],
])("%s speaks for somebody else: %s", (name, forwards) => {
  expect(hasForwardingHeader({ [name]: "1.2.3.4" })).toBe(forwards);
});

test("only a loopback peer without forwarding headers is direct", () => {
  const from = (remoteAddress: string, headers: Record<string, string> = {}) =>
    remoteOf({ socket: { remoteAddress }, headers } as unknown as IncomingMessage);
  expect(from("::ffff:127.0.0.1")).toEqual({ address: "127.0.0.1", directLoopback: true });
  expect(from("127.0.0.1", { "x-forwarded-for": "127.0.0.1" })).toEqual({ address: "127.0.0.1", directLoopback: false });
  expect(from("192.0.2.1")).toEqual({ address: "192.0.2.1", directLoopback: false });
});
