import { expect, test } from "vitest";
import { isVisible } from "./visible.ts";

const main = { agentId: "main", sessionKey: "agent:main:main", origin: "operator" as const };
const group = { agentId: "main", sessionKey: "agent:main:irc:group:%23team", origin: "anybody" as const };
const helper = { agentId: "main", sessionKey: "agent:main:subagent:1", origin: "operator" as const };
const row = (key: string, spawnedBy?: string) => ({
  key,
  agentId: key.split(":")[1] ?? "",
  ...(spawnedBy === undefined ? {} : { spawnedBy }),
});

test.each([
  ["self", main, row("agent:main:main"), true],
  ["self", main, row("agent:main:subagent:1", main.sessionKey), false],
  ["tree", main, row("agent:main:subagent:1", main.sessionKey), true],
  ["tree", main, row("agent:main:irc:direct:kim"), false],
  ["agent", main, row("agent:main:irc:direct:kim"), true],
  ["agent", main, row("agent:other:main"), false],
  ["all", main, row("agent:other:main"), true],
  ["all", group, row("agent:main:main"), false],
  ["all", group, row("agent:main:subagent:1", group.sessionKey), true],
  ["all", helper, row("agent:main:main"), false],
  ["agent", { agentId: "main", sessionKey: "agent:main:main", origin: "anybody" }, row("agent:main:irc:direct:kim"), false],
] as const)("with %s, %j sees %j: %s", (visibility, viewer, session, expected) => {
  expect(isVisible(session, viewer, visibility)).toBe(expected);
});
