/** Parts of what Slack sends that are read (docs.slack.dev/reference/events, docs.slack.dev/interactivity/implementing-slash-commands). */
export interface EventPayload {
  type: "event_callback";
  team_id?: string;
  event_id?: string;
  event: SlackEvent;
}

export interface SlackEvent {
  type: string;
  subtype?: string;
  channel?: string;
  channel_type?: "im" | "mpim" | "channel" | "group";
  user?: string;
  bot_id?: string;
  username?: string;
  bot_profile?: { name?: string };
  text?: string;
  ts?: string;
  thread_ts?: string;
  parent_user_id?: string;
  files?: SlackFile[];
  /** Of `tokens_revoked`. */
  tokens?: { bot?: string[] };
}

export interface SlackFile {
  id: string;
  name?: string;
  mimetype?: string;
  size?: number;
  mode?: string;
  file_access?: string;
  url_private?: string;
  url_private_download?: string;
}

export interface CommandPayload {
  command: string;
  text?: string;
  team_id?: string;
  user_id: string;
  user_name?: string;
  channel_id: string;
  channel_name?: string;
  trigger_id: string;
}

/** Something that happened in a workspace. */
export type Delivery = { kind: "event"; payload: EventPayload } | { kind: "command"; payload: CommandPayload };

/** The bot itself, by `auth.test`. */
export interface Self {
  userId: string;
  botId: string | undefined;
  name: string;
  teamId: string | undefined;
  teamName: string | undefined;
  scopes: readonly string[] | undefined;
}
