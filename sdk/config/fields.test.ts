import { describe, expect, test } from "vitest";
import { agentId, pattern, secret, secretRefSchema } from "./fields.ts";

describe("a reference to a secret", () => {
  const takes = (ref: unknown) => secretRefSchema.safeParse(ref).success;

  test.each([
    ["env", "A", true],
    ["env", `A${"B".repeat(127)}`, true],
    ["env", `A${"B".repeat(128)}`, false],
    ["env", "lower", false],
    ["env", "1A", false],
    ["env", "A-B", false],
    ["file", "value", true],
    ["file", "/vendor/key", true],
    ["file", "/a~1b/c~0d", true],
    ["file", "/", true],
    ["file", "vendor", false],
    ["file", "/a~2", false],
    ["file", "", false],
    ["exec", "vault/key#1", true],
    ["exec", "a".repeat(256), true],
    ["exec", "a".repeat(257), false],
    ["exec", "a/../b", false],
    ["exec", "a/./b", false],
    ["exec", "a/..", false],
    ["exec", "..", false],
    ["exec", "a..b", true],
    ["exec", "-flag", false],
    ["exec", "a b", false],
    ["http", "A", false],
  ])("source %s with id %j: %j", (source, id, expected) => {
    expect(takes({ source, id })).toBe(expected);
  });

  test.each([
    ["default", true],
    ["a", true],
    [`a${"b".repeat(63)}`, true],
    [`a${"b".repeat(64)}`, false],
    ["A", false],
    ["1a", false],
    ["", false],
  ])("provider %j: %j", (provider, expected) => {
    expect(takes({ source: "env", provider, id: "A" })).toBe(expected);
  });

  test("is closed", () => {
    expect(takes({ source: "env", id: "A", default: "x" })).toBe(false);
  });

  test("stands wherever a secret may, and nothing else does", () => {
    const ref = { source: "env", id: "A" };
    expect(secret().parse(ref)).toEqual(ref);
    expect(secret().parse("text")).toBe("text");
    for (const bad of ["", 5, null, [], {}, { id: "A" }]) expect(secret().safeParse(bad).success).toBe(false);
  });
});

describe("a regular expression", () => {
  test.each(["bot", "^@?bot\\b", "(?:hey|hi) bot+", "(ab){2}", "[(a+)+]", "\\(a+\\)+", "(a|b)*", "a{2,3}b{4}"])("%s is taken", (text) => {
    expect(pattern().safeParse(text).success).toBe(true);
  });

  test.each(["(", "(a+)+", "(a*)*", "(a|b+)*", "((a+)b)*", "(a{2,})+", "(?:x+y)+", "[", ""])("%s is refused", (text) => {
    expect(pattern().safeParse(text).success).toBe(false);
  });
});

test.each(["main", "0", "a_b-c", "a".repeat(64)])("%s is an agent id", (id) => {
  expect(agentId().safeParse(id).success).toBe(true);
});
