import type { SessionRow } from "svc/sdk";

/** Value of `tools.sessions.visibility`. */
export type Visibility = "self" | "tree" | "agent" | "all";

/** Place that a tool is called from. */
export interface Viewer {
  agentId: string;
  sessionKey: string;
}

/** Reach of a session as the config has it; one that strangers write in, and a helper, see their own and what they started at most. */
export function reachOf({ sessionKey }: Viewer, configured: Visibility): Visibility {
  const isNarrow = isOpenToOthers(sessionKey) || isHelper(sessionKey);
  return isNarrow && configured !== "self" ? "tree" : configured;
}

export function isVisible(row: Pick<SessionRow, "key" | "agentId" | "spawnedBy">, viewer: Viewer, configured: Visibility): boolean {
  if (row.key === viewer.sessionKey) return true;
  const reach = reachOf(viewer, configured);
  if (reach === "all") return true;
  if (reach === "agent") return row.agentId === viewer.agentId;
  return reach === "tree" && row.spawnedBy === viewer.sessionKey;
}

/** Sessions whose prompts are written by whoever is in a group or knows a webhook. */
export function isOpenToOthers(sessionKey: string): boolean {
  return /^agent:[^:]+:(?:[^:]+:(?:[^:]+:)?(?:group|channel):|hook:)/.test(sessionKey);
}

/** Session of a helper that `sessions_spawn` made. */
export function isHelper(sessionKey: string): boolean {
  return /^agent:[^:]+:subagent:/.test(sessionKey);
}
