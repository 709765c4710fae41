import { normalizedSessionKey } from "svc/sdk";
import type { SidecarSettings } from "./settings.ts";

export type ChatType = "direct" | "group" | "channel";

/** Session that asks, as the rules of the scope see it. */
export interface ScopedSession {
  /** Lower-case, with `agent:<id>:`. */
  rawKey: string;
  /** Without it. */
  key: string;
  channel: string | undefined;
  /** Undefined: of a helper whose parent is not known. */
  chatType: ChatType | undefined;
}

/** Where keys of helpers have their mark. */
const HELPER = "subagent";
/** Helpers of helpers are followed this far. */
const MAX_PARENTS = 8;

export function isHelperKey(key: string): boolean {
  return normalizedSessionKey(key).split(":").includes(HELPER);
}

/**
 * The session whose chat decides: that of a helper is its parent's.
 * @param parentOf key of the session that made this one; undefined when nobody knows
 */
export async function scopedSession(
  sessionKey: string | undefined,
  parentOf: (key: string) => Promise<string | undefined>,
): Promise<ScopedSession> {
  if (sessionKey === undefined) return { rawKey: "", key: "", channel: undefined, chatType: "direct" };
  let key: string | undefined = sessionKey;
  for (let parents = 0; key !== undefined && isHelperKey(key) && parents < MAX_PARENTS; parents++) key = await parentOf(key);
  if (key === undefined || isHelperKey(key)) return { ...keysOf(sessionKey), channel: undefined, chatType: undefined };
  return { ...keysOf(key), ...chatOf(normalizedSessionKey(key)) };
}

/** Is this session given results of the engine? The first rule whose every field matches decides. Pure. */
export function isInScope(scope: SidecarSettings["scope"], session: ScopedSession): boolean {
  if (session.chatType === undefined) return false;
  const rule = scope.rules.find(({ match }) => matches(match, session));
  return (rule?.action ?? scope.default) === "allow";
}

type Match = SidecarSettings["scope"]["rules"][number]["match"];

function matches({ channel, chatType, keyPrefix, rawKeyPrefix }: Match, session: ScopedSession): boolean {
  if (channel !== undefined && channel.toLowerCase() !== session.channel) return false;
  if (chatType !== undefined && chatType !== session.chatType) return false;
  if (rawKeyPrefix !== undefined && !session.rawKey.startsWith(rawKeyPrefix.toLowerCase())) return false;
  if (keyPrefix === undefined) return true;
  const prefix = keyPrefix.toLowerCase();
  return (prefix.startsWith("agent:") ? session.rawKey : session.key).startsWith(prefix);
}

function keysOf(sessionKey: string): Pick<ScopedSession, "rawKey" | "key"> {
  return { rawKey: sessionKey.toLowerCase(), key: normalizedSessionKey(sessionKey) };
}

/** Channel and kind of chat by a key such as `telegram:group:1`. */
function chatOf(key: string): Pick<ScopedSession, "channel"> & { chatType: ChatType } {
  const [first = "", second = ""] = key.split(":");
  const channel = key.includes(":") ? first : undefined;
  if (second === "group" || second === "channel") return { channel, chatType: second };
  if (second === "direct" || second === "dm") return { channel, chatType: "direct" };
  if (key.includes(":group:")) return { channel, chatType: "group" };
  return { channel, chatType: key.includes(":channel:") ? "channel" : "direct" };
}
