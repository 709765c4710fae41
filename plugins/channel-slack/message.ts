import { type InboundEvent, isRecord } from "svc/sdk";
import { messageId } from "./ids.ts";
import type { CommandPayload, Self, SlackEvent, SlackFile } from "./payloads.ts";
import { plainText } from "./read-text.ts";

/** Messages of these kinds were said by somebody; all others report edits, deletions, members that come and go. */
const SPOKEN = new Set([undefined, "file_share", "me_message", "thread_broadcast", "bot_message"]);

/** Surroundings in which a message is read. */
export interface Reading {
  self: Self;
  teamId: string | undefined;
  replyInThread: boolean;
  /** Names of persons and channels by id, as far as they are known. */
  names: ReadonlyMap<string, string>;
  /** True for a thread in which the bot has written. */
  isOwnThread(channel: string, ts: string): boolean;
}

/** True for a message that somebody else said. */
export function isSpoken({ type, subtype, channel, ts, user, bot_id: bot }: SlackEvent, self: Self): boolean {
  if (type !== "message" && type !== "app_mention") return false;
  if (!SPOKEN.has(subtype) || typeof channel !== "string" || typeof ts !== "string") return false;
  if (user === undefined && bot === undefined) return false;
  return user !== self.userId && (bot === undefined || bot !== self.botId);
}

/** A message as the host takes it; undefined for one without text and files. The id is the same for `message` and `app_mention`, which come both. Pure. */
export function toEvent(event: SlackEvent, reading: Reading): InboundEvent | undefined {
  const { self, names } = reading;
  const { channel = "", ts = "", user, bot_id: bot, thread_ts: thread, parent_user_id: parent, text: raw = "" } = event;
  const text = withoutOwnName(raw, self, names);
  if (text === "" && filesOf(event).length === 0) return undefined;
  const isDirect = isDirectMessage(event);
  const senderId = user ?? (bot as string);
  const name = names.get(senderId) ?? event.bot_profile?.name ?? event.username;
  const isReply = thread !== undefined && thread !== ts;
  const isReplyToBot = isReply && parent === self.userId;
  const threadId = thread ?? (reading.replyInThread && !isDirect ? ts : undefined);
  const peerName = names.get(channel);
  return {
    id: messageId(channel, ts),
    chatType: isDirect ? "direct" : "group",
    // A direct conversation is known by its person: allow-lists and pairing name that one.
    peer: isDirect
      ? { id: senderId, ...(name === undefined ? {} : { name }) }
      : { id: channel, ...(peerName === undefined ? {} : { name: `#${peerName}` }) },
    sender: { id: senderId, ...(name === undefined ? {} : { name }), ...(bot === undefined ? {} : { isBot: true }) },
    ...(threadId === undefined ? {} : { threadId }),
    ...(reading.teamId === undefined ? {} : { teamId: reading.teamId }),
    text,
    ...(isReply
      ? {
          replyTo: {
            id: messageId(channel, thread),
            ...(parent === undefined ? {} : { senderId: parent }),
            ...(isReplyToBot ? { isBot: true } : {}),
          },
        }
      : {}),
    ...(isDirect ? {} : { mentions: { explicit: isMentioned(event, self), implicit: implicitMentions(event, reading, isReplyToBot) } }),
    providerAt: Math.round(Number(ts) * 1_000),
  };
}

function implicitMentions({ channel = "", thread_ts: thread }: SlackEvent, reading: Reading, isReplyToBot: boolean): string[] {
  const takesPart = thread !== undefined && reading.isOwnThread(channel, thread);
  return [...(isReplyToBot ? ["replyToBot"] : []), ...(takesPart ? ["threadParticipation"] : [])];
}

/** True for a conversation of two. */
export function isDirectMessage({ channel_type: type, channel = "" }: SlackEvent): boolean {
  return type === undefined ? channel.startsWith("D") : type === "im";
}

function isMentioned({ type, text = "" }: SlackEvent, { userId }: Self): boolean {
  return type === "app_mention" || text.includes(`<@${userId}>`) || text.includes(`<@${userId}|`);
}

/** Text as people see it. The bot's name at its start says only whom it is for: `@svc /new` is `/new`. */
function withoutOwnName(raw: string, self: Self, names: ReadonlyMap<string, string>): string {
  const [own = ""] = /^\s*<@[A-Z0-9]{2,31}(?:\|[^<>]*)?>\s*/.exec(raw) ?? [];
  const isOwn = own.includes(`<@${self.userId}>`) || own.includes(`<@${self.userId}|`);
  const rest = isOwn ? raw.slice(own.length) : raw;
  return plainText(rest === "" ? raw : rest, new Map([...names, [self.userId, self.name]]));
}

/** Files of a message. Those that were removed are left out. */
export function filesOf({ files }: SlackEvent): SlackFile[] {
  return Array.isArray(files) ? files.filter((file) => isRecord(file) && file.mode !== "tombstone") : [];
}

/** A slash command as a message of whoever gave it. In a direct conversation the answer goes to that person, wherever the command was typed. Pure. */
export function commandToEvent(payload: CommandPayload): InboundEvent {
  const {
    channel_id: channel,
    channel_name: channelName,
    user_id: user,
    user_name: name,
    text = "",
    trigger_id: trigger,
    team_id: team,
  } = payload;
  const isDirect = channelName === "directmessage" || channel.startsWith("D");
  const sender = { id: user, ...(name === undefined ? {} : { name }) };
  return {
    id: `command:${trigger}`,
    chatType: isDirect ? "direct" : "group",
    peer: isDirect ? sender : { id: channel, ...(channelName === undefined ? {} : { name: `#${channelName}` }) },
    sender,
    ...(team === undefined ? {} : { teamId: team }),
    // The text of a command is escaped only where the app asks for it; then it names persons by their ids.
    text: text.trim() === "" ? "/help" : plainText(text, new Map()),
    ...(isDirect ? {} : { mentions: { explicit: true, implicit: [] } }),
  };
}
