import { describe, expect, test } from "vitest";
import { effectiveOrigins, hostNames, isKnownHost, isOriginAllowed, type OriginQuestion } from "./origins.ts";

const local: Omit<OriginQuestion, "origin"> = {
  host: "127.0.0.1:18789",
  address: "127.0.0.1",
  allowed: [],
  scheme: "http",
  isOwn: (address) => ["10.0.0.5", "2001:db8::5", "127.0.0.1"].includes(address),
  hostFallback: false,
  anyLoopback: false,
};
const allows = (change: Partial<OriginQuestion> & { origin: string }) => isOriginAllowed({ ...local, ...change });

describe("the gateway's own page may connect", () => {
  test.each([
    ["by loopback address", "http://127.0.0.1:18789", "127.0.0.1:18789"],
    ["by name", "http://localhost:18789", "localhost:18789"],
    ["by IPv6 loopback", "http://[::1]:18789", "[::1]:18789"],
    ["in other letters", "HTTP://LocalHost:18789", "LOCALHOST:18789"],
    ["on the default port", "http://127.0.0.1", "127.0.0.1"],
    ["on the default port that Host spells out", "http://127.0.0.1", "127.0.0.1:80"],
  ])("%s", (_, origin, host) => {
    expect(allows({ origin, host })).toBe(true);
  });

  test.each([
    ["10.0.0.5", true],
    ["[2001:db8::5]", true],
    ["198.51.100.1", false],
  ])("by an address of this host, also from another machine, but not by one of another host: %s %s", (ip, allowed) => {
    expect(allows({ origin: `http://${ip}:18789`, host: `${ip}:18789`, address: "192.0.2.7" })).toBe(allowed);
  });

  test("over TLS only by https", () => {
    expect(allows({ origin: "https://127.0.0.1:18789", scheme: "https" })).toBe(true);
    expect(allows({ origin: "http://127.0.0.1:18789", scheme: "https" })).toBe(false);
  });
});

describe("a page is refused when its origin", () => {
  test.each([
    ["is another site", "http://evil.example"],
    ["begins like the loopback address", "http://127.0.0.1.evil.example:18789"],
    ["begins like localhost", "http://localhost.evil.example:18789"],
    ["has the port in its name", "http://h:18789.evil.example"],
    ["is the port of another one", "http://h:18789.evil"],
    ["is another port of this machine", "http://127.0.0.1:8080"],
    ["is another loopback name for the same place", "http://localhost:18789"],
    ["has another scheme", "https://127.0.0.1:18789"],
    ["is a file", "file://127.0.0.1:18789"],
    ["is a file without a host", "file://"],
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
    expect(allows({ origin })).toBe(false);
  });

  test("and the Host are one rebound name", () => {
    expect(allows({ origin: "http://evil.example:18789", host: "evil.example:18789" })).toBe(false);
  });

  test("is loopback, but the caller is not on this machine", () => {
    expect(allows({ origin: "http://127.0.0.1:18789", address: "192.0.2.7" })).toBe(false);
  });

  test("is an address that is not ours", () => {
    expect(allows({ origin: "http://192.0.2.1:18789", host: "192.0.2.1:18789" })).toBe(false);
  });

  test.each([undefined, "", "x@127.0.0.1:18789", "127.0.0.1:18789/", "127.0.0.1:18789 "])("stands beside the Host %j", (host) => {
    expect(allows({ origin: "http://127.0.0.1:18789", host })).toBe(false);
  });
});

describe("a listed origin", () => {
  const allowed = ["https://ui.example", "https://slash.example/", "http://Mixed.Example:8080", "not a url", "null"];

  test.each(["https://ui.example", "https://slash.example", "http://mixed.example:8080", "HTTPS://UI.example"])(
    "%s may connect",
    (origin) => {
      expect(allows({ origin, allowed })).toBe(true);
    },
  );

  test.each([
    "http://ui.example",
    "https://ui.example:444",
    "https://ui.example.evil.example",
    "https://sub.ui.example",
    "null",
    "https://any.example",
  ])("does not let %s in", (origin) => {
    expect(allows({ origin, allowed })).toBe(false);
  });

  test("of * is every page that has an origin", () => {
    expect(["https://any.example", "null", "https://any.example/x"].map((origin) => allows({ origin, allowed: ["*"] }))).toEqual([
      true,
      false,
      false,
    ]);
  });
});

test("where the Host is believed, its name passes under either scheme, and no other", () => {
  const rebound = { host: "ui.example:8443", hostFallback: true };
  expect(allows({ origin: "https://ui.example:8443", ...rebound })).toBe(true);
  expect(allows({ origin: "http://ui.example:8443", ...rebound })).toBe(true);
  expect(allows({ origin: "https://evil.example:8443", ...rebound })).toBe(false);
  expect(allows({ origin: "ftp://ui.example:8443", ...rebound })).toBe(false);
});

test("plain HTTP takes the pages of local servers from local callers, and never a look-alike", () => {
  const http = { anyLoopback: true };
  expect(allows({ origin: "http://localhost:5173", ...http })).toBe(true);
  expect(allows({ origin: "https://[::1]:5173", ...http })).toBe(true);
  expect(allows({ origin: "http://localhost:5173", address: "192.0.2.7", ...http })).toBe(false);
  expect(allows({ origin: "http://localhost.evil.example:5173", ...http })).toBe(false);
});

test.each([
  ["127.0.0.1:18789", true],
  ["localhost", true],
  ["LOCALHOST:1", true],
  ["[::1]:18789", true],
  ["192.0.2.1", true],
  ["UI.example:443", true],
  ["ui.example", true],
  ["sub.ui.example", false],
  ["ui.example.evil.example", false],
  ["evil.example", false],
  ["localhost.evil.example", false],
  ["127.0.0.1.evil.example:18789", false],
  ["evil.example@127.0.0.1", false],
  ["127.0.0.1/evil.example", false],
  ["", false],
  [undefined, false],
])("Host %j is one no foreign DNS name can stand behind: %s", (host, known) => {
  expect(isKnownHost(host, hostNames(["https://UI.example", "not a url", undefined]))).toBe(known);
});

test("a gateway that listens beyond loopback lists its own local pages, with the port that is in use", () => {
  const beyond = { loopbackOnly: false, port: 4711, scheme: "http" } as const;
  const own = ["http://localhost:4711", "http://127.0.0.1:4711"];
  expect(effectiveOrigins(undefined, beyond)).toEqual(own);
  expect(effectiveOrigins(undefined, { ...beyond, scheme: "https" })).toEqual(["https://localhost:4711", "https://127.0.0.1:4711"]);
  expect(effectiveOrigins(undefined, { ...beyond, loopbackOnly: true })).toEqual([]);
  expect(effectiveOrigins([], beyond)).toEqual([]);
  expect(effectiveOrigins(["https://ui.example"], beyond)).toEqual(["https://ui.example"]);
  const written = ["http://localhost:18789", "http://127.0.0.1:18789"];
  expect(effectiveOrigins(written, beyond)).toEqual([...written, ...own]);
  expect(effectiveOrigins([...written, "https://ui.example"], beyond)).toHaveLength(3);
});
