import { expect, test } from "vitest";
import { isSamePackage } from "./install.ts";

type Kind = "npm" | "folder" | "archive";
const from = (kind: Kind, spec: string, version: string) => ({ version, source: { kind, spec } });

test.each([
  [from("npm", "svc-plugin-irc@1.0.0", "1.0.0"), from("npm", "svc-plugin-irc@2.0.0", "2.0.0")],
  [from("npm", "@me/irc@1.0.0", "1.0.0"), from("npm", "@me/irc@1.0.1", "1.0.1")],
  [from("folder", "/src/irc", "1.0.0"), from("folder", "/src/irc", "1.0.1")],
  [from("archive", "/tmp/irc-1.0.0.tgz", "1.0.0"), from("archive", "/tmp/irc-1.1.0.tgz", "1.1.0")],
])("%j and %j are the same package", (before, now) => {
  expect(isSamePackage(before, now)).toBe(true);
});

test.each([
  [from("npm", "svc-plugin-irc@1.0.0", "1.0.0"), from("npm", "svc-plugin-irc-pro@1.0.0", "1.0.0")],
  [from("npm", "@me/irc@1.0.0", "1.0.0"), from("npm", "@you/irc@1.0.0", "1.0.0")],
  [from("npm", "irc@1.0.0", "1.0.0"), from("folder", "irc@1.0.0", "1.0.0")],
  [from("folder", "/src/irc", "1.0.0"), from("folder", "/download/irc", "1.0.0")],
  [from("archive", "/tmp/irc-1.0.0.tgz", "1.0.0"), from("archive", "/tmp/other-1.1.0.tgz", "1.1.0")],
])("%j and %j are not", (before, now) => {
  expect(isSamePackage(before, now)).toBe(false);
});
