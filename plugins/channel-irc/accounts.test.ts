import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type JsonSchema, toSchema } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { channelConfig } from "../../test/fixtures/driven-account.ts";
import { inspectAccount, listAccounts, resolveAccount, secretValues } from "./accounts.ts";

const config = (section: object) => channelConfig("irc", section);
const base = { host: "irc.example.net", nick: "svc" };

describe("accounts", () => {
  test.each([
    [base, ["default"]],
    [{ host: "irc.example.net" }, ["default"]],
    [{ ...base, accounts: { work: { nick: "svc-work" } } }, ["default", "work"]],
    [{ host: "irc.example.net", accounts: { a: { nick: "a" }, b: { nick: "b" } } }, ["a", "b"]],
    [{}, []],
  ])("of %j are %j", (section, ids) => {
    expect(listAccounts(config(section))).toEqual(ids);
  });

  test("have the defaults of a public network: TLS, its port, and a flood limit", () => {
    expect(resolveAccount(config(base), "default")).toEqual({
      accountId: "default",
      enabled: true,
      host: "irc.example.net",
      port: 6697,
      tls: {},
      nick: "svc",
      nickAlternatives: [],
      username: "svc",
      realname: "svc",
      rooms: [],
      burstLines: 5,
      lineIntervalMs: 2_000,
    });
    expect(resolveAccount(config({ ...base, tls: { enabled: false } }), "default")).toMatchObject({ port: 6667, tls: undefined });
  });

  test("inherit from the section key by key, those of tls and sasl included", () => {
    const section = {
      ...base,
      tls: { caPath: "/a.pem" },
      sasl: { user: "shared", password: "pw-1" },
      rooms: ["#a"],
      accounts: {
        work: { nick: "worker", tls: { serverName: "x.example" }, sasl: { user: "own" }, rooms: ["#b", { name: "#c", key: "k" }] },
      },
    };
    const account = resolveAccount(config(section), "work");
    expect(account).toMatchObject({
      host: "irc.example.net",
      nick: "worker",
      tls: { caPath: "/a.pem", serverName: "x.example" },
      sasl: { mechanism: "PLAIN", user: "own", password: "pw-1" },
      rooms: [{ name: "#b" }, { name: "#c", key: "k" }],
    });
    expect(secretValues(account)).toEqual(["pw-1", "k"]);
  });

  test("are shown with what they lack, and without secrets", () => {
    expect(inspectAccount(config({ nick: "svc", password: "pw-1" }), "default")).toEqual({
      enabled: true,
      configured: false,
      missing: ["host"],
    });
    expect(inspectAccount(config({ ...base, enabled: false }), "default")).toEqual({ enabled: false, configured: true, missing: [] });
  });

  test.each([
    [{ nick: "svc" }, "expected host"],
    [{ ...base, nick: "two words" }, '"two words" cannot be a nick'],
    [{ ...base, nickAlternatives: ["ok", "#no"] }, '"#no" cannot be a nick'],
    [{ ...base, rooms: ["kitchen"] }, '"kitchen" cannot be joined'],
    [{ ...base, rooms: ["#a,#b"] }, '"#a,#b" cannot be joined'],
    [{ ...base, rooms: [{ name: "#a", key: "k,l" }] }, '"#a" cannot be joined'],
    [{ ...base, sasl: { user: "svc" } }, "expected sasl.password"],
    [{ ...base, sasl: { mechanism: "EXTERNAL" } }, "needs tls.certPath"],
  ])("with %j are refused: %s", (section, reason) => {
    expect(() => resolveAccount(config(section), "default")).toThrow(reason);
  });
});

describe("the schema", () => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "svc.plugin.json"), "utf8")) as {
    channelConfigs: { irc: JsonSchema };
    secrets: Array<{ path: string }>;
  };
  const accepts = async (section: object) => !(await toSchema(manifest.channelConfigs.irc)["~standard"].validate(section)).issues;

  test("takes what an account is made of", async () => {
    const section = {
      ...base,
      port: 6697,
      tls: { enabled: true, caPath: "~/ca.pem", fingerprints: [`${"ab:".repeat(31)}AB`] },
      password: "pw",
      sasl: { mechanism: "PLAIN", user: "svc", password: "pw" },
      rooms: ["#a", { name: "#b", key: "k" }],
    };
    expect(await accepts(section)).toBe(true);
  });

  test.each([
    { ...base, tsl: {} },
    { ...base, port: 0 },
    { ...base, tls: { ca: "x" } },
    { ...base, tls: { caPath: "relative.pem" } },
    { ...base, tls: { fingerprints: ["ab:cd"] } },
    { ...base, sasl: { mechanism: "SCRAM" } },
    { ...base, username: "a b" },
    { ...base, rooms: [{ key: "k" }] },
    { ...base, lineIntervalMs: -1 },
  ])("refuses %j", async (section) => {
    expect(await accepts(section)).toBe(false);
  });

  test("names every secret, of the section and of its accounts", () => {
    const own = ["password", "sasl.password", "rooms.*.key"];
    expect(manifest.secrets.map(({ path }) => path)).toEqual(
      ["channels.irc", "channels.irc.accounts.*"].flatMap((place) => own.map((key) => `${place}.${key}`)),
    );
  });
});

test("a flood limit that has no time for a message of two lines is refused", () => {
  const resolve = (pace: object) => resolveAccount(config({ host: "irc.example", nick: "bot", ...pace }), "default");
  const words = "burstLines and lineIntervalMs leave no time for a message of two lines";
  expect(() => resolve({ burstLines: 1, lineIntervalMs: 18_001 })).toThrow(words);
  expect(() => resolve({ burstLines: 2, lineIntervalMs: 36_001 })).toThrow(words);
  expect(resolve({ burstLines: 1, lineIntervalMs: 18_000 }).burstLines).toBe(1);
  expect(resolve({ burstLines: 3, lineIntervalMs: 60_000 }).burstLines).toBe(3);
});
