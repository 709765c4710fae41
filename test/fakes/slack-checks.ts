/** Rules of the Web API that calls are checked by (docs.slack.dev/reference/methods). */

export interface SlackChannelInfo {
  id: string;
  name?: string;
  /** Person of a direct conversation. */
  user?: string;
  isMember?: boolean;
  isArchived?: boolean;
}

export interface SlackUser {
  id: string;
  name: string;
  isDeleted?: boolean;
}

/** An app in one workspace. */
export interface FakeApp {
  appId: string;
  teamId: string;
  userId: string;
  botId: string;
  name: string;
  botToken: string;
  appToken: string;
  signingSecret: string;
}

/** A call that was right. */
export interface SlackCall {
  app: FakeApp;
  method: string;
  params: Record<string, string>;
  result: Record<string, unknown>;
}

type Checked = { params: Record<string, string> } | { wrong: string } | { error: string; more?: object };

const POST = ["channel", "text", "thread_ts", "unfurl_links", "unfurl_media"];
/** Parameters that each method takes here; any other is a mistake. Those with `!` are needed. */
const METHODS: Readonly<Record<string, readonly string[]>> = {
  "auth.test": [],
  "apps.connections.open": [],
  "chat.postMessage": ["channel!", "text!", ...POST],
  "chat.update": ["channel!", "ts!", "text!"],
  "chat.delete": ["channel!", "ts!"],
  "reactions.add": ["channel!", "timestamp!", "name!"],
  "conversations.open": ["users!"],
  "conversations.info": ["channel!"],
  "users.info": ["user!"],
  "files.info": ["file!"],
  "files.delete": ["file!"],
  "files.getUploadURLExternal": ["filename!", "length!"],
  "files.completeUploadExternal": ["files!", "channel_id", "thread_ts", "initial_comment"],
};
/** Scope that a method needs. */
const SCOPES: Readonly<Record<string, string>> = {
  "chat.postMessage": "chat:write",
  "chat.update": "chat:write",
  "chat.delete": "chat:write",
  "reactions.add": "reactions:write",
  "conversations.open": "im:write",
  "users.info": "users:read",
  "files.info": "files:read",
  "files.completeUploadExternal": "files:write",
};
/** All scopes of the app manifest in the guide. */
export const ALL_SCOPES = [
  "app_mentions:read",
  "channels:history",
  "channels:read",
  "chat:write",
  "commands",
  "files:read",
  "files:write",
  "groups:history",
  "groups:read",
  "im:history",
  "im:write",
  "mpim:history",
  "reactions:write",
  "users:read",
];

export interface Known {
  channels: readonly SlackChannelInfo[];
  users: readonly SlackUser[];
}

/** Checks one call of a method with the form that came. */
export function checkCall(
  method: string,
  { type, body }: { type: string; body: string },
  app: FakeApp & { scopes: readonly string[] },
  { channels, users }: Known,
): Checked {
  const rule = METHODS[method];
  if (!rule) return { error: "unknown_method" };
  if (!type.startsWith("application/x-www-form-urlencoded")) return { wrong: `a body of the type ${type}` };
  const params = Object.fromEntries(new URLSearchParams(body));
  if (params.token !== undefined) return { wrong: "the token is in the body" };
  const allowed = rule.map((name) => name.replace("!", ""));
  const unknown = Object.keys(params).find((name) => !allowed.includes(name));
  if (unknown !== undefined) return { wrong: `unknown parameter ${unknown}` };
  const missing = rule.find((name) => name.endsWith("!") && params[name.slice(0, -1)] === undefined);
  if (missing !== undefined) return { error: method.startsWith("chat.") && missing === "text!" ? "no_text" : "invalid_arguments" };
  const scope = SCOPES[method];
  if (scope !== undefined && !app.scopes.includes(scope))
    return { error: "missing_scope", more: { needed: scope, provided: app.scopes.join(",") } };
  return checkPlace(method, params, { channels, users }) ?? checkText(method, params) ?? { params };
}

function checkPlace(method: string, params: Record<string, string>, { channels, users }: Known): Checked | undefined {
  const user = params.users ?? params.user;
  if (user !== undefined && !users.some(({ id }) => id === user)) return { error: "user_not_found" };
  if (user !== undefined && method === "conversations.open" && users.find(({ id }) => id === user)?.isDeleted)
    return { error: "user_disabled" };
  const id = params.channel ?? params.channel_id;
  if (id === undefined) return undefined;
  const channel = channels.find((one) => one.id === id);
  if (!channel) return { error: "channel_not_found" };
  const writes = method.startsWith("chat.") || method === "reactions.add" || method.startsWith("files.");
  if (writes && channel.isArchived) return { error: "is_archived" };
  if (writes && channel.isMember === false) return { error: "not_in_channel" };
  for (const name of ["ts", "timestamp", "thread_ts"] as const) {
    const ts = params[name];
    if (ts !== undefined && !/^\d{10}\.\d{6}$/.test(ts)) return { wrong: `${name} is ${ts}` };
  }
  return undefined;
}

function checkText(method: string, { text, name, initial_comment: comment }: Record<string, string>): Checked | undefined {
  if (name !== undefined && !/^[a-z0-9_+'-]+$/.test(name)) return { error: "invalid_name" };
  for (const shown of [text, comment]) {
    if (shown === undefined) continue;
    if (shown.trim() === "") return { error: "no_text" };
    if (shown.length > (method === "chat.update" ? 4_000 : 40_000)) return { error: "msg_too_long" };
    // Everything in angle brackets is an address here; the bot writes no mentions.
    const bare = shown.replace(/<(?:https?:\/\/|mailto:)[^<>|\s]+\|[^<>]*>/g, "");
    if (/[<>]/.test(bare.replace(/^> /gm, "")) || /&(?!amp;|lt;|gt;)/.test(shown))
      return { wrong: `text that is not escaped: ${shown.slice(0, 100)}` };
  }
  return undefined;
}
