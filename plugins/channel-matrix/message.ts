import type { InboundEvent } from "svc/sdk";
import { type MatrixEvent, recordOf, textOf } from "./events.ts";
import { isEventId, mxcOf, threadId } from "./ids.ts";

/** A file of a message, before it is fetched. */
export interface Attachment {
  kind: string;
  mime: string;
  name: string | undefined;
  bytes: number | undefined;
  /** Undefined for a file that is encrypted, or nowhere. */
  at: { server: string; id: string } | undefined;
}

/** The account as others see it. */
export interface Self {
  userId: string;
  name: string | undefined;
}

/** Facts about the place of a message that are not in the event itself. */
export interface Surroundings {
  self: Self;
  roomId: string;
  roomName: string | undefined;
  senderName: string | undefined;
  isDirect: boolean;
  /** The message that is answered, as far as it is known. */
  replied: { sender: string; text: string | undefined } | undefined;
  /** True for a thread in which the account has written. */
  isOwnThread: boolean;
}

const KINDS: Readonly<Record<string, readonly [kind: string, mime: string]>> = {
  "m.image": ["image", "image/jpeg"],
  "m.audio": ["audio", "audio/ogg"],
  "m.video": ["video", "video/mp4"],
  "m.file": ["file", "application/octet-stream"],
};
const TEXTS = new Set(["m.text", "m.emote", "m.location"]);
/** Longest formatted text that is searched for a mention. */
const MAX_HTML_CHARS = 65_536;

/** True for a message that somebody wrote: no notice of a program, no edit, nothing redacted. */
export function isSpoken({ type, content }: MatrixEvent): boolean {
  if (type !== "m.room.message" || recordOf(content["m.relates_to"]).rel_type === "m.replace") return false;
  return typeof content.msgtype === "string" && (TEXTS.has(content.msgtype) || Object.hasOwn(KINDS, content.msgtype));
}

/** Events that a message stands in relation to. */
export function relationsOf({ content }: MatrixEvent): { thread: string | undefined; reply: string | undefined } {
  const relation = recordOf(content["m.relates_to"]);
  const reply = recordOf(relation["m.in_reply_to"]).event_id;
  const thread = relation.rel_type === "m.thread" ? relation.event_id : undefined;
  // Clients without threads show an answer to the last message of the thread, which nobody has written as one.
  const isFallback = thread !== undefined && relation.is_falling_back === true;
  return {
    thread: typeof thread === "string" && isEventId(thread) ? thread : undefined,
    reply: typeof reply === "string" && isEventId(reply) && !isFallback ? reply : undefined,
  };
}

/** A message as the host takes it. Pure. @param event one that {@link isSpoken} */
export function toEvent(event: MatrixEvent, around: Surroundings): InboundEvent {
  const { self, roomId, roomName, senderName, isDirect, replied, isOwnThread } = around;
  const { thread, reply } = relationsOf(event);
  const isReplyToBot = replied?.sender === self.userId;
  const implicit = [...(isReplyToBot ? ["replyToBot"] : []), ...(isOwnThread ? ["threadParticipation"] : [])];
  return {
    id: event.event_id,
    chatType: isDirect ? "direct" : "group",
    peer: { id: roomId, ...(roomName === undefined ? {} : { name: roomName }) },
    sender: { id: event.sender, ...(senderName === undefined ? {} : { name: senderName }) },
    ...(thread === undefined ? {} : { threadId: threadId(thread) }),
    text: wordsOf(event),
    ...(reply === undefined
      ? {}
      : {
          replyTo: {
            id: reply,
            ...(replied?.text === undefined ? {} : { text: replied.text }),
            ...(replied === undefined ? {} : { senderId: replied.sender }),
            ...(isReplyToBot ? { isBot: true } : {}),
          },
        }),
    ...(isDirect ? {} : { mentions: { explicit: isMentioned(event, self), implicit } }),
    ...(event.origin_server_ts === undefined ? {} : { providerAt: event.origin_server_ts }),
  };
}

/** Text of a message: that of a file is its caption, as its body is a name otherwise. */
export function wordsOf(event: MatrixEvent): string {
  const { content } = event;
  const body = textOf(content.body) ?? "";
  const isFile = Object.hasOwn(KINDS, String(content.msgtype));
  if (isFile) return typeof content.filename === "string" && content.filename !== body ? body : "";
  return relationsOf(event).reply === undefined ? body : withoutQuote(body);
}

/** Older clients put the text that is answered before the answer, in lines that begin with `> `. */
function withoutQuote(body: string): string {
  if (!body.startsWith("> <") && !body.startsWith("> * <")) return body;
  let at = 0;
  while (body.startsWith(">", at)) {
    const end = body.indexOf("\n", at);
    if (end < 0) return "";
    at = end + 1;
  }
  return body.slice(body.startsWith("\n", at) ? at + 1 : at);
}

/** Clients say whom a message means. Without that, it is a link to the account or its id; the host looks for its name. */
function isMentioned({ content }: MatrixEvent, { userId }: Self): boolean {
  const mentions = content["m.mentions"];
  if (mentions !== undefined) {
    const ids = recordOf(mentions).user_ids;
    return Array.isArray(ids) && ids.includes(userId);
  }
  const html = textOf(content.formatted_body, MAX_HTML_CHARS) ?? "";
  const link = `https://matrix.to/#/${userId}`;
  return (
    html.includes(`${link}"`) ||
    html.includes(`${link.replace(userId, encodeURIComponent(userId))}"`) ||
    holds(textOf(content.body) ?? "", userId)
  );
}

/** True when the id stands in the text, and nothing that could make it longer behind it. */
function holds(text: string, userId: string): boolean {
  const at = text.indexOf(userId);
  return at >= 0 && !/^[\w.:-]*\w/.test(text.slice(at + userId.length, at + userId.length + 10));
}

/** The file of a message. */
export function attachmentOf({ content }: MatrixEvent): Attachment | undefined {
  const kind = KINDS[String(content.msgtype)];
  if (!kind) return undefined;
  const info = recordOf(content.info);
  const mime = textOf(info.mimetype, 100);
  return {
    kind: kind[0],
    mime: mime !== undefined && /^[\w.+-]+\/[\w.+-]+$/.test(mime) ? mime : kind[1],
    name: textOf(content.filename, 200) ?? textOf(content.body, 200),
    bytes: typeof info.size === "number" && Number.isSafeInteger(info.size) && info.size >= 0 ? info.size : undefined,
    at: mxcOf(content.url),
  };
}
