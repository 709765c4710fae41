import { expect, test } from "vitest";
import { hostList, toHostPattern } from "./host-list.ts";

test.each([
  ["Example.ORG", "example.org"],
  [" example.org. ", "example.org"],
  ["b\u00fccher.example", "xn--bcher-kva.example"],
  ["*.B\u00dcCHER.example.", "*.xn--bcher-kva.example"],
  ["\u24d4xample.org", "example.org"],
  ["0177.1", "127.0.0.1"],
  ["::1", "[::1]"],
  ["[0:0:0:0:0:0:0:1]", "[::1]"],
])("%j names the host %s", (text, pattern) => {
  expect(toHostPattern(text)).toBe(pattern);
});

test.each(["", "*", "*.", "a.*.b", "a b", "h:80", "[::1]:80", "https://h", "h/p", "u@h", "h?x", "h#x", "."])("%j names no host", (text) => {
  expect(toHostPattern(text)).toBeUndefined();
});

test.each([
  [["a.example."], "a.example", true],
  [["a.example"], "A.example.", true],
  [["a.example"], "b.example", false],
  [["*.a.example"], "x.a.example", true],
  [["*.a.example"], "a.example", false],
  [["*.a.example"], ".a.example", false],
  [["*.a.example"], "evil-a.example", false],
  [["b\u00fccher.example"], "xn--bcher-kva.example", true],
  [["*.\u4f8b\u3048.jp"], "www.xn--r8jz45g.jp", true],
  [["http://a.example"], "a.example", false],
])("the list %j has %s: %s", (entries, host, expected) => {
  expect(hostList(entries)(host)).toBe(expected);
});
