import type { InboundEvent } from "svc/sdk";
import { messageId, threadId } from "./ids.ts";
import type { Place } from "./places.ts";
import { CHANNEL_TYPES, type Interaction, type Message, SPOKEN_TYPES, type User } from "./wire.ts";

/**
 * A message as the host takes it. Undefined for what nobody said. Pure.
 * @param place of a message in a server; undefined for a direct one
 */
export function toEvent(message: Message, place: Place | undefined, self: User): InboundEvent | undefined {
  const text = textOf(message, self);
  if (!SPOKEN_TYPES.includes(message.type) || (text === "" && (message.attachments ?? []).length === 0)) return undefined;
  const { author, referenced_message: answered } = message;
  const reference = message.message_reference;
  // Type 1 is a forwarded message.
  const isReply = reference?.message_id !== undefined && (reference.type ?? 0) === 0;
  const isReplyToBot = isReply && answered?.author?.id === self.id;
  const providerAt = Date.parse(message.timestamp ?? "");
  return {
    id: messageId(message.channel_id, message.id),
    ...whereOf(message, place, author),
    sender: {
      ...senderOf(author, message.member),
      ...(author.bot === true || message.webhook_id !== undefined ? { isBot: true } : {}),
      ...(author.id === self.id ? { isSelf: true } : {}),
    },
    text,
    ...(isReply
      ? {
          replyTo: {
            id: messageId(reference.channel_id ?? message.channel_id, reference.message_id as string),
            ...(answered?.content ? { text: answered.content } : {}),
            ...(answered?.author ? { senderId: answered.author.id } : {}),
            ...(isReplyToBot ? { isBot: true } : {}),
          },
        }
      : {}),
    // Discord lists whom an answer notifies as mentioned, too: only the text counts.
    ...(place ? { mentions: { explicit: isNamed(message.content, self), implicit: isReplyToBot ? ["replyToBot"] : [] } } : {}),
    ...(Number.isFinite(providerAt) ? { providerAt } : {}),
  };
}

/** A slash command as the host takes it: the text that gives the same command. Undefined for one that cannot be answered. Pure. */
export function toCommand(interaction: Interaction, place: Place | undefined, id: string): InboundEvent | undefined {
  const { data, member, channel_id: channelId } = interaction;
  const user = member?.user ?? interaction.user;
  if (!user || channelId === undefined || data?.name === undefined) return undefined;
  return {
    id,
    ...whereOf({ channel_id: channelId, ...(interaction.guild_id === undefined ? {} : { guild_id: interaction.guild_id }) }, place, user),
    sender: senderOf(user, member),
    text: `/${data.name}`,
    ...(place ? { mentions: { explicit: true, implicit: [] } } : {}),
  };
}

function whereOf(
  { channel_id: channelId, guild_id: guildId }: Pick<Message, "channel_id" | "guild_id">,
  place: Place | undefined,
  author: User,
): Pick<InboundEvent, "chatType" | "peer" | "threadId" | "parentPeerId" | "teamId"> {
  if (!place) return { chatType: "direct", peer: { id: channelId, name: nameOf(author) } };
  return {
    chatType: place.type === CHANNEL_TYPES.announcement ? "channel" : "group",
    peer: { id: place.channelId, ...(place.name === undefined ? {} : { name: place.name }) },
    ...(place.threadId === undefined ? {} : { threadId: threadId(place.threadId), parentPeerId: place.channelId }),
    ...(guildId === undefined ? {} : { teamId: guildId }),
  };
}

function senderOf(user: User, member: Message["member"]): InboundEvent["sender"] {
  const shown = member?.nick || nameOf(user);
  return {
    id: user.id,
    name: shown === user.username ? shown : `${shown} (${user.username})`,
    ...(Array.isArray(member?.roles) ? { roles: member.roles.map(String) } : {}),
  };
}

function nameOf({ global_name: name, username }: User): string {
  return name || username;
}

function isNamed(content: string, { id }: User): boolean {
  return content.includes(`<@${id}>`) || content.includes(`<@!${id}>`);
}

/** Text without the bot's own name before it, and with names in place of the ids of people. */
function textOf({ content, mentions = [], sticker_items: stickers = [] }: Message, self: User): string {
  const names = new Map(mentions.map((user) => [user.id, nameOf(user)]));
  const text = content
    .replace(/^\s*<@!?(\d{1,20})>\s*/, (whole, id: string) => (id === self.id ? "" : whole))
    .replace(/<@!?(\d{1,20})>/g, (whole, id: string) => (names.has(id) ? `@${names.get(id)}` : whole));
  if (text !== "" || stickers.length === 0) return text;
  return stickers.map(({ name }) => `[sticker: ${name ?? "?"}]`).join(" ");
}
