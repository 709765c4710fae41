import { matchesTool } from "./policy.ts";

/** Tools that nobody runs by a single call from outside, unless the config takes them off this list. */
const refusedByDefault: readonly string[] = [
  "exec",
  "process",
  "spawn",
  "shell",
  "write",
  "edit",
  "fs_write",
  "fs_delete",
  "fs_move",
  "apply_patch",
  "sessions_spawn",
  "sessions_send",
  "cron",
  "gateway",
  "nodes",
  "memory_append",
  "group:mcp",
];

/**
 * May a client run this tool by name, without a model in between? On top of the agent's own policy.
 * @param lists `gateway.tools`: `deny` adds names and wins, `allow` takes names off the default list
 * @param isOwner whether the caller is an administrator: only for one does `allow` count
 */
export function isInvokable(tool: string, lists: { allow: readonly string[]; deny: readonly string[] }, isOwner: boolean): boolean {
  if (matchesTool(tool, lists.deny)) return false;
  return !matchesTool(tool, refusedByDefault) || (isOwner && matchesTool(tool, lists.allow));
}
