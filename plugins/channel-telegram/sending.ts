import { type Channel, type OutboundMessage, type Receipt, type RenderedText, SendRefusedError } from "svc/sdk";
import { ApiError, type BotApi } from "./api.ts";
import { messageId, messageNumber, threadNumber } from "./ids.ts";
import { MAX_CAPTION } from "./rendered-text.ts";
import type { TelegramTiming } from "./timing.ts";
import type { Message } from "./updates.ts";

/** Files that go out in one message. */
const MAX_FILES = 10;

interface SendContext {
  api: BotApi;
  timing: TelegramTiming;
  signal: AbortSignal;
  now(): number;
}

type Target = Parameters<NonNullable<Channel["unsend"]>>[0];

/** Sends a text, or files with the text below the first. @throws as `Channel.send` */
export async function send(message: OutboundMessage, context: SendContext): Promise<Receipt> {
  const { text, media = [], threadId, replyToId } = message;
  const thread = threadId === undefined ? undefined : threadNumber(threadId);
  if (threadId !== undefined && thread === undefined) throw refused(`"${threadId.slice(0, 40)}" is no topic of a group`);
  const reply = replyToId === undefined ? undefined : messageNumber(replyToId);
  const place = {
    ...(thread === undefined ? {} : { message_thread_id: thread }),
    // A message that was deleted meanwhile is no reason to keep the answer back.
    ...(reply === undefined ? {} : { reply_parameters: { message_id: reply, allow_sending_without_reply: true } }),
  };
  const sent =
    media.length === 0 ? await sendText(message.to, text, place, context) : await sendFiles(message.to, { media, text, place }, context);
  return { messageId: messageId(sent.chat.id, sent.message_id), at: context.now() };
}

async function sendText(to: string, text: RenderedText | undefined, place: object, context: SendContext): Promise<Message> {
  if (!text || text.text.trim() === "") throw refused("there is no text to send");
  return post(to, "sendMessage", { text: text.text, ...entitiesOf(text), ...place }, context);
}

interface Files {
  media: NonNullable<OutboundMessage["media"]>;
  text: RenderedText | undefined;
  place: object;
}

async function sendFiles(to: string, { media, text, place }: Files, context: SendContext): Promise<Message> {
  if (media.length > MAX_FILES) throw refused(`a message carries at most ${MAX_FILES} files`);
  const isShort = text === undefined || text.text.length <= MAX_CAPTION;
  // Too long to stand below a file: the words come first.
  const first = isShort ? undefined : await sendText(to, text, place, context);
  const caption = isShort && text && text.text !== "" ? { caption: text.text, ...entitiesOf(text, "caption_entities") } : {};
  const { api } = context;
  const isPicture = media.every(({ mime }) => /^image\/(?:jpeg|png|webp)$/.test(mime));
  const files = media.map(({ path, name }) => {
    if (path === undefined) throw refused("a file to send has no path");
    return api.file(path, name);
  });
  const [kind, method] = isPicture ? (["photo", "sendPhoto"] as const) : (["document", "sendDocument"] as const);
  if (files.length === 1) {
    const sent = await post<Message>(to, method, { [kind]: files[0], ...caption, ...place }, context);
    return first ?? sent;
  }
  const parts = files.map((file, i) => ({ type: kind, media: file, ...(i === 0 ? caption : {}) }));
  const group = await post<Message[]>(to, "sendMediaGroup", { media: parts, ...place }, context);
  return first ?? (group[0] as Message);
}

function entitiesOf({ entities }: RenderedText, key = "entities"): object {
  return entities === undefined || entities.length === 0 ? {} : { [key]: entities };
}

/** One call; a group that has become a supergroup is followed once. */
async function post<T = Message>(to: string, method: string, payload: object, context: SendContext): Promise<T> {
  const { api, timing, signal } = context;
  const limitMs = method === "sendMessage" ? timing.callMs : timing.fileMs;
  const call = (chat: string | number) => api.call<T>(method, { chat_id: chat, ...payload }, { limitMs, signal });
  try {
    return await call(to);
  } catch (error) {
    // The content of an upload was read by the first call.
    const canRepeat = method === "sendMessage";
    if (error instanceof ApiError && error.migratedTo !== undefined && canRepeat) {
      return call(error.migratedTo).catch((again: unknown) => {
        throw refusalOf(again);
      });
    }
    throw refusalOf(error);
  }
}

/** Answers of Telegram as the host understands them; anything else stays: it is not known then. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  if (error.code === 429)
    return new SendRefusedError(error.message, {
      isPermanent: false,
      ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    });
  // A group that moved is there under its new id; a wrong token may be set right.
  if (error.migratedTo !== undefined) return new SendRefusedError(`${error.message}: write to ${error.migratedTo}`, { isPermanent: true });
  if (error.code === 401 || error.code === 404) return new SendRefusedError(error.message, { isPermanent: false });
  return error.code >= 400 && error.code < 500 ? new SendRefusedError(error.message, { isPermanent: true }) : error;
}

function refused(message: string): SendRefusedError {
  return new SendRefusedError(message, { isPermanent: true });
}

/** Changes the text of a message. @throws {SendRefusedError} when Telegram does not let it */
export async function edit({ to, messageId: id, text }: Target & { text: RenderedText }, context: SendContext): Promise<void> {
  try {
    await post(to, "editMessageText", { message_id: numberOf(id), text: text.text, ...entitiesOf(text) }, context);
  } catch (error) {
    // The text is as it should be.
    if (!(error instanceof SendRefusedError && error.message.includes("message is not modified"))) throw error;
  }
}

export async function unsend({ to, messageId: id }: Target, context: SendContext): Promise<void> {
  await post(to, "deleteMessage", { message_id: numberOf(id) }, context);
}

export async function react({ to, messageId: id, emoji }: Target & { emoji: string }, context: SendContext): Promise<void> {
  await post(to, "setMessageReaction", { message_id: numberOf(id), reaction: [{ type: "emoji", emoji }] }, context);
}

/** Shows that the bot types; Telegram takes it back after 5 s, or with the next message. */
export async function typing(to: string, isOn: boolean, context: SendContext): Promise<void> {
  if (isOn) await post(to, "sendChatAction", { action: "typing" }, context);
}

function numberOf(id: string): number {
  const number = messageNumber(id);
  if (number === undefined) throw refused(`"${id.slice(0, 40)}" is no message`);
  return number;
}
