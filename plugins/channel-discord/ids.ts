const SNOWFLAKE = /^\d{1,20}$/;

/** True for an id of Discord: a number as text. */
export function isSnowflake(value: unknown): value is string {
  return typeof value === "string" && SNOWFLAKE.test(value);
}

/** Id of a message with the channel or thread that it stands in: Discord wants both to change it. */
export function messageId(channelId: string, id: string): string {
  return `${channelId}:${id}`;
}

/** Place of a message; undefined for an id of something else. */
export function messagePlace(id: string): { channelId: string; messageId: string } | undefined {
  const [, channelId, message] = /^(\d{1,20}):(\d{1,20})$/.exec(id) ?? [];
  return channelId === undefined || message === undefined ? undefined : { channelId, messageId: message };
}

/** Id of a slash command that somebody has given, as an event. */
export function interactionId(channelId: string, id: string): string {
  return `${channelId}:i${id}`;
}

/** Id of a thread, as events have it. */
export function threadId(channelId: string): string {
  return `t${channelId}`;
}

/** Channel of a thread; undefined for an id of something else. */
export function threadChannel(id: string): string | undefined {
  return /^t?(\d{1,20})$/.exec(id)?.[1];
}

/** A target: the id of a channel or a user, `channel:<id>`, `user:<id>`, or a mention of one. Null for what is none. */
export function normalizeTarget(raw: string): string | null {
  const text = raw.trim().replace(/^discord:/, "");
  const [, kind, id] = /^(?:(user:|<@!?)|channel:|<#)?(\d{1,20})>?$/.exec(text) ?? [];
  if (id === undefined || text.startsWith("<") !== text.endsWith(">")) return null;
  return kind === undefined ? id : `user:${id}`;
}
