import { isRecord } from "svc/sdk";

/** Parts of the Bot API's objects that are read (core.telegram.org/bots/api). */
export interface Update {
  update_id: number;
  message?: Message;
  channel_post?: Message;
}

export interface User {
  id: number;
  is_bot: boolean;
  first_name: string;
  last_name?: string;
  username?: string;
  can_read_all_group_messages?: boolean;
}

export interface Chat {
  id: number;
  type: "private" | "group" | "supergroup" | "channel";
  title?: string;
  first_name?: string;
  last_name?: string;
  username?: string;
}

/** Place of something in a text, in UTF-16 units. */
export interface Entity {
  type: string;
  offset: number;
  length: number;
  url?: string;
  user?: User;
  language?: string;
}

export interface FileInfo {
  file_id: string;
  file_size?: number;
  file_name?: string;
  mime_type?: string;
}

export interface Message {
  message_id: number;
  date: number;
  chat: Chat;
  from?: User;
  sender_chat?: Chat;
  message_thread_id?: number;
  is_topic_message?: boolean;
  reply_to_message?: Message;
  media_group_id?: string;
  text?: string;
  caption?: string;
  entities?: Entity[];
  caption_entities?: Entity[];
  photo?: FileInfo[];
  document?: FileInfo;
  audio?: FileInfo;
  voice?: FileInfo;
  video?: FileInfo;
  video_note?: FileInfo;
  animation?: FileInfo;
  sticker?: { emoji?: string };
  forum_topic_created?: object;
  migrate_to_chat_id?: number;
  migrate_from_chat_id?: number;
}

/** Kinds of updates that are asked for. */
export const ALLOWED_UPDATES = ["message", "channel_post"];

/** True for an update that can be told from others; Telegram promises an id for each. */
export function isUpdate(value: unknown): value is Update {
  return isRecord(value) && Number.isSafeInteger(value.update_id);
}
