import { describe, expect, test } from "vitest";
import { channelConfig } from "../../test/fixtures/driven-account.ts";
import { CHANNEL_ID, inspectAccount, listAccounts, resolveAccount, secretValues } from "./accounts.ts";
import { normalizeTarget, parseAddress } from "./address.ts";
import { serversOf } from "./servers.ts";

const config = (section: object) => channelConfig(CHANNEL_ID, section);
const own = { jid: "Bot@Example.org", password: "pw-1" };
const resolve = (section: object, id = "default") => resolveAccount(config({ ...own, ...section }), id);

describe("an account", () => {
  test("has the values of the section, its own above them, and the rest by default", () => {
    const section = {
      tls: { caPath: "/ca.pem" },
      rooms: ["Kitchen@rooms.example.org", { jid: "hall@rooms.example.org", nick: "butler", password: "pw-2" }],
      accounts: { other: { jid: "other@example.net", password: "pw-3", tls: { direct: true }, rooms: [] } },
    };

    expect(listAccounts(config({ ...own, ...section }))).toEqual(["default", "other"]);
    expect(resolve(section)).toEqual({
      accountId: "default",
      enabled: true,
      jid: "bot@example.org",
      local: "bot",
      domain: "example.org",
      password: "pw-1",
      host: undefined,
      port: undefined,
      tls: { caPath: "/ca.pem" },
      resource: "svc",
      nick: "bot",
      rooms: [
        { jid: "kitchen@rooms.example.org", nick: "bot" },
        { jid: "hall@rooms.example.org", nick: "butler", password: "pw-2" },
      ],
    });
    expect(resolve(section, "other")).toMatchObject({
      jid: "other@example.net",
      nick: "other",
      tls: { caPath: "/ca.pem", direct: true },
      rooms: [],
    });
    expect(secretValues(resolve(section))).toEqual(["pw-1", "pw-2"]);
  });

  test("without an address or a password says what it lacks", () => {
    expect(inspectAccount(config({ enabled: false }), "default")).toEqual({
      enabled: false,
      configured: false,
      missing: ["jid", "password"],
    });
    expect(() => resolveAccount(config({ jid: "a@b" }), "default")).toThrow("expected password");
  });

  test.each([
    [{ jid: "example.org" }, "no address"],
    [{ jid: "bot@example.org/desk" }, "no address"],
    [{ rooms: ["kitchen"] }, 'room "kitchen"'],
    [{ rooms: ["kitchen@rooms.example.org/nick"] }, "no room"],
    [{ nick: "a\nb", rooms: ["kitchen@rooms.example.org"] }, "no room"],
    [{ resource: "a\u0000" }, "resource"],
    [{ port: 5222 }, "port without host"],
    [{ rooms: Array.from({ length: 101 }, (_, i) => `r${i}@rooms.example.org`) }, "at most 100 rooms"],
  ])("with %j is refused", (section, message) => {
    expect(() => resolve(section)).toThrow(message);
  });
});

test.each([
  ["ada@example.org", "ada@example.org"],
  [" xmpp:Ada@Example.ORG?join ", "ada@example.org"],
  ["Jürgen@exämple.org", "jürgen@exämple.org"],
  ["ada@[::1]", "ada@[::1]"],
  ["example.org", null],
  ["ada@example.org/desk", null],
  ["ada@", null],
  ["@example.org", null],
  ["ada@exa mple.org", null],
  ["a'da@example.org", null],
  ["ada@example.org\n<x/>", null],
  ["ada@b@example.org", null],
  [`${"a".repeat(1_100)}@example.org`, null],
])("%j as a target is %j", (raw, target) => {
  expect(normalizeTarget(raw)).toBe(target);
});

test("an address is taken apart at its first marks", () => {
  expect(parseAddress("Room@rooms.x/Nick@home/desk")).toEqual({ local: "room", domain: "rooms.x", resource: "Nick@home/desk" });
  expect(parseAddress("a@b/")).toBeUndefined();
});

describe("the servers of an account", () => {
  const record = (name: string, port: number, priority: number, weight = 0) => ({ name, port, priority, weight });
  const dns = (records: Record<string, ReturnType<typeof record>[]>) => async (name: string) => records[name] ?? [];

  test.each([
    ["the configured one", { host: "10.0.0.1" }, {}, [{ host: "10.0.0.1", port: 5222, direct: false }]],
    ["the configured one with TLS first", { host: "h", tls: { direct: true } }, {}, [{ host: "h", port: 5223, direct: true }]],
    ["the domain where the DNS names none", {}, {}, [{ host: "example.org", port: 5222, direct: false }]],
    [
      "those of the DNS, by priority and weight",
      {},
      {
        "_xmpp-client._tcp.example.org": [record("b", 5222, 10, 1), record("a", 5222, 10, 5)],
        "_xmpps-client._tcp.example.org": [record("s", 443, 5)],
      },
      [
        { host: "s", port: 443, direct: true },
        { host: "a", port: 5222, direct: false },
        { host: "b", port: 5222, direct: false },
      ],
    ],
    [
      "without TLS never one for it",
      { tls: { enabled: false } },
      { "_xmpps-client._tcp.example.org": [record("s", 443, 5)] },
      [{ host: "example.org", port: 5222, direct: false }],
    ],
  ])("are %s", async (_name, section, records, servers) => {
    expect(await serversOf(resolve(section), dns(records))).toEqual(servers);
  });

  test("are none where the DNS says so", async () => {
    await expect(serversOf(resolve({}), dns({ "_xmpp-client._tcp.example.org": [record("", 0, 0)] }))).rejects.toThrow("no server");
  });
});
