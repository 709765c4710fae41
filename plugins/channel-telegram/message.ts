import type { InboundEvent } from "svc/sdk";
import { messageId, threadId } from "./ids.ts";
import type { Chat, Entity, FileInfo, Message, User } from "./updates.ts";

/** A file of a message, before it is fetched. */
export interface Attachment {
  kind: string;
  mime: string;
  file: FileInfo;
}

/**
 * Messages as the host takes them: one, or the parts of a group of pictures, which people see as one. Undefined for what nobody said. Pure.
 * @param messages not empty
 */
export function toEvent(messages: readonly Message[], id: string, self: User): InboundEvent | undefined {
  const [first] = messages as [Message];
  const { chat } = first;
  const sender = senderOf(first);
  const spoken = messages.find(({ text, caption }) => (text ?? caption ?? "") !== "") ?? first;
  const text = spoken.text ?? spoken.caption ?? first.sticker?.emoji ?? "";
  const entities = spoken.entities ?? spoken.caption_entities ?? [];
  if (!sender || (text === "" && messages.every((message) => attachmentOf(message) === undefined))) return undefined;
  const replied = first.reply_to_message;
  // In a topic everything answers the message that opened it.
  const isReply = replied !== undefined && replied.forum_topic_created === undefined;
  const isReplyToBot = isReply && replied.from?.id === self.id;
  const isDirect = chat.type === "private";
  return {
    id,
    chatType: isDirect ? "direct" : chat.type === "channel" ? "channel" : "group",
    peer: { id: String(chat.id), name: nameOfChat(chat) },
    sender: { ...sender, ...(first.from?.id === self.id ? { isSelf: true } : {}) },
    ...(first.is_topic_message && first.message_thread_id !== undefined
      ? { threadId: threadId(first.message_thread_id), isTopic: true }
      : {}),
    text: withoutOwnName(text, entities, self),
    ...(isReply
      ? {
          replyTo: {
            id: messageId(chat.id, replied.message_id),
            ...(replied.text === undefined ? {} : { text: replied.text }),
            ...(replied.from === undefined ? {} : { senderId: String(replied.from.id) }),
            ...(isReplyToBot ? { isBot: true } : {}),
          },
        }
      : {}),
    ...(isDirect ? {} : { mentions: { explicit: isMentioned(text, entities, self), implicit: isReplyToBot ? ["replyToBot"] : [] } }),
    providerAt: first.date * 1_000,
  };
}

/** Somebody, or the chat in whose name they write: an anonymous administrator, a channel. */
function senderOf({ from, sender_chat: chat }: Message): InboundEvent["sender"] | undefined {
  if (chat) return { id: String(chat.id), name: nameOfChat(chat) };
  if (!from) return undefined;
  const name = [from.first_name, from.last_name].filter(Boolean).join(" ");
  return {
    id: String(from.id),
    name: from.username === undefined ? name : `${name} (@${from.username})`,
    ...(from.is_bot ? { isBot: true } : {}),
  };
}

function nameOfChat({ title, first_name: first, last_name: last, username, id }: Chat): string {
  return title ?? ([first, last].filter(Boolean).join(" ") || username || String(id));
}

function isMentioned(text: string, entities: readonly Entity[], self: User): boolean {
  const own = `@${self.username ?? ""}`.toLowerCase();
  return entities.some(({ type, offset, length, user }) => {
    const part = text.slice(offset, offset + length).toLowerCase();
    if (type === "mention") return part === own;
    if (type === "text_mention") return user?.id === self.id;
    return type === "bot_command" && part.endsWith(own);
  });
}

/** In groups commands carry the bot's name: `/new@my_bot` is `/new`. */
function withoutOwnName(text: string, entities: readonly Entity[], { username }: User): string {
  const command = entities.find(({ type, offset }) => type === "bot_command" && offset === 0);
  const own = `@${username ?? ""}`;
  if (!command || !text.slice(0, command.length).toLowerCase().endsWith(own.toLowerCase())) return text;
  return text.slice(0, command.length - own.length) + text.slice(command.length);
}

/** The file of a message; of a picture its largest form. */
export function attachmentOf(message: Message): Attachment | undefined {
  const { photo, document, audio, voice, video, video_note: note, animation } = message;
  const largest = photo?.at(-1);
  if (largest) return { kind: "image", mime: "image/jpeg", file: largest };
  // An animation comes as a document as well.
  const kinds = [
    ["video", animation ?? video ?? note, "video/mp4"],
    ["audio", audio ?? voice, "audio/ogg"],
    ["file", document, "application/octet-stream"],
  ] as const;
  for (const [kind, file, mime] of kinds) if (file) return { kind, mime: file.mime_type ?? mime, file };
  return undefined;
}
