import { describe, expect, test } from "vitest";
import { addressRanges } from "./address-ranges.ts";
import { hasForwardingHeader, isDirectLoopback, readCaller } from "./client-address.ts";
import type { RequestHead } from "./client-types.ts";

const request = (remoteAddress: string, headers: Record<string, string> = {}): RequestHead => ({
  headers,
  rawHeaders: Object.entries(headers).flat(),
  socket: { remoteAddress },
});
const rules = (trusted: string[] = [], allowRealIp = false) => ({ isTrusted: addressRanges(trusted), allowRealIp });

test.each([
  ["forwarded", true],
  ["x-forwarded-for", true],
  ["x-forwarded-host", true],
  ["x-forwarded-anything", true],
  ["x-real-ip", true],
  ["cf-connecting-ip", true],
  ["true-client-ip", true],
  ["x-request-id", false],
  ["via", false],
])("%s speaks for somebody else: %s", (name, forwards) => {
  expect(hasForwardingHeader({ [name]: "1.2.3.4" })).toBe(forwards);
});

describe("without a listed proxy", () => {
  test("the peer is the caller, and only a loopback peer without forwarding headers is direct", () => {
    expect(readCaller(request("::ffff:127.0.0.1"), rules())).toEqual({ address: "127.0.0.1", directLoopback: true, unattributed: false });
    expect(readCaller(request("192.0.2.1"), rules())).toEqual({ address: "192.0.2.1", directLoopback: false, unattributed: false });
    expect(isDirectLoopback(request("::1"))).toBe(true);
    expect(isDirectLoopback(request("::1", { forwarded: "" }))).toBe(false);
    expect(isDirectLoopback(request("192.0.2.1"))).toBe(false);
  });

  test.each(["forwarded", "x-forwarded-for", "x-forwarded-proto", "x-real-ip"])("%s makes a request nobody answers for", (name) => {
    const caller = readCaller(request("127.0.0.1", { [name]: "198.51.100.7" }), rules(["10.0.0.2"], true));
    expect(caller).toEqual({ address: "127.0.0.1", directLoopback: false, unattributed: true });
  });
});

describe("behind a listed proxy", () => {
  const proxies = ["10.0.0.0/24", "127.0.0.1"];
  const addressBehind = (headers: Record<string, string>, allowRealIp = false) =>
    readCaller(request("10.0.0.2", headers), rules(proxies, allowRealIp));

  test.each<[string, Record<string, string>, string]>([
    ["one hop", { "x-forwarded-for": "198.51.100.7" }, "198.51.100.7"],
    ["what the client forged stands left of it", { "x-forwarded-for": "1.1.1.1, 127.0.0.1, 198.51.100.7" }, "198.51.100.7"],
    ["listed proxies on the right are skipped", { "x-forwarded-for": "198.51.100.7, 10.0.0.9, 10.0.0.8" }, "198.51.100.7"],
    ["a mapped address is its IPv4 address", { "x-forwarded-for": "::ffff:198.51.100.7" }, "198.51.100.7"],
    ["a listed proxy in its mapped form is skipped", { "x-forwarded-for": "198.51.100.7, ::ffff:10.0.0.9" }, "198.51.100.7"],
    ["a port is cut off", { "x-forwarded-for": "198.51.100.7:4711" }, "198.51.100.7"],
    ["an IPv6 address in brackets with a port", { "x-forwarded-for": "[2001:DB8::1]:4711" }, "2001:db8::1"],
    ["RFC 7239", { forwarded: 'for=1.1.1.1, For="[2001:db8::7]:80";proto=https;by=10.0.0.2' }, "2001:db8::7"],
    ["RFC 7239 with a comma in quotes", { forwarded: 'for=198.51.100.7;host="a,for=1.1.1.1"' }, "198.51.100.7"],
    ["both forms that agree", { "x-forwarded-for": "198.51.100.7", forwarded: "for=198.51.100.7" }, "198.51.100.7"],
    ["both forms that do not agree are not believed", { "x-forwarded-for": "198.51.100.7", forwarded: "for=1.1.1.1" }, "10.0.0.2"],
    ["a hop nobody can read ends the walk", { "x-forwarded-for": "198.51.100.7, unknown, 10.0.0.9" }, "10.0.0.9"],
    ["a hidden hop ends the walk", { forwarded: "for=198.51.100.7, for=_hidden" }, "10.0.0.2"],
    ["an element that names nobody ends the walk", { forwarded: "for=198.51.100.7, proto=https" }, "10.0.0.2"],
    ["what stands in the quotes of another field is no client", { forwarded: 'by="x;for=1.1.1.1";for=198.51.100.7' }, "198.51.100.7"],
    ["a quote that is never closed ends the walk", { forwarded: 'for="1.1.1.1, for=198.51.100.7' }, "10.0.0.2"],
    ["an address written in an odd way ends the walk", { "x-forwarded-for": "0x7f.1" }, "10.0.0.2"],
    ["nothing but listed hops", { "x-forwarded-for": "10.0.0.8, 10.0.0.9" }, "10.0.0.8"],
    ["headers that name no client", { "x-forwarded-proto": "https" }, "10.0.0.2"],
    ["a real-ip header counts for nothing by default", { "x-real-ip": "198.51.100.7" }, "10.0.0.2"],
  ])("%s", (_, headers, address) => {
    expect(addressBehind(headers)).toEqual({ address, directLoopback: false, unattributed: false });
  });

  test.each<[string, Record<string, string>, string]>([
    ["is taken where that is allowed", { "x-real-ip": "198.51.100.7" }, "198.51.100.7"],
    ["stands back behind x-forwarded-for", { "x-real-ip": "1.1.1.1", "x-forwarded-for": "198.51.100.7" }, "198.51.100.7"],
    ["that is no address is ignored", { "x-real-ip": "a, b" }, "10.0.0.2"],
  ])("x-real-ip %s", (_, headers, address) => {
    expect(addressBehind(headers, true).address).toBe(address);
  });

  test("quotes that are opened again and again cost no more than their length", () => {
    expect(addressBehind({ forwarded: `"${'\\"'.repeat(300_000)}` }).address).toBe("10.0.0.2");
  });

  test("nobody is local, not even one that the proxy calls so", () => {
    expect(addressBehind({ "x-forwarded-for": "127.0.0.1" })).toMatchObject({ directLoopback: false });
    expect(readCaller(request("127.0.0.1", { "x-forwarded-for": "127.0.0.1" }), rules(proxies))).toMatchObject({ directLoopback: false });
  });
});
