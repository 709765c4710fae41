import { expect, test } from "vitest";
import { webConfig } from "./config.ts";
import { hostFilter } from "./hosts.ts";

test.each([
  [[], [], "any.example", true],
  [["a.example"], [], "A.example.", true],
  [["a.example"], [], "b.example", false],
  [["*.a.example"], [], "x.a.example", true],
  [["*.a.example"], ["x.a.example."], "x.a.example", false],
  [[], ["b\u00fccher.example"], "xn--bcher-kva.example", false],
])("allowed %j and denied %j: %s is %s", (allowedHosts, deniedHosts, host, expected) => {
  expect(hostFilter({ allowedHosts, deniedHosts })(host)).toBe(expected);
});

test.each(["https://a.example", "a.example:443", "a.example/x", "*", "a b"])("%j is refused in a list: it would name no host", (host) => {
  expect(() => webConfig.parse({ fetch: { deniedHosts: [host] } })).toThrow("expected a host such as example.org or *.example.org");
});
