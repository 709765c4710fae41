import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { rootSchema } from "../kernel/config/root-schema.ts";
import { agentSetting, canonicalSessionKey, defaultAgentId, expandPath, normalizedSessionKey, resolveAgents } from "./agents.ts";
import type { SvcConfigInput } from "./config/root.ts";

const configOf = (agents: SvcConfigInput["agents"]) => rootSchema.parse({ agents });
const resolved = (agents: SvcConfigInput["agents"]) => resolveAgents(configOf(agents), "/state");

describe("agents of a config", () => {
  test("are one called main when none is named", () => {
    expect(resolved({})).toEqual([{ id: "main", isDefault: true, workspace: "/state/workspace", models: [], identity: {} }]);
    expect(defaultAgentId(configOf({}))).toBe("main");
  });

  test("have the first as default, or the one that says so", () => {
    expect(defaultAgentId(configOf({ list: [{ id: "a" }, { id: "b" }] }))).toBe("a");
    expect(defaultAgentId(configOf({ list: [{ id: "a" }, { id: "b", default: true }] }))).toBe("b");
  });

  test("never share a workspace: the default's comes from the defaults, others have their own", () => {
    const agents = resolved({
      defaults: { workspace: "notes", model: "x/y" },
      list: [
        { id: "a" },
        { id: "b" },
        { id: "c", workspace: "/abs" },
        { id: "d", workspace: "~/d", model: { primary: "p/q", fallbacks: ["r/s"] } },
      ],
    });
    expect(agents.map((a) => a.workspace)).toEqual(["/state/notes", "/state/workspace-b", "/abs", join(homedir(), "d")]);
    expect(agents.map((a) => a.models)).toEqual([["x/y"], ["x/y"], ["x/y"], ["p/q", "r/s"]]);
  });

  test("have their own settings before the defaults", () => {
    const config = configOf({ defaults: { timeoutSeconds: 60 }, list: [{ id: "a", timeoutSeconds: 5 }, { id: "b" }] });
    expect(["a", "b", "nobody"].map((id) => agentSetting(config, id, "timeoutSeconds"))).toEqual([5, 60, 60]);
  });
});

describe("a session key", () => {
  test.each([
    ["main", "agent:a:main", "a"],
    [" Hello World ", "agent:a:Hello World", "a"],
    ["agent:b:main", "agent:b:main", "b"],
    ["agent:B:Topic:7", "agent:b:Topic:7", "b"],
  ])("%j is %s in full", (key, full, agentId) => {
    expect(canonicalSessionKey(key, "a")).toEqual({ key: full, agentId });
  });

  test.each([
    "",
    "   ",
    "agent:",
    "agent:b",
    "agent:b:",
    "agent::x",
    "a\u0000b",
    "a\nb",
    "a\u009bb",
    "a\ud800",
    "\udc00a",
    "x".repeat(513),
  ])("$0 is none", (key) => {
    expect(() => canonicalSessionKey(key, "a")).toThrow(expect.objectContaining({ code: "invalid-session-key" }));
  });

  test("of 512 characters is one", () => {
    expect(canonicalSessionKey("x".repeat(512), "a").key).toHaveLength(520);
  });

  test("of one agent is refused beside the name of another", () => {
    expect(() => canonicalSessionKey("agent:b:x", "a", true)).toThrow('it belongs to agent "b", but agent "a" was named');
    expect(canonicalSessionKey("agent:a:x", "a", true).agentId).toBe("a");
  });

  test("is matched by rules without its agent and in small letters", () => {
    expect(normalizedSessionKey("agent:a:Hook:X")).toBe("hook:x");
    expect(normalizedSessionKey("Plain")).toBe("plain");
  });
});

test("paths are absolute, relative to their base, or in the home directory", () => {
  expect([expandPath("/a", "/b"), expandPath("a", "/b"), expandPath("~", "/b"), expandPath("~/x", "/b"), expandPath("~x", "/b")]).toEqual([
    "/a",
    "/b/a",
    homedir(),
    join(homedir(), "x"),
    "/b/~x",
  ]);
});
