import { cleanExternalLine, type InboundEvent, isRecord } from "svc/sdk";
import { toIdText, toWellFormed } from "svc/sdk/internal";

/** Longest text that is taken over, in UTF-16 units; what comes after is left out, and the agent is told. As JSON it fits into a row whatever it is made of. */
export const MAX_TEXT_CHARS = 32 * 1024;
/** Longest id of an event, a person or a conversation. */
const MAX_ID_CHARS = 500;
const MAX_NAME_CHARS = 200;
const MAX_MEDIA = 10;
const MAX_ROLES = 100;

/**
 * A message as its adapter gave it, in bounds: ids that a database gives back as they were, names on one line without marks that turn writing around, a text of
 * bounded length. An adapter may be anybody's code, and what it passes on is a stranger's.
 * @throws {TypeError} for one that names no event, sender or conversation
 */
export function toEvent(given: InboundEvent): InboundEvent {
  const { id, chatType, peer, sender, threadId, parentPeerId, teamId, media, replyTo, mentions } = given;
  if (chatType !== "direct" && chatType !== "group" && chatType !== "channel")
    throw new TypeError(`unknown type of chat "${String(chatType)}"`);
  if (!isRecord(peer) || !isRecord(sender)) throw new TypeError("expected the peer and the sender of the message");
  return {
    id: idOf(id, "the event"),
    chatType,
    peer: { id: idOf(peer.id, "the conversation"), ...named(peer.name) },
    sender: {
      id: idOf(sender.id, "the sender"),
      ...named(sender.name),
      ...(sender.isBot === true ? { isBot: true } : {}),
      ...(sender.isSelf === true ? { isSelf: true } : {}),
      ...(Array.isArray(sender.roles) ? { roles: sender.roles.slice(0, MAX_ROLES).map(String) } : {}),
    },
    ...(threadId === undefined ? {} : { threadId: idOf(threadId, "the thread") }),
    ...(parentPeerId === undefined ? {} : { parentPeerId: idOf(parentPeerId, "the parent conversation") }),
    ...(teamId === undefined ? {} : { teamId: idOf(teamId, "the team") }),
    text: textOf(given.text),
    ...(Array.isArray(media) && media.length > 0 ? { media: media.slice(0, MAX_MEDIA).map(attachmentOf) } : {}),
    ...(replyTo && typeof replyTo.id === "string"
      ? { replyTo: { id: toIdText(replyTo.id), ...(replyTo.isBot === true ? { isBot: true } : {}) } }
      : {}),
    ...(mentions ? { mentions: { explicit: mentions.explicit === true, implicit: (mentions.implicit ?? []).slice(0, MAX_ROLES) } } : {}),
  };
}

function idOf(value: unknown, what: string): string {
  if (typeof value !== "string" || value === "") throw new TypeError(`expected an id of ${what}`);
  if (value.length > MAX_ID_CHARS)
    throw new TypeError(`the id of ${what} has ${value.length} characters; expected at most ${MAX_ID_CHARS}`);
  return toIdText(value);
}

/** Foreign texts about a file; the file itself is not read. */
function attachmentOf({ kind, mime, name }: NonNullable<InboundEvent["media"]>[number]): NonNullable<InboundEvent["media"]>[number] {
  return { kind: named(kind).name ?? "file", mime: named(mime).name ?? "", ...named(name) };
}

function named(name: unknown): { name?: string } {
  if (typeof name !== "string") return {};
  const clean = cleanExternalLine(toWellFormed(name)).slice(0, MAX_NAME_CHARS);
  return clean === "" ? {} : { name: toWellFormed(clean) };
}

function textOf(text: unknown): string {
  const whole = typeof text === "string" ? text : "";
  const cut =
    whole.length <= MAX_TEXT_CHARS
      ? whole
      : `${whole.slice(0, MAX_TEXT_CHARS)}\n[… ${whole.length - MAX_TEXT_CHARS} characters left out …]`;
  return toWellFormed(cut).replaceAll("\0", "");
}
