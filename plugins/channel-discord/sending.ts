import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { type Channel, type OutboundMessage, type Receipt, type RenderedText, SendRefusedError } from "svc/sdk";
import { MAX_FILE_BYTES } from "./accounts.ts";
import { ApiError } from "./api-error.ts";
import { isSnowflake, messageId, messagePlace, threadChannel } from "./ids.ts";
import type { Upload } from "./rest.ts";
import type { Bot } from "./session.ts";
import type { DiscordTiming } from "./timing.ts";

/** Files that go out in one message, and their bytes: the API takes no larger requests. */
const MAX_FILES = 10;
const MAX_UPLOAD_BYTES = 25 * 1024 * 1024;
/** Longest nonce (discord.com/developers/docs/resources/message#create-message). */
const MAX_NONCE = 25;
/** Keeps Discord from opening addresses for a preview: one that an agent was talked into would tell its server something. */
const SUPPRESS_EMBEDS = 4;
const [UNKNOWN_CHANNEL, UNKNOWN_MESSAGE] = [10_003, 10_008];

interface SendContext {
  bot: Bot;
  timing: DiscordTiming;
  signal: AbortSignal;
  allowedMentions: readonly string[];
  now(): number;
}

interface SentMessage {
  id: string;
  channel_id: string;
}

type Target = Parameters<NonNullable<Channel["unsend"]>>[0];

/** Sends a text, files, or both in one message. @throws as `Channel.send` */
export async function send({ uid, to, text, media = [], threadId, replyToId }: OutboundMessage, context: SendContext): Promise<Receipt> {
  const thread = threadId === undefined ? undefined : threadChannel(threadId);
  if (threadId !== undefined && thread === undefined) throw refused(`"${threadId.slice(0, 40)}" is no thread`);
  if (media.length === 0 && (text?.text ?? "").trim() === "") throw refused("there is no text to send");
  const files = await uploadsOf(media);
  const content = contentOf(text, context);
  const answer = await answerCommand(replyToId, files.length === 0 ? content : undefined, context);
  const sent =
    answer ??
    (await inChannel(thread ?? to, context, (channelId) => {
      const reply = replyToId === undefined ? undefined : messagePlace(replyToId);
      return {
        method: "POST",
        route: `/channels/${channelId}/messages`,
        files,
        body: {
          ...content,
          // A repeat under the same nonce gives the message of the first time.
          nonce: createHash("sha256").update(uid).digest("base64url").slice(0, MAX_NONCE),
          enforce_nonce: true,
          // A message that was deleted meanwhile is no reason to keep the answer back.
          ...(reply?.channelId === channelId ? { message_reference: { message_id: reply.messageId, fail_if_not_exists: false } } : {}),
        },
      };
    }));
  if (!isSnowflake(sent?.id) || !isSnowflake(sent.channel_id)) throw new Error("the answer of Discord names no message");
  if (!answer) context.bot.commands.dismiss(sent.channel_id);
  return { messageId: messageId(sent.channel_id, sent.id), at: context.now() };
}

function contentOf(text: RenderedText | undefined, { allowedMentions }: SendContext): object {
  return { content: text?.text ?? "", allowed_mentions: { parse: allowedMentions }, flags: SUPPRESS_EMBEDS };
}

/** Answers a slash command where Discord waits for that. */
async function answerCommand(
  replyToId: string | undefined,
  content: object | undefined,
  { bot }: SendContext,
): Promise<SentMessage | undefined> {
  if (replyToId === undefined || content === undefined) return undefined;
  return bot.commands.answer(replyToId, content).catch((error: unknown) => {
    throw refusalOf(error);
  });
}

async function uploadsOf(media: NonNullable<OutboundMessage["media"]>): Promise<Upload[]> {
  if (media.length > MAX_FILES) throw refused(`a message carries at most ${MAX_FILES} files`);
  const files: Upload[] = [];
  let left = MAX_UPLOAD_BYTES;
  for (const { path, name, mime } of media) {
    if (path === undefined) throw refused("a file to send has no path");
    const { size } = await stat(path);
    if (size > MAX_FILE_BYTES) throw refused(`a file has ${size} bytes; Discord takes ${MAX_FILE_BYTES}`);
    left -= size;
    if (left < 0) throw refused(`the files have more than ${MAX_UPLOAD_BYTES} bytes together`);
    files.push({ name: name ?? "file", data: await readFile(path), contentType: mime });
  }
  return files;
}

