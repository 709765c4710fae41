import { createHash, randomUUID } from "node:crypto";
import type { InboundEvent } from "svc/sdk";
import { type Address, bareOf } from "./address.ts";
import { attrOf, childOf, childrenOf, textOf, type XmlElement } from "./xml.ts";

const NS_DELAY = "urn:xmpp:delay";
/** Marks of texts that stand in for something encrypted, which this channel cannot read. */
const encryptions = new Set(["eu.siacs.conversations.axolotl", "urn:xmpp:omemo:2", "jabber:x:encrypted", "urn:xmpp:openpgp:0"]);

interface Context {
  from: Address;
  isRoom: boolean;
  /** The account itself, `local@domain`. */
  self: string;
  /** Nick of the account in the room. */
  nick: string | undefined;
  /** Stable id of somebody in a room. */
  roomSender: string;
}

/** Text of a message that somebody wrote; empty for chat states, receipts, subjects and the like. */
export function bodyOf(stanza: XmlElement): string {
  const bodies = childrenOf(stanza, "body");
  const body = bodies.find((one) => !one.attrs.has("xml:lang")) ?? bodies[0];
  return cleanText(textOf(body));
}

/** True for a message whose text only says that the real one is encrypted. */
export function isEncrypted(stanza: XmlElement): boolean {
  return childrenOf(stanza).some(({ ns, name }) => encryptions.has(ns) || (name === "encryption" && ns === "urn:xmpp:eme:0"));
}

/** Moment at which a message that was kept was written; undefined for one of now. */
export function delayOf(stanza: XmlElement): { at: number | undefined } | undefined {
  const delay = childOf(stanza, "delay", NS_DELAY) ?? childOf(stanza, "x", "jabber:x:delay");
  if (!delay) return undefined;
  const at = Date.parse(attrOf(delay, "stamp"));
  return { at: Number.isNaN(at) ? undefined : at };
}

/** A message as the host takes it. */
export function toEvent(stanza: XmlElement, text: string, { from, isRoom, self, nick, roomSender }: Context): InboundEvent {
  const bare = bareOf(from);
  const shown = isRoom ? from.resource : from.local || from.domain;
  const delay = isRoom ? undefined : delayOf(stanza);
  const said = text.startsWith("/me ") ? `* ${shown} ${text.slice(4)}` : text;
  return {
    id: idOf(stanza, from, text),
    chatType: isRoom ? "group" : "direct",
    peer: { id: bare, name: isRoom ? from.local : shown },
    sender: { id: isRoom ? roomSender : bare, name: shown, ...(!isRoom && bare === self ? { isSelf: true } : {}) },
    text: said,
    ...(nick !== undefined && isNamed(text, nick) ? { mentions: { explicit: true, implicit: [] } } : {}),
    ...(delay?.at === undefined ? {} : { providerAt: delay.at }),
  };
}

/**
 * Id of a message: the same however often the server hands it over, and another for every other message. Ids are of the sender's making (some use one twice), so
 * sender and text go into it, too; nobody can take the place of somebody else's message. One without an id has that of its moment, or one of its own.
 */
function idOf(stanza: XmlElement, from: Address, text: string): string {
  const origin = attrOf(childOf(stanza, "origin-id", "urn:xmpp:sid:0"), "id") || attrOf(stanza, "id");
  const stamp = attrOf(childOf(stanza, "delay", NS_DELAY), "stamp");
  if (origin === "" && stamp === "") return randomUUID();
  const what = [bareOf(from), from.resource, origin || stamp, text].join("\0");
  return createHash("sha256").update(what).digest("base64url").slice(0, 32);
}

/** True when the text holds the nick as a word. The host knows one name of an account; in a room it may have another. */
function isNamed(text: string, nick: string): boolean {
  const [inside, name] = [text.toLowerCase(), nick.toLowerCase()];
  const isLetter = (char: string | undefined) => char !== undefined && /[\p{L}\p{N}_]/u.test(char);
  for (let at = inside.indexOf(name); at >= 0; at = inside.indexOf(name, at + 1)) {
    if (!isLetter(inside[at - 1]) && !isLetter(inside[at + name.length])) return true;
  }
  return false;
}

/** Text without characters that control a terminal; line ends and tabs are layout. */
function cleanText(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/(?![\n\t])\p{Cc}/gu, "");
}
