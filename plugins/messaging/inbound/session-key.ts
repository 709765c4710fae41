import { createHash } from "node:crypto";
import { type InboundEvent, mainSessionKey, type SvcConfig } from "svc/sdk";

/** Longest id that stands in a key as it is; a key has 512 characters at most. */
const MAX_ID_CHARS = 120;

export interface KeyPlace {
  agentId: string;
  channel: string;
  accountId: string;
  isCaseSensitive: boolean;
}

type KeyRules = Pick<SvcConfig["session"], "dmScope" | "identityLinks">;

/**
 * Session of a message. Direct messages go by `session.dmScope`, and by the sender's own id: whoever takes on a name does not get the talks of the one before.
 * Groups have a session each, threads and topics one of their own below it. Pure.
 */
export function sessionKeyOf(event: InboundEvent, place: KeyPlace, rules: KeyRules): string {
  const base = event.chatType === "direct" ? directKey(event.sender.id, place, rules) : groupKey(event, place);
  return event.threadId === undefined ? base : `${base}:${event.isTopic ? "topic" : "thread"}:${keyPart(event.threadId, true)}`;
}

function directKey(senderId: string, { agentId, channel, accountId, isCaseSensitive }: KeyPlace, rules: KeyRules): string {
  if (rules.dmScope === "main") return mainSessionKey(agentId);
  const peer = keyPart(linkedName(channel, senderId, { links: rules.identityLinks, isCaseSensitive }) ?? senderId, isCaseSensitive);
  if (rules.dmScope === "per-peer") return `agent:${agentId}:direct:${peer}`;
  if (rules.dmScope === "per-channel-peer") return `agent:${agentId}:${channel}:direct:${peer}`;
  return `agent:${agentId}:${channel}:${keyPart(accountId, false)}:direct:${peer}`;
}

function groupKey({ chatType, peer }: InboundEvent, { agentId, channel, isCaseSensitive }: KeyPlace): string {
  return `agent:${agentId}:${channel}:${chatType}:${keyPart(peer.id, isCaseSensitive)}`;
}

/** The person that `session.identityLinks` knows the sender as. */
export function linkedName(
  channel: string,
  id: string,
  { links, isCaseSensitive }: { links: KeyRules["identityLinks"]; isCaseSensitive: boolean },
): string | undefined {
  const wanted = folded(`${channel}:${id}`, isCaseSensitive);
  return Object.entries(links).find(([, peers]) => peers.some((peer) => folded(peer, isCaseSensitive) === wanted))?.[0];
}

/** An id as one part of a key: a colon in it begins no further part, and a long one is named by its digest. */
export function keyPart(id: string, isCaseSensitive: boolean): string {
  const text = folded(id, isCaseSensitive).replaceAll("%", "%25").replaceAll(":", "%3A");
  if (text.length <= MAX_ID_CHARS) return text;
  return `sha256-${createHash("sha256").update(folded(id, isCaseSensitive)).digest("hex")}`;
}

function folded(text: string, isCaseSensitive: boolean): string {
  return isCaseSensitive ? text : text.toLowerCase();
}
