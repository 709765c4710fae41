import { expect, test } from "vitest";
import { isToolAllowed, type ToolPolicy } from "./policy.ts";

test.each<[string, ToolPolicy[], string, boolean]>([
  ["full is everything", [{ profile: "full" }], "anything", true],
  ["no profile is full", [{}], "anything", true],
  ["minimal is the status only", [{ profile: "minimal" }], "memory_search", false],
  ["minimal has the status", [{ profile: "minimal" }], "session_status", true],
  ["coding has memory", [{ profile: "coding" }], "memory_search", true],
  ["coding has files", [{ profile: "coding" }], "write", true],
  ["coding has no web", [{ profile: "coding" }], "web_fetch", false],
  ["coding has no images", [{ profile: "coding" }], "image", false],
  ["full has images", [{ profile: "full" }], "image", true],
  ["coding takes notes", [{ profile: "coding" }], "memory_append", true],
  ["messaging has session tools", [{ profile: "messaging" }], "sessions_list", true],
  ["allow adds to a profile", [{ profile: "minimal", allow: ["memory_*"] }], "memory_get", true],
  ["allow takes groups", [{ profile: "minimal", allow: ["group:memory"] }], "memory_get", true],
  ["deny removes", [{ profile: "full", deny: ["exec"] }], "exec", false],
  ["deny takes globs", [{ deny: ["memory_*"] }], "memory_search", false],
  ["deny takes groups", [{ deny: ["group:runtime"] }], "exec", false],
  ["deny wins over allow", [{ profile: "minimal", allow: ["exec"], deny: ["exec"] }], "exec", false],
  ["a later level narrows", [{ profile: "full" }, { deny: ["exec"] }], "exec", false],
  ["a later level cannot widen", [{ deny: ["exec"] }, { profile: "full", allow: ["exec"] }], "exec", false],
  ["group:plugins is what no other group holds", [{ deny: ["group:plugins"] }], "weather", false],
  ["group:plugins leaves grouped tools", [{ deny: ["group:plugins"] }], "memory_search", true],
  ["a star stands for nothing too", [{ deny: ["exec*"] }], "exec", false],
  ["two stars, in order", [{ deny: ["a*b*c"] }], "axxbxxc", false],
  ["two stars, out of order", [{ deny: ["a*b*c"] }], "axxcxxb", true],
  ["parts do not share a character", [{ deny: ["ab*ba"] }], "aba", true],
  ["a dot in a pattern is a dot", [{ deny: ["a.c*"] }], "abc", true],
])("%s", (_name, levels, tool, allowed) => {
  expect(isToolAllowed(tool, levels)).toBe(allowed);
});
