import { normalizedSessionKey, type RunRequest, type SessionRow, type SystemEventRow } from "svc/sdk";
import { matchesTool } from "./policy.ts";

/** Tools that act with the rank of the operator: they plan work, change the gateway, or reach other machines. */
const operatorTools = ["cron", "gateway", "nodes"];

/** Tools that change the agent's files, which decide what it does in every session. */
const fileTools = ["write", "edit"];

/** Key of sessions that webhooks make. */
const HOOK_SESSION = "hook:";

/** A tool that is for runs of the operator alone. */
export function isOperatorTool(tool: string): boolean {
  return matchesTool(tool, operatorTools);
}

interface Origin {
  request: Pick<RunRequest, "trigger" | "actor" | "place">;
  session: Pick<SessionRow, "key" | "kind">;
  /** Events the run reads besides its message. */
  events: readonly Pick<SystemEventRow, "source">[];
}

/**
 * Whether a run may have the operator's own tools. It may not when somebody outside has a word in it: a channel began it, or is said to, or it is open to others.
 */
export function hasOperatorTools(run: Origin): boolean {
  const { actor, place } = run.request;
  return actor.kind !== "channel" && !place && !isOpenToOthers(run);
}

/** Whether anybody may have written what a run reads: a webhook began it or made its session, its heartbeat reads what one said, or it is the run of a group. */
function isOpenToOthers({ request, session, events }: Origin): boolean {
  if (request.trigger === "hook" || request.actor.kind === "hook") return true;
  if (session.kind === "group" || normalizedSessionKey(session.key).startsWith(HOOK_SESSION)) return true;
  return request.trigger === "heartbeat" && events.some(({ source }) => source === "hook");
}

/** Tools that a run is narrowed to: one that is open to others changes no files, unless the list of its group names the tool. */
export function narrowedTools(run: Origin & { request: Pick<RunRequest, "tools"> }): RunRequest["tools"] {
  const { tools } = run.request;
  if (!isOpenToOthers(run)) return tools;
  const kept = fileTools.filter((tool) => !tools?.allow?.includes(tool));
  return { ...tools, deny: [...(tools?.deny ?? []), ...kept] };
}
