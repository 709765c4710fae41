import { expect, test } from "vitest";
import { isInvokable } from "./outside-policy.ts";

const refused = ["exec", "spawn", "shell", "write", "edit", "fs_write", "fs_delete", "fs_move", "apply_patch", "process"];
const powerful = ["sessions_spawn", "sessions_send", "cron", "gateway", "nodes", "memory_append", "mcp_files_read", "mcp_read_resource"];

test.each([...refused, ...powerful])("%s is refused to everybody by default, and allowed to administrators by config", (tool) => {
  expect(isInvokable(tool, { allow: [], deny: [] }, true)).toBe(false);
  expect(isInvokable(tool, { allow: [tool], deny: [] }, true)).toBe(true);
  expect(isInvokable(tool, { allow: ["*"], deny: [] }, false)).toBe(false);
  expect(isInvokable(tool, { allow: [tool], deny: [tool] }, true)).toBe(false);
});

test.each([
  ["memory_search", [], [], true],
  ["memory_search", [], ["memory_search"], false],
  ["memory_search", [], ["memory_*"], false],
  ["memory_search", [], ["group:memory"], false],
  ["memory_search", ["memory_search"], ["memory_search"], false],
  ["read", [], [], true],
])("%s with allow %j and deny %j: %s", (tool, allow, deny, invokable) => {
  expect(isInvokable(tool, { allow, deny }, false)).toBe(invokable);
});
