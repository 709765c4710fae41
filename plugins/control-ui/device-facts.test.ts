import { expect, test } from "vitest";

const facts = await import(new URL("./public/core/device-facts.js", import.meta.url).href);
const {
  clientFacts,
  clientName,
  clientsIn,
  hasToken,
  inOrder,
  nameOf,
  pairedFacts,
  pendingFacts,
  reachOf,
  scopeWords,
  sentenceOf,
  stateOf,
} = facts;

const NOW = 1_700_000_000_000;
const id = "0123456789abcdef";
const pending = (change: object = {}) => ({
  ...{ requestId: "r", deviceId: id, clientId: "svc-control-ui", clientMode: "ui", role: "operator", scopes: [], isRepair: false, ts: NOW },
  ...change,
});
const token = { role: "operator", scopes: [], createdAtMs: NOW };
const paired = (change: object = {}) => ({
  ...{ deviceId: id, approvedVia: "owner", approvedAtMs: NOW - 3_600_000, connected: false, tokens: [token] },
  ...change,
});

test.each([
  [{ label: "Desk", displayName: "Firefox on Linux" }, "Desk"],
  [{ displayName: "Firefox on Linux" }, "Firefox on Linux"],
  [{ clientId: "cli" }, "cli"],
  [{}, "01234567"],
])("a device has the name that a person gave it, else its own: %j", (change, name) => {
  expect(nameOf(paired(change))).toBe(name);
});

test("what a device says of itself, and where it asks from, stand beside its name", () => {
  const asks = pending({ platform: "iPhone", remoteIp: "192.0.2.7", isRepair: true, ts: NOW - 120_000 });
  expect(pendingFacts(asks, NOW)).toEqual(["iPhone", "from 192.0.2.7", "asked 2 min ago", "was paired before", "id 01234567"]);
  expect(pendingFacts(pending(), NOW)).toEqual(["asked just now", "id 01234567"]);
});

test("a device that is here was not last seen", () => {
  const known = { label: "Desk", displayName: "Firefox on Linux", lastSeenAtMs: NOW - 7_200_000 };
  expect(pairedFacts(paired(known), NOW)).toEqual(["Firefox on Linux", "last seen 2 h ago", "approved 1 h ago", "id 01234567"]);
  expect(pairedFacts(paired({ ...known, connected: true, approvedVia: "silent" }), NOW)).toEqual([
    ...["Firefox on Linux", "paired by this machine 1 h ago", "id 01234567"],
  ]);
});

test.each([
  [{ connected: true }, "connected", "ok"],
  [{}, "away", ""],
  [{ tokens: [{ ...token, revokedAtMs: NOW }] }, "signed out", "warn"],
  [{ tokens: [] }, "signed out", "warn"],
])("a state is a word and a colour: %j", (change, word, level) => {
  expect(stateOf(paired(change))).toEqual({ word, level });
});

test("one good token is enough to come back", () => {
  expect(hasToken(paired({ tokens: [{ ...token, revokedAtMs: NOW }, token] }))).toBe(true);
});

test("rights are told in words", () => {
  expect([undefined, [], ["operator.read", "operator.write"], ["operator.read", "operator.admin"]].map(scopeWords)).toEqual([
    ...["nothing", "nothing", "read, write", "everything"],
  ]);
});

test("those that are here come first, then the one seen last", () => {
  const list = [
    paired({ deviceId: "a", lastSeenAtMs: 1 }),
    paired({ deviceId: "b", lastSeenAtMs: 2 }),
    paired({ deviceId: "c", connected: true }),
  ];
  expect(inOrder(list).map(({ deviceId }: { deviceId: string }) => deviceId)).toEqual(["c", "b", "a"]);
});

test("a sentence counts devices, and those that wait", () => {
  expect(sentenceOf({ pending: [], paired: [] })).toBe("No device is paired.");
  expect(sentenceOf({ pending: [pending()], paired: [paired({ connected: true }), paired()] })).toBe(
    "2 devices paired, 1 connected. 1 waits for your approval.",
  );
});

test("the gateway is not one of its clients, and a client without a host has a name all the same", () => {
  const clients = clientsIn([
    { ts: NOW, host: "box", reason: "self" },
    { ts: NOW, clientId: "svc-control-ui", mode: "ui" },
    { ts: NOW, host: "Firefox on Linux", clientId: "svc-control-ui", mode: "ui", version: "1", ip: "192.0.2.7" },
  ]);
  expect(clients.map(clientName)).toEqual(["svc-control-ui", "Firefox on Linux"]);
  expect(clients.map(clientFacts)).toEqual([
    ["ui", "this machine"],
    ["svc-control-ui", "ui", "version 1", "from 192.0.2.7"],
  ]);
});

test.each([
  ["http:", "127.0.0.1", "here-only"],
  ["https:", "localhost", "here-only"],
  ["http:", "[::1]", "here-only"],
  ["http:", "192.0.2.7", "plain"],
  ["https:", "gateway.example", "yes"],
])("other devices reach %s//%s or not", (protocol, hostname, reach) => {
  expect(reachOf({ protocol, hostname })).toBe(reach);
});
