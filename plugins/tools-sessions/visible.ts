import type { RunOrigin, SessionRow } from "svc/sdk";

/** Value of `tools.sessions.visibility`. */
export type Visibility = "self" | "tree" | "agent" | "all";

/** Place that a tool is called from. */
export interface Viewer {
  agentId: string;
  sessionKey: string;
  /** Origin of the run that calls. */
  origin: RunOrigin;
}

/** Reach of a session as the config has it; one in which anybody has a word, and a helper, see their own and what they started at most. */
export function reachOf({ sessionKey, origin }: Viewer, configured: Visibility): Visibility {
  const isNarrow = origin === "anybody" || isHelper(sessionKey);
  return isNarrow && configured !== "self" ? "tree" : configured;
}

export function isVisible(row: Pick<SessionRow, "key" | "agentId" | "spawnedBy">, viewer: Viewer, configured: Visibility): boolean {
  if (row.key === viewer.sessionKey) return true;
  const reach = reachOf(viewer, configured);
  if (reach === "all") return true;
  if (reach === "agent") return row.agentId === viewer.agentId;
  return reach === "tree" && row.spawnedBy === viewer.sessionKey;
}

/** Session of a helper that `sessions_spawn` made. */
export function isHelper(sessionKey: string): boolean {
  return /^agent:[^:]+:subagent:/.test(sessionKey);
}
