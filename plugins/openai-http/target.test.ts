import { type Agents, canonicalSessionKey, commonErrors } from "svc/sdk";
import { describe, expect, test } from "vitest";
import { parseBackendModel, parseModel, resolveTarget } from "./target.ts";

const ids = ["main", "work"];
/** The part of `agents@1` that is asked here, with the SDK's own key rules. */
const agents = {
  resolve({ agentId, sessionKey }: { agentId?: string; sessionKey: string }) {
    const full = canonicalSessionKey(sessionKey, agentId ?? "main", agentId !== undefined);
    for (const id of [agentId ?? "main", full.agentId]) if (!ids.includes(id)) throw commonErrors.unknownAgent({ agentId: id });
    return { agentId: full.agentId, sessionKey: full.key };
  },
} as Agents;

function target(request: { model?: string; user?: string; headers?: Record<string, string> }) {
  return resolveTarget(agents, { model: request.model, user: request.user, headers: new Headers(request.headers) });
}

describe("model names an agent", () => {
  test.each([
    [undefined, undefined],
    ["svc", undefined],
    [" SVC ", undefined],
    ["svc/default", undefined],
    ["svc/work", "work"],
    ["svc:Work", "work"],
    ["agent:work", "work"],
  ])("%s → %s", (model, agentId) => {
    expect(parseModel(model)).toBe(agentId);
  });

  test.each(["", "gpt-4o", "openai/gpt-5", "svc/a/b", "svc/", "svc/-a", `svc/${"a".repeat(65)}`, "svc/a b"])("%j is refused", (model) => {
    expect(() => parseModel(model)).toThrow("Invalid `model`. Use `svc` or `svc/<agentId>`.");
  });

  test("an id of 64 characters is well-formed", () => {
    expect(parseModel(`svc/${"a".repeat(64)}`)).toBe("a".repeat(64));
  });
});

describe("the agent", () => {
  test("of the header wins, but model must be well-formed", () => {
    expect(target({ model: "svc/main", headers: { "x-svc-agent-id": "Work" } }).agentId).toBe("work");
    expect(() => target({ model: "gpt-4o", headers: { "x-svc-agent-id": "work" } })).toThrow("Invalid `model`");
  });

  test.each([
    [{ model: "svc/nobody" }, "Unknown agent 'nobody'."],
    [{ headers: { "x-svc-agent-id": "nobody" } }, "Unknown agent 'nobody'."],
    [{ headers: { "x-svc-session-key": "agent:nobody:x" } }, "Unknown agent 'nobody'."],
  ])("%j is unknown", (request, message) => {
    expect(() => target(request)).toThrow(message);
  });
});

describe("the session", () => {
  test("is fresh for each request", () => {
    const [a, b] = [target({}), target({})];

    expect(a.sessionKey).toMatch(/^agent:main:openai:[0-9a-f-]{36}$/);
    expect(a.sessionKey).not.toBe(b.sessionKey);
    expect(a.isFresh).toBe(true);
  });

  test("is stable for a user", () => {
    expect(target({ model: "svc/work", user: "Ann" })).toEqual({
      agentId: "work",
      sessionKey: "agent:work:openai-user:Ann",
      isFresh: false,
    });
  });

  test("of the header wins and is made canonical", () => {
    expect(target({ user: "u", headers: { "x-svc-session-key": "main" } })).toMatchObject({
      sessionKey: "agent:main:main",
      isFresh: false,
    });
    expect(target({ headers: { "x-svc-session-key": "agent:work:x" } })).toMatchObject({ agentId: "work", sessionKey: "agent:work:x" });
  });

  test("of another agent than the named one is refused", () => {
    expect(() => target({ model: "svc/main", headers: { "x-svc-session-key": "agent:work:x" } })).toThrow('it belongs to agent "work"');
  });

  test.each(["cron:1", "CRON:1", "agent:main:subagent:x", "acp:", "  cron:1"])("%j is reserved", (key) => {
    expect(() => target({ headers: { "x-svc-session-key": key } })).toThrow("cannot use reserved internal session namespaces");
  });
});

describe("the backend model", () => {
  test.each([
    [null, undefined],
    [" openai/gpt-5 ", "openai/gpt-5"],
    ["fast", "fast"],
    ["openrouter/openai/gpt-oss", "openrouter/openai/gpt-oss"],
    ["qwen3:8b", "qwen3:8b"],
  ])("%j → %s", (header, model) => {
    expect(parseBackendModel(header)).toBe(model);
  });

  test.each(["", "/x", "x/", "a//b", "a b", "x".repeat(257)])("%j is refused", (header) => {
    expect(() => parseBackendModel(header)).toThrow("Invalid `x-svc-model`.");
  });
});
