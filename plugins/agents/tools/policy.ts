import type { SvcConfig } from "svc/sdk";
import { isGlobMatch } from "svc/sdk/internal";

/** One level of `tools.{profile, allow, deny}`. */
export interface ToolPolicy {
  profile?: "minimal" | "coding" | "messaging" | "full" | undefined;
  allow?: readonly string[] | undefined;
  deny?: readonly string[] | undefined;
}

/** Names of tools by what they are for. */
export const toolGroups: Record<string, readonly string[]> = {
  "group:fs": ["read", "write", "edit", "list", "grep", "apply_patch", "fs_*"],
  "group:runtime": ["exec", "process", "spawn", "shell"],
  "group:sessions": ["sessions_*", "session_*"],
  "group:memory": ["memory_*"],
  "group:web": ["web_*", "image"],
  "group:messaging": ["message"],
  "group:automation": ["cron", "gateway", "heartbeat_*"],
  "group:mcp": ["mcp_*"],
};

/** Tools that a policy starts with. */
export const toolProfiles: Record<NonNullable<ToolPolicy["profile"]>, readonly string[]> = {
  minimal: ["session_status"],
  messaging: ["group:messaging", "group:sessions"],
  coding: ["group:fs", "group:runtime", "group:sessions", "group:memory"],
  full: ["*"],
};

/**
 * Whether a tool passes every level, outermost first. A level is its profile, plus `allow`, minus `deny`; deny wins.
 * A later level can only narrow what the earlier ones let through.
 */
export function isToolAllowed(tool: string, levels: readonly ToolPolicy[]): boolean {
  return levels.every((level) => {
    if (matchesTool(tool, level.deny ?? [])) return false;
    return matchesTool(tool, toolProfiles[level.profile ?? "full"]) || matchesTool(tool, level.allow ?? []);
  });
}

/** Levels of policy of one agent, outermost first. */
export function policyLevels(config: SvcConfig, agentId: string): ToolPolicy[] {
  const own = config.agents.list.find((agent) => agent.id === agentId)?.tools ?? config.agents.defaults.tools;
  return own ? [config.tools, own] : [config.tools];
}

/** Whether a tool is left by a run that names the tools it may have: `allow` is all of them, and deny wins. */
export function isLeft(tool: string, { allow, deny }: Pick<ToolPolicy, "allow" | "deny"> = {}): boolean {
  return (allow === undefined || matchesTool(tool, allow)) && !matchesTool(tool, deny ?? []);
}

/** `*` globs and `group:…` names; `group:plugins` is every tool that no other group holds. */
export function matchesTool(tool: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    if (pattern === "group:plugins") return !Object.values(toolGroups).some((names) => matchesTool(tool, names));
    const members = toolGroups[pattern];
    return members ? matchesTool(tool, members) : isGlobMatch(tool, pattern);
  });
}
