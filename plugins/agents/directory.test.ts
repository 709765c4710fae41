import { parseSharedConfig } from "svc/sdk/internal";
import { describe, expect, test } from "vitest";
import { createDirectory } from "./directory.ts";

const directory = createDirectory(parseSharedConfig({ agents: { list: [{ id: "main" }, { id: "ops", default: true }] } }), "/state");

describe("who is meant", () => {
  test.each([
    ["nobody named", {}, "ops", "agent:ops:main"],
    ["an agent", { agentId: "main" }, "main", "agent:main:main"],
    ["an agent in capitals", { agentId: " Main " }, "main", "agent:main:main"],
    ["a short key", { sessionKey: "plans" }, "ops", "agent:ops:plans"],
    ["a short key of an agent", { sessionKey: "plans", agentId: "main" }, "main", "agent:main:plans"],
    ["a full key", { sessionKey: "agent:main:x:Y" }, "main", "agent:main:x:Y"],
  ])("%s", (_name, target, agentId, sessionKey) => {
    expect(directory.resolve(target)).toEqual({ agentId, sessionKey });
  });

  test.each([
    [{ agentId: "zzz" }, "unknown-agent"],
    [{ sessionKey: "agent:zzz:main" }, "unknown-agent"],
    [{ sessionKey: "agent:main:main", agentId: "ops" }, "invalid-session-key"],
    [{ sessionKey: " " }, "invalid-session-key"],
    [{ sessionKey: "a\u0000b" }, "invalid-session-key"],
    [{ sessionKey: "x".repeat(513) }, "invalid-session-key"],
  ])("$0 is refused with $1", (target, code) => {
    expect(() => directory.resolve(target)).toThrow(expect.objectContaining({ code }));
  });
});
