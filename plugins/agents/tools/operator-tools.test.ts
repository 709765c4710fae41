import type { RunRequest } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { hasOperatorTools, isOperatorTool, narrowedTools } from "./operator-tools.ts";

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
    expect(hasOperatorTools({ request: asked, session, events })).toBe(may);
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
  ["a person's message", request("user", "rpc"), main, [], []],
  ["a message of a person on a channel", request("user", "channel"), main, [], []],
  ["a group", request("user", "channel"), group, [], ["write", "edit"]],
  ["a webhook", request("hook", "hook"), main, [], ["write", "edit"]],
  ["a heartbeat that reads what a webhook said", request("heartbeat"), main, [{ source: "hook" }], ["write", "edit"]],
] as const)("%s: changes of files are kept back where others may write", (_name, asked, session, events, kept) => {
  expect(narrowedTools({ request: asked, session, events })?.deny ?? []).toEqual(kept);
});

test("a group whose list names a file tool keeps it", () => {
  const tools = { allow: ["read", "write"], deny: ["exec"] };
  expect(narrowedTools({ request: { ...request("user", "channel"), tools }, session: group, events: [] })).toEqual({
    allow: ["read", "write"],
    deny: ["exec", "edit"],
  });
});
