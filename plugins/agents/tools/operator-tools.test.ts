import type { RunRequest } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { isKeptBack, isOperatorTool, narrowedTools, originOf } from "./operator-tools.ts";

const main = { key: "agent:main:main", kind: "direct" as const };
const group = { key: "agent:main:irc:group:#room", kind: "group" as const };
const hook = { key: "agent:main:hook:7c1f", kind: "direct" as const };
const request = (trigger: RunRequest["trigger"], kind: RunRequest["actor"]["kind"] = "internal") => ({
  trigger,
  actor: { kind, scopes: [] },
});

describe("tools of the operator are for", () => {
  test.each([
    ["a person's message", request("user", "rpc"), main, [], true],
    ["a request over HTTP", request("user", "http"), main, [], true],
    ["a job", request("cron"), main, [], true],
    ["a heartbeat", request("heartbeat"), main, [], true],
    ["a heartbeat that reads a person's event", request("heartbeat"), main, [{ source: "rpc" }], true],
    ["a person's message that takes a webhook's event along", request("user", "rpc"), main, [{ source: "hook" }], true],
    ["a webhook, whatever its session", request("hook", "hook"), main, [], false],
    ["a webhook under another trigger", request("user", "hook"), main, [], false],
    ["a run that says it began with a webhook", request("hook"), main, [], false],
    ["a heartbeat that reads what a webhook said", request("heartbeat"), main, [{ source: "rpc" }, { source: "hook" }], false],
    ["a person's message in a session that a webhook made", request("user", "rpc"), hook, [], false],
    ["the same, whatever the case of its key", request("user", "rpc"), { ...hook, key: "agent:main:HOOK:x" }, [], false],
    ["a message in a group", request("user", "rpc"), group, [], false],
  ])("%s", (_name, asked, session, events, may) => {
    expect(originOf({ request: asked, session, events }) === "operator").toBe(may);
  });
});

test.each([
  ["cron", true],
  ["gateway", true],
  ["nodes", true],
  ["memory_search", false],
  ["exec", false],
  ["gateway_status", false],
])("%s is one of them: %s", (tool, isOne) => {
  expect(isOperatorTool(tool)).toBe(isOne);
});

test.each([
  ["a person's message", request("user", "rpc"), main, [], "operator"],
  ["a message of a person on a channel", request("user", "channel"), main, [], "person"],
  ["a message that is taken to come from a channel", { ...request("user", "rpc"), place: { channel: "irc" } }, main, [], "person"],
  ["a group", request("user", "channel"), group, [], "anybody"],
  ["a webhook", request("hook", "hook"), main, [], "anybody"],
  [
    "a heartbeat in the conversation of a person on a channel",
    request("heartbeat"),
    { ...main, key: "agent:main:irc:direct:ada" },
    [],
    "person",
  ],
  ["a heartbeat that reads what a webhook said", request("heartbeat"), main, [{ source: "hook" }], "anybody"],
  ["a heartbeat that reads what a helper of a person reports", request("heartbeat"), main, [{ source: "spawn:person" }], "person"],
  ["a heartbeat that reads what a helper of strangers reports", request("heartbeat"), main, [{ source: "spawn:anybody" }], "anybody"],
  ["a heartbeat that reads what the operator's helper reports", request("heartbeat"), main, [{ source: "spawn" }], "operator"],
  ["what a run of a person asks for", { ...request("user"), origin: "person" as const }, main, [], "person"],
  ["what a run of a group asks for", { ...request("user"), origin: "anybody" as const }, main, [], "anybody"],
  ["a group that the operator asks", { ...request("user"), origin: "operator" as const }, group, [], "anybody"],
] as const)("the origin of %s is right", (_name, asked, session, events, origin) => {
  expect(originOf({ request: asked, session, events })).toBe(origin);
});

test.each([
  [undefined, "operator", undefined],
  [undefined, "person", undefined],
  [undefined, "anybody", { deny: ["write", "edit"] }],
  [{ deny: ["exec", "edit"] }, "anybody", { deny: ["exec", "edit", "write"] }],
  [{ allow: ["read", "write"], deny: ["exec"] }, "anybody", { allow: ["read", "write"], deny: ["exec", "edit"] }],
] as const)("with %j a run of %s has %j: strangers change no files, unless the list of their group says so", (tools, origin, left) => {
  expect(narrowedTools(tools ? { tools: { ...tools } } : {}, origin)).toEqual(left);
});

test.each([
  ["cron", "operator", false, false],
  ["cron", "person", false, true],
  ["cron", "person", true, false],
  ["cron", "anybody", true, true],
  ["gateway", "person", true, true],
  ["nodes", "person", true, true],
  ["read", "anybody", false, false],
] as const)("%s in a run of %s, an owner (%s), is kept back: %s", (tool, origin, isOwner, expected) => {
  expect(isKeptBack(tool, { origin, isOwner })).toBe(expected);
});
