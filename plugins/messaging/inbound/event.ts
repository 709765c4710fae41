import { cleanExternalLine, cutEnd, type InboundEvent, isRecord } from "svc/sdk";
import { toIdText, toWellFormed } from "svc/sdk/internal";
import type { SavedMedia } from "../media/media-store.ts";

/** Longest text that is taken over, in UTF-16 units; what comes after is left out, and the agent is told. As JSON it fits into a row whatever it is made of. */
export const MAX_TEXT_CHARS = 32 * 1024;
/** Longest id of an event, a person or a conversation. */
const MAX_ID_CHARS = 500;
const MAX_NAME_CHARS = 200;
/** Longest text of the message that an event answers. */
const MAX_QUOTED_CHARS = 1_000;
/** Attachments of one message, and the bytes of those that are kept. */
const MAX_MEDIA = 10;
const MAX_MEDIA_BYTES = 40 * 1024 * 1024;
const MAX_ROLES = 100;

/** Files that an account has saved, for the message that names them. */
export interface EventFiles {
  find(path: string): SavedMedia | undefined;
  /** The message keeps this one. */
  keep(path: string): void;
}

const nothingSaved: EventFiles = { find: () => undefined, keep: () => undefined };

/**
 * A message as its adapter gave it, in bounds: ids that a database gives back as they were, names on one line without marks that turn writing around, a text of
 * bounded length. An adapter may be anybody's code, and what it passes on is a stranger's.
 * @param saved tells which files the account has saved; no other path is taken over
 * @throws {TypeError} for one that names no event, sender or conversation
 */
export function toEvent(given: InboundEvent, saved: EventFiles = nothingSaved): InboundEvent {
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
    ...(threadId === undefined ? {} : { threadId: idOf(threadId, "the thread"), ...(given.isTopic === true ? { isTopic: true } : {}) }),
    ...(parentPeerId === undefined ? {} : { parentPeerId: idOf(parentPeerId, "the parent conversation") }),
    ...(teamId === undefined ? {} : { teamId: idOf(teamId, "the team") }),
    text: textOf(given.text, Array.isArray(media) ? media.length : 0),
    ...(Array.isArray(media) && media.length > 0 ? { media: attachmentsOf(media, saved) } : {}),
    ...(replyTo && typeof replyTo.id === "string" ? { replyTo: quotedOf(replyTo) } : {}),
    ...(mentions ? { mentions: { explicit: mentions.explicit === true, implicit: (mentions.implicit ?? []).slice(0, MAX_ROLES) } } : {}),
  };
}

function idOf(value: unknown, what: string): string {
  if (typeof value !== "string" || value === "") throw new TypeError(`expected an id of ${what}`);
  if (value.length > MAX_ID_CHARS)
    throw new TypeError(`the id of ${what} has ${value.length} characters; expected at most ${MAX_ID_CHARS}`);
  return toIdText(value);
}

function quotedOf({ id, text, senderId, isBot }: NonNullable<InboundEvent["replyTo"]>): NonNullable<InboundEvent["replyTo"]> {
  const quoted = typeof text === "string" ? withoutControls(toWellFormed(cutEnd(text, MAX_QUOTED_CHARS))) : "";
  return {
    id: toIdText(id.slice(0, MAX_ID_CHARS)),
    ...(quoted.trim() === "" ? {} : { text: quoted }),
    ...(typeof senderId === "string" && senderId !== "" ? { senderId: toIdText(senderId.slice(0, MAX_ID_CHARS)) } : {}),
    ...(isBot === true ? { isBot: true } : {}),
  };
}

/** Control characters say nothing to an agent and do something to a terminal; without them a row has at most three bytes for a character. */
function withoutControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  return text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g, "");
}

type Attachments = NonNullable<InboundEvent["media"]>;

/** Foreign texts about files, and the place, size and type of those that were saved. */
function attachmentsOf(given: Attachments, saved: EventFiles): Attachments {
  let left = MAX_MEDIA_BYTES;
  return given.slice(0, MAX_MEDIA).map(({ kind, mime, name, path }) => {
    const about = { kind: named(kind).name ?? "file", mime: named(mime).name ?? "", ...named(fileName(name)) };
    const file = typeof path === "string" ? saved.find(path) : undefined;
    if (!file || file.bytes > left) return about;
    left -= file.bytes;
    saved.keep(file.path);
    return { ...about, ...file };
  });
}

/** The last part of a path. */
function fileName(name: unknown): string | undefined {
  return typeof name === "string" ? name.slice(-1_000).split(/[\\/]/).at(-1) : undefined;
}

function named(name: unknown): { name?: string } {
  if (typeof name !== "string") return {};
  const clean = cleanExternalLine(toWellFormed(name)).slice(0, MAX_NAME_CHARS);
  return clean === "" ? {} : { name: toWellFormed(clean) };
}

function textOf(text: unknown, files: number): string {
  const whole = typeof text === "string" ? text : "";
  const cut =
    whole.length <= MAX_TEXT_CHARS
      ? whole
      : `${whole.slice(0, MAX_TEXT_CHARS)}\n[… ${whole.length - MAX_TEXT_CHARS} characters left out …]`;
  const more = files > MAX_MEDIA ? `\n[… ${files - MAX_MEDIA} attachments left out …]` : "";
  return `${withoutControls(toWellFormed(cut))}${more}`;
}
