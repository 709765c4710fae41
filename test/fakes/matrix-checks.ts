/** Rules of the client-server API that requests are checked by (spec.matrix.org). */

/** A request that the fake took. */
export interface MatrixCall {
  userId: string;
  method: string;
  /** Path without `/_matrix`, decoded. */
  path: string;
  query: Record<string, string>;
  body: Record<string, unknown>;
}

/** Largest event, in bytes of JSON. */
const MAX_EVENT_BYTES = 65_536;
/** Room that the homeserver takes for what it adds to an event. */
const SERVER_BYTES = 2_000;

const QUERY: Readonly<Record<string, readonly string[]>> = {
  sync: ["since", "timeout", "filter"],
  messages: ["dir", "from", "to", "limit", "filter"],
  upload: ["filename"],
};
const BODY: Readonly<Record<string, readonly string[]>> = {
  login: ["type", "identifier", "password", "device_id", "initial_device_display_name"],
  createRoom: ["preset", "is_direct", "invite"],
  typing: ["typing", "timeout"],
  join: [],
  logout: [],
  redact: [],
};
const MESSAGE = ["msgtype", "body", "format", "formatted_body", "filename", "url", "info", "m.mentions", "m.relates_to", "m.new_content"];
const TAGS = /^(?:strong|em|del|code|pre|blockquote|a|br)$/;

/** Returns what is wrong with the parameters of a request. @param name last fixed part of its path */
export function wrongParameters(name: string, query: Record<string, string>, body: Record<string, unknown>): string | undefined {
  if ("access_token" in query) return "a token in the address";
  const strange = Object.keys(query).find((key) => !(QUERY[name] ?? []).includes(key));
  if (strange) return `unknown parameter ${strange}`;
  const allowed = BODY[name];
  const more = allowed && Object.keys(body).find((key) => !allowed.includes(key));
  if (more) return `unknown field ${more}`;
  if (query.filter === undefined) return undefined;
  try {
    JSON.parse(query.filter);
  } catch {
    return "the filter is no JSON";
  }
  return undefined;
}

/** Returns what is wrong with the content of an event, or `too large`. @param exists tells whether an event is in the room */
export function wrongContent(type: string, content: Record<string, unknown>, exists: (id: string) => boolean): string | undefined {
  if (Buffer.byteLength(JSON.stringify(content)) + SERVER_BYTES > MAX_EVENT_BYTES) return "too large";
  const relation = (content["m.relates_to"] ?? {}) as {
    rel_type?: string;
    event_id?: string;
    key?: string;
    "m.in_reply_to"?: { event_id?: string };
  };
  for (const id of [relation.event_id, relation["m.in_reply_to"]?.event_id])
    if (id !== undefined && !exists(id)) return `a relation to ${id}, which is not in the room`;
  if (type === "m.reaction")
    return relation.rel_type === "m.annotation" && relation.event_id && relation.key ? undefined : "a reaction without event or key";
  if (type !== "m.room.message") return `an event of type ${type}`;
  const strange = Object.keys(content).find((key) => !MESSAGE.includes(key));
  if (strange) return `unknown field ${strange}`;
  if (typeof content.body !== "string" || content.body.trim() === "") return "a message without body";
  if (relation.rel_type === "m.replace") {
    const next = content["m.new_content"] as Record<string, unknown> | undefined;
    return next && typeof next.body === "string" && typeof next.msgtype === "string" ? undefined : "an edit without m.new_content";
  }
  if (typeof content["m.mentions"] !== "object") return "a message that does not say whom it mentions";
  if ((content.format === undefined) !== (content.formatted_body === undefined)) return "format and formatted_body belong together";
  if (content.format !== undefined && content.format !== "org.matrix.custom.html") return `format ${content.format}`;
  if (["m.image", "m.file", "m.audio", "m.video"].includes(String(content.msgtype)))
    return /^mxc:\/\/[^/]+\/\w+$/.test(String(content.url)) ? undefined : "a file without address";
  if (content.msgtype !== "m.text") return `msgtype ${content.msgtype}`;
  return typeof content.formatted_body === "string" ? wrongHtml(content.formatted_body) : undefined;
}

/** Tags that are not closed, not allowed, or made of text that was not escaped. */
function wrongHtml(html: string): string | undefined {
  const open: string[] = [];
  for (const [, close, name = "", rest = ""] of html.matchAll(/<(\/?)([^\s<>/]*)([^<>]*)>/g)) {
    if (!TAGS.test(name)) return `a tag <${name}>`;
    if (name === "br") continue;
    if (close === "/") {
      if (open.pop() !== name) return `</${name}> closes another tag`;
      continue;
    }
    if (rest !== "" && !/^ (?:href="(?:https?:|mailto:)[^"]*"|class="language-[^"]*")$/.test(rest)) return `attributes ${rest}`;
    open.push(name);
  }
  if (open.length > 0) return `<${open.at(-1)}> is not closed`;
  const text = html.replace(/<[^<>]*>/g, "");
  return /[<>]|&(?!(?:amp|lt|gt|quot);)/.test(text) ? "text that is not escaped" : undefined;
}
