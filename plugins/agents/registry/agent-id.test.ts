import { expect, test } from "vitest";
import { agentIdOf } from "./changes.ts";

test.each([
  ["Helper Two", "helper-two"],
  ["  helper   two  ", "helper-two"],
  ["Ops_1", "ops_1"],
  ["Zoë's Büro", "zoe-s-buro"],
  ["Größe", "grosse"],
  ["../../etc", "etc"],
  ["--x--", "x"],
  ["A".repeat(80), "a".repeat(64)],
  [`${"a".repeat(63)} b`, "a".repeat(63)],
])("an agent called %j gets the id %s", (name, id) => {
  expect(agentIdOf(name)).toBe(id);
});

test.each([
  ["Main", "agent-name-reserved"],
  ["main!", "agent-name-reserved"],
  ["Default", "agent-name-reserved"],
  ["...", "agent-name-empty"],
  ["助手", "agent-name-empty"],
])("%j is refused: %s", (name, code) => {
  expect(() => agentIdOf(name)).toThrow(expect.objectContaining({ code }));
});
