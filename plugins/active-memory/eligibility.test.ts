import { expect, test } from "vitest";
import { type AskedRun, chatTypeOf, ineligibility } from "./eligibility.ts";

const settings = { enabled: true, agents: ["main"], allowedChatTypes: ["direct" as const] };
const run: AskedRun = { agentId: "main", sessionKey: "agent:main:main", trigger: "user", surface: "webchat", tools: ["memory_search"] };
const reason = (more: Partial<AskedRun>, other: Partial<Parameters<typeof ineligibility>[1]> = {}) =>
  ineligibility({ ...run, ...more }, { ...settings, ...other });

test("a message of a person in the main session gets a search, from the web chat and from a channel", () => {
  expect(reason({})).toBeUndefined();
  expect(reason({ surface: "channel" })).toBeUndefined();
  expect(reason({ sessionKey: "agent:main:irc:direct:kim", surface: "channel" })).toBeUndefined();
  expect(reason({ sessionKey: "agent:main:irc:dm:kim", surface: "channel" })).toBeUndefined();
});

test("every other surface, trigger and session does not", () => {
  const cases: Array<[ReturnType<typeof reason>, Partial<AskedRun>]> = [
    ["surface", { surface: "http" }],
    ["surface", { surface: "rpc" }],
    ["surface", { surface: "hook" }],
    ["surface", { surface: "internal" }],
    ["trigger", { trigger: "heartbeat" }],
    ["trigger", { trigger: "cron" }],
    ["trigger", { trigger: "hook" }],
    ["agent", { agentId: "other", sessionKey: "agent:other:main" }],
    ["session", { sessionKey: "" }],
    ["own-search", { sessionKey: "agent:main:main:active-memory:0123456789ab" }],
    ["chat-type", { sessionKey: "agent:main:kitchen" }],
    ["chat-type", { sessionKey: "agent:main:subagent:1" }],
    ["chat-type", { sessionKey: "agent:main:irc:group:%23team" }],
    ["chat-type", { sessionKey: "agent:main:discord:channel:c1" }],
    ["chat-type", { sessionKey: "agent:other:main" }],
    ["tools", { tools: ["memory_get", "read"] }],
  ];
  for (const [expected, more] of cases) expect([more, reason(more)]).toEqual([more, expected]);
  expect(reason({}, { enabled: false })).toBe("disabled");
  expect(reason({}, { agents: [] })).toBe("agent");
  expect(reason({}, { allowedChatTypes: [] })).toBe("chat-type");
});

test("groups and channels get one where their kind is allowed, and only that kind", () => {
  const kinds = { group: "agent:main:irc:group:%23team", channel: "agent:main:discord:channel:c1:thread:2" };
  for (const [kind, sessionKey] of Object.entries(kinds)) {
    expect(reason({ sessionKey, surface: "channel" }, { allowedChatTypes: [kind as "group"] })).toBeUndefined();
    expect(reason({ surface: "channel" }, { allowedChatTypes: [kind as "group"] })).toBe("chat-type");
  }
});

test("the kind of a conversation is the first word of its key that names one, behind the channel", () => {
  const of = (sessionKey: string) => chatTypeOf(sessionKey, { agentId: "main", surface: "channel" });
  expect(of("agent:main:group:direct:x")).toBe("direct");
  expect(of("agent:main:irc:GROUP:x")).toBe("group");
  expect(of("agent:main:direct")).toBeUndefined();
  expect(chatTypeOf("agent:main:main", { agentId: "main", surface: "http" })).toBeUndefined();
});
