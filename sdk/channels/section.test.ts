import { expect, test } from "vitest";
import type { SvcConfig } from "../config/root.ts";
import { accountIds, accountKeys } from "./section.ts";

const config = (section: unknown) => ({ channels: { x: section } }) as unknown as SvcConfig;

test.each([
  ["no section", undefined, []],
  ["an empty section", {}, []],
  ["a section that is no object", "on", []],
  ["an account in the section", { host: "h", nick: "n" }, ["default"]],
  ["an incomplete account", { host: "h" }, ["default"]],
  ["named accounts that inherit a host", { host: "h", accounts: { a: {}, b: {} } }, ["a", "b"]],
  ["both", { host: "h", nick: "n", accounts: { a: {} } }, ["default", "a"]],
  ["only the choice of a default", { defaultAccount: "a", accounts: { a: {} } }, ["a"]],
  ["accounts that are no object", { host: "h", nick: "n", accounts: [] as unknown }, ["default"]],
])("%s: its accounts", (_, section, ids) => {
  expect(accountIds(config(section), "x", ["host", "nick"])).toEqual(ids);
});

test("an account inherits what it does not have, nested keys one by one, and nothing of its siblings", () => {
  const section = config({
    host: "h",
    tls: { enabled: true, caPath: "/ca" },
    list: [1],
    accounts: { a: { host: "own", tls: { caPath: "/own" }, list: [2] }, b: { secret: "s" } },
  });
  expect(accountKeys(section, "x", "a", ["tls"])).toEqual({ host: "own", tls: { enabled: true, caPath: "/own" }, list: [2] });
  expect(accountKeys(section, "x", "a")).toMatchObject({ tls: { caPath: "/own" } });
  expect(accountKeys(section, "x", "default", ["tls"])).toEqual({ host: "h", tls: { enabled: true, caPath: "/ca" }, list: [1] });
  expect(accountKeys(section, "x", "constructor")).toEqual({ host: "h", tls: { enabled: true, caPath: "/ca" }, list: [1] });
});
