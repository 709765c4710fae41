import { normalizedSessionKey, type RunRequest, type SessionRow, type SystemEventRow } from "svc/sdk";
import { matchesTool } from "./policy.ts";

/** Tools that act with the rank of the operator: they plan work, change the gateway, or reach other machines. */
const operatorTools = ["cron", "gateway", "nodes"];

/** Key of sessions that webhooks make. */
const HOOK_SESSION = "hook:";

/** A tool that is for runs of the operator alone. */
export function isOperatorTool(tool: string): boolean {
  return matchesTool(tool, operatorTools);
}

/**
 * Whether a run may have the operator's own tools. It may not when somebody outside has a word in it: a webhook or a channel began it, or is said to, or a webhook made the
 * session, or the heartbeat reads what one said; or the session is a group, where everybody may write.
 */
export function hasOperatorTools(run: {
  request: Pick<RunRequest, "trigger" | "actor" | "place">;
  session: Pick<SessionRow, "key" | "kind">;
  /** Events the run reads besides its message. */
  events: readonly Pick<SystemEventRow, "source">[];
}): boolean {
  const { request, session, events } = run;
  if (request.trigger === "hook" || request.actor.kind === "hook" || request.actor.kind === "channel" || request.place) return false;
  if (session.kind === "group" || normalizedSessionKey(session.key).startsWith(HOOK_SESSION)) return false;
  return request.trigger !== "heartbeat" || !events.some(({ source }) => source === "hook");
}
