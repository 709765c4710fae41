/** Parts of Discord's objects that are read (discord.com/developers/docs/resources). Everything else that a field could hold is treated as absent. */
export interface User {
  id: string;
  username: string;
  global_name?: string | null;
  bot?: boolean;
}

export interface Attachment {
  filename?: string;
  content_type?: string;
  size?: number;
  url?: string;
}

export interface Message {
  id: string;
  channel_id: string;
  guild_id?: string;
  type: number;
  content: string;
  author: User;
  webhook_id?: string;
  member?: { nick?: string | null; roles?: string[] };
  mentions?: User[];
  attachments?: Attachment[];
  sticker_items?: Array<{ name?: string }>;
  message_reference?: { type?: number; message_id?: string; channel_id?: string };
  referenced_message?: { id: string; channel_id: string; content?: string; author?: User } | null;
  timestamp?: string;
}

export interface Interaction {
  id: string;
  application_id: string;
  type: number;
  token: string;
  channel_id?: string;
  guild_id?: string;
  channel?: DiscordChannel;
  data?: { name?: string };
  member?: { nick?: string | null; roles?: string[]; user?: User };
  user?: User;
}

export interface DiscordChannel {
  id: string;
  type: number;
  name?: string | null;
  parent_id?: string | null;
}

/** A frame of the gateway. */
export interface Frame {
  op: number;
  d?: unknown;
  s?: number | null;
  t?: string | null;
}

export const OPCODES = {
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  resume: 6,
  reconnect: 7,
  invalidSession: 9,
  hello: 10,
  heartbeatAck: 11,
} as const;

/** Kinds of events that are asked for (discord.com/developers/docs/events/gateway#gateway-intents). */
export const INTENTS = { guilds: 1 << 0, guildMessages: 1 << 9, directMessages: 1 << 12, messageContent: 1 << 15 } as const;

export const CHANNEL_TYPES = { dm: 1, announcement: 5, threads: [10, 11, 12] } as const;

/** Types of messages that a person has written: a message, and an answer to one. */
export const SPOKEN_TYPES: readonly number[] = [0, 19];

/** A slash command among the interactions. */
export const APPLICATION_COMMAND = 2;
