import { describe, expect, test } from "vitest";
import { isInScope, scopedSession } from "./scope.ts";
import type { SidecarSettings } from "./settings.ts";
import { testConfig } from "./test-sidecar.ts";

type Scope = SidecarSettings["scope"];
const shipped = testConfig().memory.sidecar.scope;
const nobody = async () => undefined;
const allows = async (scope: Scope, key: string | undefined, parents: Record<string, string> = {}) =>
  isInScope(scope, await scopedSession(key, async (one) => parents[one]));

describe("the shipped scope", () => {
  test.each<[string | undefined, boolean]>([
    ["agent:main:main", true],
    ["agent:main:telegram:direct:7", true],
    ["agent:main:telegram:dm:7", true],
    ["agent:main:slack:channel:c1", true],
    ["agent:main:telegram:group:7", false],
    ["agent:main:work:telegram:group:7", false],
    ["agent:main:thread:slack:channel:c1", true],
    [undefined, true],
  ])("of %s: %s", async (key, expected) => {
    expect(await allows(shipped, key)).toBe(expected);
  });
});

test("each field of a match counts, and the first rule that fits decides", async () => {
  const scope = (...rules: Scope["rules"]): Scope => ({ default: "deny", rules });
  const allow = (match: Scope["rules"][number]["match"]) => scope({ action: "allow", match });
  expect(await allows(allow({ channel: "telegram" }), "agent:main:Telegram:group:7")).toBe(true);
  expect(await allows(allow({ channel: "telegram" }), "agent:main:slack:group:7")).toBe(false);
  expect(await allows(allow({ chatType: "group" }), "agent:main:slack:group:7")).toBe(true);
  expect(await allows(allow({ keyPrefix: "Slack:group" }), "agent:main:slack:group:7")).toBe(true);
  expect(await allows(allow({ keyPrefix: "agent:main:slack" }), "agent:main:slack:group:7")).toBe(true);
  expect(await allows(allow({ keyPrefix: "agent:ops" }), "agent:main:slack:group:7")).toBe(false);
  expect(await allows(allow({ rawKeyPrefix: "agent:main:" }), "agent:main:slack:group:7")).toBe(true);
  expect(await allows(allow({ rawKeyPrefix: "slack:" }), "agent:main:slack:group:7")).toBe(false);
  expect(await allows(allow({ channel: "slack", chatType: "direct" }), "agent:main:slack:group:7")).toBe(false);
  const both = scope({ action: "deny", match: { channel: "slack" } }, { action: "allow", match: {} });
  expect(await allows(both, "agent:main:slack:group:7")).toBe(false);
  expect(await allows(both, "agent:main:irc:group:7")).toBe(true);
  expect(await allows({ default: "allow", rules: [] }, "agent:main:irc:group:7")).toBe(true);
});

describe("a helper", () => {
  test("has the chat of its parent, and of the parent's parent", async () => {
    const parents = {
      "agent:main:subagent:1": "agent:main:telegram:group:7",
      "agent:main:subagent:2": "agent:main:subagent:3",
      "agent:main:subagent:3": "agent:main:main",
    };
    expect(await allows(shipped, "agent:main:subagent:1", parents)).toBe(false);
    expect(await allows(shipped, "agent:main:subagent:2", parents)).toBe(true);
  });

  test("whose parent is unknown, or in a ring, is denied, whatever the default", async () => {
    expect(await allows({ default: "allow", rules: [] }, "agent:main:subagent:1")).toBe(false);
    const ring = { "agent:main:subagent:1": "agent:main:subagent:1" };
    expect(await allows({ default: "allow", rules: [] }, "agent:main:subagent:1", ring)).toBe(false);
    expect(await scopedSession("agent:main:subagent:1", nobody)).toMatchObject({ chatType: undefined });
  });
});
