import { normalizedSessionKey, type RunOrigin, type RunRequest, type SessionRow, type SystemEventRow } from "svc/sdk";
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

/** The one of them that owners have in their direct conversations on channels: reminders are for people. */
const OWNERS_TOOL = "cron";

/** Whether a run does without a tool because it is for the operator. */
export function isKeptBack(tool: string, { origin, isOwner = false }: { origin: RunOrigin; isOwner?: boolean | undefined }): boolean {
  if (origin === "operator" || !isOperatorTool(tool)) return false;
  return !(origin === "person" && isOwner && tool === OWNERS_TOOL);
}

interface Origin {
  request: Pick<RunRequest, "trigger" | "actor" | "place" | "origin">;
  session: Pick<SessionRow, "key" | "kind">;
  /** Events the run reads besides its message. */
  events: readonly Pick<SystemEventRow, "source">[];
}

/** Origin of a run: never better than that of the run that asks for it. */
export function originOf(run: Origin): RunOrigin {
  const { actor, place, origin } = run.request;
  const behind = origin === undefined ? originsOfEvents(run) : [origin, ...originsOfEvents(run)];
  if (behind.includes("anybody") || isOpenToOthers(run)) return "anybody";
  return behind.includes("person") || actor.kind === "channel" || place || isHeartbeatOfPerson(run) ? "person" : "operator";
}

/** Origins that the events of a heartbeat name behind their source, as in `spawn:person`: nobody else has asked for what it does. */
function originsOfEvents({ request, events }: Origin): string[] {
  return request.trigger === "heartbeat" ? events.map(({ source }) => source.slice(source.indexOf(":") + 1)) : [];
}

/** Whether a heartbeat reads the conversation that a person has on a channel. */
function isHeartbeatOfPerson({ request, session }: Origin): boolean {
  return request.trigger === "heartbeat" && normalizedSessionKey(session.key).split(":").includes("direct");
}

/** Origins by the people who have a word, the fewest first. */
const origins: readonly RunOrigin[] = ["operator", "person", "anybody"];

type Rights = Pick<RunRequest, "isOwner"> & { origin: RunOrigin };

/** Whether a message may join the turn of another run, in which it has a word from then on: not where that run may do what the message by itself may not. */
export function mayJoin(message: Rights, turn: Rights): boolean {
  if (origins.indexOf(message.origin) > origins.indexOf(turn.origin)) return false;
  return turn.origin !== "person" || turn.isOwner !== true || message.origin === "operator" || message.isOwner === true;
}

/** Whether anybody may have written what a run reads: a webhook began it or made its session, its heartbeat reads what one said, or it is the run of a group. */
function isOpenToOthers({ request, session, events }: Origin): boolean {
  if (request.trigger === "hook" || request.actor.kind === "hook") return true;
  if (session.kind === "group" || normalizedSessionKey(session.key).startsWith(HOOK_SESSION)) return true;
  return request.trigger === "heartbeat" && events.some(({ source }) => source === "hook");
}

/** Tools that a run is narrowed to: one in which anybody has a word changes no files, unless the list of its group names the tool. */
export function narrowedTools({ tools }: Pick<RunRequest, "tools">, origin: RunOrigin): RunRequest["tools"] {
  if (origin !== "anybody") return tools;
  const kept = fileTools.filter((tool) => !tools?.allow?.includes(tool));
  return { ...tools, deny: [...new Set([...(tools?.deny ?? []), ...kept])] };
}