interface Call {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  route: string;
  body?: object;
  files?: readonly Upload[];
}

/** One call about a channel. The id of a user stands for their direct channel: Discord does not tell the two apart before it is asked. */
async function inChannel<T = SentMessage>(to: string, context: SendContext, callFor: (channelId: string) => Call): Promise<T> {
  const { bot } = context;
  const user = /^user:(\d{1,20})$/.exec(to)?.[1];
  const isId: boolean = isSnowflake(to);
  if (user === undefined && !isId) throw refused(`"${to.slice(0, 40)}" is no channel or user`);
  const known = bot.places.directChannel(user ?? to);
  if (known !== undefined) return call(callFor(known), context);
  if (user !== undefined) return call(callFor(await openDirect(user, context)), context);
  try {
    return await call(callFor(to), context);
  } catch (error) {
    if (!(error instanceof DiscordRefusal) || error.code !== UNKNOWN_CHANNEL) throw error;
    const channelId = await openDirect(to, context).catch((again: unknown) => {
      // Neither is there: the channel is what was asked for.
      throw again instanceof SendRefusedError && again.isPermanent ? error : again;
    });
    return call(callFor(channelId), context);
  }
}

async function openDirect(userId: string, context: SendContext): Promise<string> {
  const { id } = await call<{ id: string }>({ method: "POST", route: "/users/@me/channels", body: { recipient_id: userId } }, context);
  if (!isSnowflake(id)) throw new Error("Discord names no channel for direct messages");
  context.bot.places.rememberDirect(userId, id);
  return id;
}

async function call<T>({ method, route, body, files = [] }: Call, { bot, timing, signal }: SendContext): Promise<T> {
  const limitMs = files.length > 0 ? timing.fileMs : timing.callMs;
  try {
    return await bot.api.call<T>(method, route, { ...(body ? { body } : {}), files, limitMs, signal });
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) bot.refuse(error);
    throw refusalOf(error);
  }
}

/** Refusal with the code that Discord gave. */
class DiscordRefusal extends SendRefusedError {
  readonly code: number | undefined;

  constructor({ message, code, retryAfterMs }: ApiError, isPermanent: boolean) {
    super(message, { isPermanent, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
    this.code = code;
  }
}

/** Answers of Discord as the host understands them; anything else stays: it is not known then. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  // A new token may be set, and what stands between here and Discord may let it through later.
  const isPermanent = error.code !== undefined && error.status !== 401 && error.status !== 408 && error.status !== 429;
  return new DiscordRefusal(error, isPermanent);
}

function refused(message: string): SendRefusedError {
  return new SendRefusedError(message, { isPermanent: true });
}

/** Changes the text of a message. @throws {SendRefusedError} when Discord does not let it */
export async function edit({ messageId: id, text }: Target & { text: RenderedText }, context: SendContext): Promise<void> {
  await call({ method: "PATCH", route: routeOf(id), body: contentOf(text, context) }, context);
}

export async function unsend({ messageId: id }: Target, context: SendContext): Promise<void> {
  await call({ method: "DELETE", route: routeOf(id) }, context).catch((error: unknown) => {
    // Somebody else was faster.
    if (!(error instanceof DiscordRefusal && error.code === UNKNOWN_MESSAGE)) throw error;
  });
}

export async function react({ messageId: id, emoji }: Target & { emoji: string }, context: SendContext): Promise<void> {
  await call({ method: "PUT", route: `${routeOf(id)}/reactions/${encodeURIComponent(emoji)}/@me` }, context);
}

/** Shows that the bot types; Discord takes it back after 10 s, or with the next message. */
export async function typing(to: string, isOn: boolean, context: SendContext): Promise<void> {
  if (isOn) await inChannel(to, context, (channelId) => ({ method: "POST", route: `/channels/${channelId}/typing` }));
}

function routeOf(id: string): string {
  const place = messagePlace(id);
  if (!place) throw refused(`"${id.slice(0, 40)}" is no message`);
  return `/channels/${place.channelId}/messages/${place.messageId}`;
}
