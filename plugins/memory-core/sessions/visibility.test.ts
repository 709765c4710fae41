import { describe, expect, test } from "vitest";
import { visibleSources } from "./visibility.ts";

const both = { agentId: "main", sources: ["memory", "sessions"] as const };

test("without a wish everything that is indexed is searched, with one only that", () => {
  expect(visibleSources(both)).toEqual({ sources: ["memory", "sessions"] });
  expect(visibleSources({ ...both, corpus: "all" })).toEqual({ sources: ["memory", "sessions"] });
  expect(visibleSources({ ...both, corpus: "memory" })).toEqual({ sources: ["memory"] });
  expect(visibleSources({ ...both, corpus: "sessions" })).toEqual({ sources: ["sessions"] });
});

describe("who may see transcripts", () => {
  test.each([
    ["a direct chat of the agent", "agent:main:main", true],
    ["a direct chat on a channel", "agent:main:telegram:direct:42", true],
    ["a short key", "main", true],
    ["an operator without a session", undefined, true],
    ["a key in other letters", "agent:MAIN:main", true],
    ["a group", "agent:main:telegram:group:1", false],
    ["a channel", "agent:main:slack:channel:c1", false],
    ["a thread in a channel", "agent:main:slack:channel:c1:thread:9", false],
    ["a short key of a group", "telegram:GROUP:1", false],
    ["a session of another agent", "agent:work:main", false],
  ])("%s", (_name, sessionKey, may) => {
    expect(visibleSources({ ...both, sessionKey }).sources.includes("sessions")).toBe(may);
    expect(visibleSources({ ...both, sessionKey }).sources).toContain("memory");
  });

  test("who asks for transcripts only and may not see them is told so", () => {
    const found = visibleSources({ ...both, corpus: "sessions", sessionKey: "agent:main:telegram:group:1" });
    expect(found).toEqual({ sources: [], warning: expect.stringContaining("not searched from this conversation") });
  });
});

test("transcripts that are not indexed are said to be so, and how to index them", () => {
  const found = visibleSources({ agentId: "main", sources: ["memory"], corpus: "sessions" });
  expect(found).toEqual({ sources: [], warning: expect.stringContaining("experimental.sessionMemory") });
});
