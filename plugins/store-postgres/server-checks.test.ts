import { expect, test } from "vitest";
import { toEndpoint } from "./endpoint.ts";
import { faultText, storageFault } from "./faults.ts";
import { findings } from "./health.ts";
import { clockWarning, type ServerFacts, unsuitability } from "./server-checks.ts";
import { readSettings } from "./settings.ts";

const facts: ServerFacts = {
  version: "15.18",
  versionNumber: 150_018,
  fsync: "on",
  synchronousCommit: "on",
  fullPageWrites: "on",
  encoding: "UTF8",
  maxConnections: 100,
  isStandby: false,
  clockOffsetMs: 3,
};

test("a server that could lose what was acknowledged, or is too old, or has another encoding or time, is refused with the setting to change", () => {
  expect(unsuitability(facts)).toBeUndefined();
  const table: Array<[Partial<ServerFacts>, string]> = [
    [{ fsync: "off" }, "set fsync = on"],
    [{ fullPageWrites: "off" }, "set full_page_writes = on"],
    [{ synchronousCommit: "off" }, "set synchronous_commit = on"],
    [{ versionNumber: 140_009, version: "14.9" }, "PostgreSQL 14.9; expected 15 or newer"],
    [{ encoding: "SQL_ASCII" }, "SQL_ASCII; expected UTF8"],
    [{ clockOffsetMs: -3_600_000 }, "-3600000 ms"],
  ];
  for (const [change, text] of table) expect(unsuitability({ ...facts, ...change })).toContain(text);
  for (const synchronousCommit of ["local", "remote_write", "remote_apply"])
    expect(unsuitability({ ...facts, synchronousCommit })).toBeUndefined();
});

test("clocks that differ by more than a second are worth a warning", () => {
  expect(clockWarning({ clockOffsetMs: 1_000 })).toBeUndefined();
  expect(clockWarning({ clockOffsetMs: 1_001 })).toContain("1001 ms");
});

test("the doctor finds what the start would refuse, a deaf listener, and too few connections", () => {
  expect(findings(facts, { isListening: true, schema: "svc" })).toEqual([]);
  const found = findings({ ...facts, fsync: "off", maxConnections: 9, clockOffsetMs: 2_000 }, { isListening: false, schema: "svc" });
  expect(found.map(({ id }) => id)).toEqual(["store/unsuitable", "store/clock", "store/listen", "store/connections"]);
});

test("a fault is named by the state of the database, and everything without an answer counts as unreachable", () => {
  const table: Array<[string, string | undefined]> = [
    ["53100", "full"],
    ["25006", "readonly"],
    ["58030", "io"],
    ["57P01", "unreachable"],
    ["57P03", "unreachable"],
    ["08006", "unreachable"],
    ["ECONNREFUSED", "unreachable"],
    ["CONNECTION_CLOSED", "unreachable"],
    ["NO_ANSWER", "unreachable"],
    ["28P01", "unreachable"],
    ["40P01", undefined],
    ["23505", undefined],
    ["42883", undefined],
  ];
  for (const [code, reason] of table) expect(storageFault(Object.assign(new Error("x"), { code })), code).toBe(reason);
});

test("neither the place of the database nor a fault of its link shows a secret", () => {
  expect(toEndpoint("postgres://svc:hidden@db.example:5433/state?sslmode=require&password=hidden", "svc")).toBe(
    "postgres://db.example:5433/state#svc",
  );
  expect(toEndpoint("postgres://svc:hidden@one:1,two:2/state?target_session_attrs=primary", "svc")).toBe(
    "postgres://one:1,two:2/state#svc",
  );
  const error = Object.assign(new Error("connect to postgres://svc:hidden@db"), { code: "ECONNREFUSED" });
  expect(faultText(error)).toBe("ECONNREFUSED");
});

test("an address that is missing or malformed is refused without being repeated", () => {
  const store = { postgres: { schema: "svc", pool: 4, tls: "off" }, lease: { ttlMs: 10_000 } };
  const settingsOf = (url: string | undefined, env: Record<string, string> = {}) =>
    readSettings({ snapshot: () => ({ store }) as never, secret: () => url, env });
  expect(() => settingsOf(undefined)).toThrow("set store.postgres.url or SVC_POSTGRES_URL");
  expect(() => settingsOf("mysql://svc:hidden@db")).toThrow(/^(?!.*hidden).*postgres:\/\//);
  expect(settingsOf(undefined, { SVC_POSTGRES_URL: "postgresql://db/x" })).toMatchObject({ url: "postgresql://db/x", schema: "svc" });
});
