import { expect, test } from "vitest";
import { isHostAllowed } from "./hosts.ts";

test.each([
  [[], [], "any.example", true],
  [["a.example"], [], "A.example.", true],
  [["a.example"], [], "b.example", false],
  [["*.a.example"], [], "x.a.example", true],
  [["*.a.example"], [], "a.example", false],
  [["*.a.example"], [], "evil-a.example", false],
  [["*.a.example"], ["x.a.example"], "x.a.example", false],
])("allowed %j and denied %j: %s is %s", (allowedHosts, deniedHosts, host, expected) => {
  expect(isHostAllowed(host, { allowedHosts, deniedHosts })).toBe(expected);
});
