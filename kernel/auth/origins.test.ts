import { networkInterfaces } from "node:os";
import { describe, expect, test } from "vitest";
import { isKnownHost, isOriginAllowed } from "./origins.ts";

const local = { host: "127.0.0.1:18789", address: "127.0.0.1", allowed: [] as string[] };
const foreign = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .find((a) => !a.internal && a.family === "IPv4")?.address;

describe("the gateway's own page may connect", () => {
  test.each([
    ["by loopback address", "http://127.0.0.1:18789", "127.0.0.1:18789"],
    ["by name", "http://localhost:18789", "localhost:18789"],
    ["by IPv6 loopback", "http://[::1]:18789", "[::1]:18789"],
    ["in other letters", "HTTP://LocalHost:18789", "LOCALHOST:18789"],
    ["on the default port", "http://127.0.0.1", "127.0.0.1"],
  ])("%s", (_, origin, host) => {
    expect(isOriginAllowed({ ...local, origin, host })).toBe(true);
  });

  test("by an address of this host, also from another machine, but not by one of another host", () => {
    const allows = (ip: string) =>
      isOriginAllowed({ origin: `http://${ip}:18789`, host: `${ip}:18789`, address: "192.0.2.7", allowed: [] });
    expect(allows(foreign ?? "198.51.100.1")).toBe(foreign !== undefined);
    expect(allows("198.51.100.1")).toBe(false);
  });
});

describe("a page is refused when its origin", () => {
  test.each([
    ["is another site", "http://evil.example"],
    ["begins like the loopback address", "http://127.0.0.1.evil.example:18789"],
    ["begins like localhost", "http://localhost.evil.example:18789"],
    ["has the port in its name", "http://h:18789.evil.example"],
    ["is another port of this machine", "http://127.0.0.1:8080"],
    ["is another loopback name for the same place", "http://localhost:18789"],
    ["has another scheme", "https://127.0.0.1:18789"],
    ["is a file", "file://127.0.0.1:18789"],
    ["is an extension", "chrome-extension://127.0.0.1:18789"],
    ["carries a user", "http://user@127.0.0.1:18789"],
    ["hides a host behind a user", "http://127.0.0.1:18789@evil.example"],
    ["carries a path", "http://127.0.0.1:18789/x"],
    ["ends with a slash", "http://127.0.0.1:18789/"],
    ["is written in another form of the address", "http://127.1:18789"],
    ["is written as a number", "http://2130706433:18789"],
    ["ends with a dot", "http://127.0.0.1.:18789"],
    ["has spaces around it", " http://127.0.0.1:18789"],
    ["is null", "null"],
    ["is empty", ""],
    ["is not a URL", "127.0.0.1:18789"],
  ])("%s: %j", (_, origin) => {
    expect(isOriginAllowed({ ...local, origin })).toBe(false);
  });

  test("and the Host are one rebound name", () => {
    expect(isOriginAllowed({ ...local, origin: "http://evil.example:18789", host: "evil.example:18789" })).toBe(false);
  });

  test("is loopback, but the caller is not on this machine", () => {
    expect(isOriginAllowed({ ...local, origin: "http://127.0.0.1:18789", address: "192.0.2.7" })).toBe(false);
  });

  test("is an address that is not ours", () => {
    expect(isOriginAllowed({ ...local, origin: "http://192.0.2.1:18789", host: "192.0.2.1:18789" })).toBe(false);
  });

  test("stands beside no Host at all", () => {
    expect(isOriginAllowed({ ...local, origin: "http://127.0.0.1:18789", host: undefined })).toBe(false);
  });
});

describe("a listed origin", () => {
  const allowed = ["https://ui.example", "https://slash.example/", "http://Mixed.Example:8080", "not a url", "null", "*"];

  test.each(["https://ui.example", "https://slash.example", "http://mixed.example:8080"])("%s may connect", (origin) => {
    expect(isOriginAllowed({ ...local, origin, allowed })).toBe(true);
  });

  test.each([
    "http://ui.example",
    "https://ui.example:444",
    "https://ui.example.evil.example",
    "https://sub.ui.example",
    "null",
    "https://any.example",
  ])("does not let %s in", (origin) => {
    expect(isOriginAllowed({ ...local, origin, allowed })).toBe(false);
  });
});

test.each([
  ["127.0.0.1:18789", true],
  ["localhost", true],
  ["LOCALHOST:1", true],
  ["[::1]:18789", true],
  ["192.0.2.1", true],
  ["evil.example", false],
  ["localhost.evil.example", false],
  ["127.0.0.1.evil.example:18789", false],
  ["", false],
  [undefined, false],
])("Host %j is one no DNS name can stand behind: %s", (host, known) => {
  expect(isKnownHost(host)).toBe(known);
});
