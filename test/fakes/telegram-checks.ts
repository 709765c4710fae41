/** Rules of the Bot API that calls are checked by (core.telegram.org/bots/api). */

export interface TelegramChat {
  id: number;
  type: "private" | "group" | "supergroup" | "channel";
  title?: string;
  first_name?: string;
  /** Topics of a forum. */
  topics?: readonly number[];
  /** The user has blocked the bot. */
  isBlocked?: boolean;
}

/** A call that was right. Uploads stand in `files` by the names of their parts. */
export interface TelegramCall {
  bot: { id: number; token: string };
  method: string;
  params: Record<string, unknown>;
  files: Record<string, { name: string; content: Buffer }>;
  result?: unknown;
}

type Checked = { call: TelegramCall } | { wrong: string } | { refusal: string; code: number };

const COMMON = ["chat_id", "message_thread_id", "reply_parameters"];
/** Parameters that each method takes here; any other is a mistake. */
const METHODS: Readonly<Record<string, readonly string[]>> = {
  getMe: [],
  getUpdates: ["offset", "limit", "timeout", "allowed_updates"],
  getWebhookInfo: [],
  setWebhook: ["url", "secret_token", "allowed_updates", "max_connections"],
  deleteWebhook: ["drop_pending_updates"],
  getFile: ["file_id"],
  sendMessage: [...COMMON, "text", "entities"],
  sendPhoto: [...COMMON, "photo", "caption", "caption_entities"],
  sendDocument: [...COMMON, "document", "caption", "caption_entities"],
  sendMediaGroup: [...COMMON, "media"],
  sendChatAction: ["chat_id", "message_thread_id", "action"],
  editMessageText: ["chat_id", "message_id", "text", "entities"],
  deleteMessage: ["chat_id", "message_id"],
  setMessageReaction: ["chat_id", "message_id", "reaction"],
};
const ENTITIES = new Set(["bold", "italic", "strikethrough", "code", "pre", "text_link", "blockquote"]);

interface Request {
  method: string;
  type: string;
  body: Buffer;
}

interface Known {
  bot: { id: number; token: string };
  chats: readonly TelegramChat[];
}

export function checkCall(method: string, request: Request, { bot, chats }: Known): Checked {
  const allowed = METHODS[method];
  if (!allowed) return { wrong: "no such method" };
  if (request.method !== "POST") return { wrong: `called by ${request.method}` };
  const read = request.type.startsWith("multipart/form-data")
    ? partsOf(request)
    : { params: JSON.parse(request.body.toString() || "{}"), files: {} };
  const { params, files } = read as Pick<TelegramCall, "params" | "files">;
  const unknown = Object.keys(params).find((name) => !allowed.includes(name));
  if (unknown) return { wrong: `unknown parameter ${unknown}` };
  const call = { bot, method, params, files };
  if (!allowed.includes("chat_id")) return method === "setWebhook" ? checkWebhook(call) : { call };
  const chat = chats.find(({ id }) => String(id) === String(params.chat_id));
  if (!chat) return { refusal: "Bad Request: chat not found", code: 400 };
  if (chat.isBlocked) return { refusal: "Forbidden: bot was blocked by the user", code: 403 };
  const thread = params.message_thread_id;
  if (thread !== undefined && !chat.topics?.includes(Number(thread)))
    return { refusal: "Bad Request: message thread not found", code: 400 };
  if (params.message_id !== undefined && !Number.isInteger(params.message_id)) return { wrong: "message_id is no integer" };
  const reply = params.reply_parameters as { message_id?: unknown } | undefined;
  if (reply && !Number.isInteger(reply.message_id)) return { wrong: "reply_parameters without a message_id" };
  for (const [text, entities, limit] of [
    [params.text, params.entities, 4_096],
    [params.caption, params.caption_entities, 1_024],
  ] as const) {
    const problem = text === undefined ? undefined : checkText(String(text), entities, limit);
    if (problem) return problem;
  }
  if ((method === "sendMessage" || method === "editMessageText") && String(params.text ?? "").trim() === "")
    return { refusal: "Bad Request: message text is empty", code: 400 };
  const attached = JSON.stringify([params.photo, params.document, params.media]).match(/attach:\/\/\w+/g) ?? [];
  const missing = attached.find((name) => !files[name.slice("attach://".length)]);
  return missing ? { wrong: `${missing} was not uploaded` } : { call };
}

function checkText(text: string, entities: unknown, limit: number): Checked | undefined {
  if (text.length > limit)
    return { refusal: limit === 4_096 ? "Bad Request: message is too long" : "Bad Request: message caption is too long", code: 400 };
  for (const { type, offset, length, url } of (entities ?? []) as Array<{ type: string; offset: number; length: number; url?: string }>) {
    if (!ENTITIES.has(type)) return { wrong: `unknown entity ${type}` };
    if (!(offset >= 0 && length > 0 && offset + length <= text.length)) return { wrong: "an entity is outside the text" };
    if ((type === "text_link") !== (url !== undefined)) return { wrong: "a link without an address" };
  }
  return undefined;
}

function checkWebhook(call: TelegramCall): Checked {
  if (!/^https:\/\//.test(String(call.params.url)))
    return { refusal: "Bad Request: bad webhook: An HTTPS URL must be provided for webhook", code: 400 };
  if (!/^[\w-]{1,256}$/.test(String(call.params.secret_token))) return { wrong: "secret_token has other characters" };
  return { call };
}

/** Reads the fields and files of an upload. */
function partsOf({ type, body }: Request): Pick<TelegramCall, "params" | "files"> {
  const boundary = /boundary=(.+)$/.exec(type)?.[1] ?? "";
  const params: Record<string, unknown> = {};
  const files: TelegramCall["files"] = {};
  const text = body.toString("latin1");
  for (const part of text.split(`--${boundary}`).slice(1, -1)) {
    const at = part.indexOf("\r\n\r\n");
    const head = Buffer.from(part.slice(0, at), "latin1").toString();
    const content = Buffer.from(part.slice(at + 4, -2), "latin1");
    const name = /name="([^"]*)"/.exec(head)?.[1] ?? "";
    const file = /filename=(?:"([^"]*)"|(\S+))/.exec(head);
    if (file) files[name] = { name: file[1] ?? file[2] ?? "", content };
    else params[name] = fieldOf(content.toString());
  }
  return { params, files };
}

function fieldOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? value : text;
  } catch {
    return text;
  }
}
