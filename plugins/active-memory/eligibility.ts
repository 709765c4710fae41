import { mainSessionKey, normalizedSessionKey, type RunSurface, type SessionRow } from "svc/sdk";
import { type ChatType, chatTypes, type Settings } from "./settings.ts";

/** Part of the keys of searches: no search is made for one. */
export const OWN_KEY = "active-memory";

/** A run whose prompt is being built. */
export interface AskedRun {
  agentId: string;
  sessionKey: string;
  trigger: string;
  surface: RunSurface;
  /** Names of the tools that it may call. */
  tools: readonly string[];
}

/** Reason why no memory is searched for a run. */
export type Ineligible = "disabled" | "agent" | "trigger" | "surface" | "session" | "own-search" | "chat-type" | "tools" | "helper";

/**
 * Kind of a conversation by the key of its session. The main session is direct where the message came from a channel or the web chat; undefined: nobody knows.
 */
export function chatTypeOf(sessionKey: string, { agentId, surface }: Pick<AskedRun, "agentId" | "surface">): ChatType | undefined {
  if (sessionKey === mainSessionKey(agentId)) return isConversation(surface) ? "direct" : undefined;
  const parts = normalizedSessionKey(sessionKey).split(":");
  const named = parts.find((part, at) => at > 0 && (part === "dm" || chatTypes.includes(part as ChatType)));
  return named === "dm" ? "direct" : (named as ChatType | undefined);
}

/** Reason why a run gets no search, as far as its event tells; undefined: it may. Pure. */
export function ineligibility(run: AskedRun, settings: Pick<Settings, "enabled" | "agents" | "allowedChatTypes">): Ineligible | undefined {
  const { agentId, sessionKey, trigger, surface, tools } = run;
  if (!settings.enabled) return "disabled";
  if (!settings.agents.includes(agentId)) return "agent";
  if (trigger !== "user") return "trigger";
  if (sessionKey === "") return "session";
  if (sessionKey.split(":").includes(OWN_KEY)) return "own-search";
  if (!isConversation(surface)) return "surface";
  const type = chatTypeOf(sessionKey, { agentId, surface });
  if (type === undefined || !settings.allowedChatTypes.includes(type)) return "chat-type";
  return tools.includes("memory_search") ? undefined : "tools";
}

/** Whether a session is that of a helper, which works for another one. */
export function isHelper(session: Pick<SessionRow, "spawnedBy"> | undefined): boolean {
  return session?.spawnedBy !== undefined;
}

function isConversation(surface: RunSurface): boolean {
  return surface === "webchat" || surface === "channel";
}
