import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { type Channel, NotDispatchedError, type OutboundMessage, type Receipt, type RenderedText, SendRefusedError } from "svc/sdk";
import { MAX_FILE_BYTES } from "./accounts.ts";
import { ApiError, isRefusal, type SlackApi } from "./api.ts";
import type { Conversations } from "./conversations.ts";
import { emojiName } from "./emoji.ts";
import { isThread, messageId, messageParts } from "./ids.ts";

/** Files that go out in one message. */
const MAX_FILES = 10;

export interface SendContext {
  api: SlackApi;
  conversations: Conversations;
  uploadsMs: number;
  now(): number;
  /** Learns of every failure: a token that is refused blocks the account. */
  onFault(error: unknown): void;
}

type Target = Parameters<NonNullable<Channel["unsend"]>>[0];

/** Sends a text, or files with the text above them. @throws as `Channel.send` */
export async function send({ to, text, media = [], threadId }: OutboundMessage, context: SendContext): Promise<Receipt> {
  if (threadId !== undefined && !isThread(threadId)) throw refused(`"${threadId.slice(0, 40)}" is no thread`);
  if (media.length > MAX_FILES) throw refused(`a message carries at most ${MAX_FILES} files`);
  if (media.length === 0 && (!text || text.text.trim() === "")) throw refused("there is no text to send");
  const deadline = AbortSignal.timeout(context.uploadsMs);
  const channel = await attempt(context, () => context.conversations.idOf(to));
  const thread = threadId === undefined ? {} : { thread_ts: threadId };
  const id =
    media.length > 0
      ? await sendFiles({ channel, media, text, thread, deadline }, context)
      : await post({ channel, text: text?.text, ...thread }, context);
  if (threadId !== undefined) context.conversations.joined(channel, threadId);
  return { messageId: id, at: context.now() };
}

/** Links are not opened by Slack: an address that an agent was talked into would tell its server something. */
async function post(params: { channel: string; text: string | undefined; thread_ts?: string }, context: SendContext): Promise<string> {
  const quiet = { unfurl_links: false, unfurl_media: false };
  const sent = await call<{ channel?: string; ts?: string }>(context, "chat.postMessage", { ...params, ...quiet });
  if (typeof sent.ts !== "string") throw new Error("Slack does not say which message it has taken");
  return messageId(sent.channel ?? params.channel, sent.ts);
}

interface Files {
  channel: string;
  media: NonNullable<OutboundMessage["media"]>;
  text: RenderedText | undefined;
  thread: { thread_ts?: string };
  /** Aborts when the files are not shared any more: the host would not wait for the end. */
  deadline: AbortSignal;
}

/** Uploads the files, which nobody sees, and then shares all of them with the text in one call. */
async function sendFiles({ channel, media, text, thread, deadline }: Files, context: SendContext): Promise<string> {
  const files: Array<{ id: string; title: string }> = [];
  const late = () => new NotDispatchedError(`the files were not uploaded within ${context.uploadsMs / 1_000} s`);
  for (const one of media) files.push(await attempt(context, () => unlessAborted(upload(one, context.api, deadline), deadline, late)));
  if (deadline.aborted) throw late();
  const comment = text === undefined || text.text.trim() === "" ? {} : { initial_comment: text.text };
  const done = await call<{ files?: SharedFile[] }>(context, "files.completeUploadExternal", {
    files,
    channel_id: channel,
    ...thread,
    ...comment,
  });
  // Slack shares in its own time: the message often is not there yet.
  const ts = sharedAs(done.files?.[0], channel);
  return messageId(channel, ts ?? (files[0] as { id: string }).id);
}

/** Leaves work to itself once a signal has aborted. @throws what `reason` gives */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal, reason: () => Error): Promise<T> {
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(reason());
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  return Promise.race([aborted, work]).finally(() => signal.removeEventListener("abort", onAbort));
}

interface SharedFile {
  shares?: Partial<Record<"public" | "private", Record<string, Array<{ ts?: string }>>>>;
}

function sharedAs(file: SharedFile | undefined, channel: string): string | undefined {
  return [file?.shares?.public, file?.shares?.private].flatMap((shares) => shares?.[channel] ?? [])[0]?.ts;
}

async function upload(
  { path, name }: NonNullable<OutboundMessage["media"]>[number],
  api: SlackApi,
  deadline: AbortSignal,
): Promise<{ id: string; title: string }> {
  if (path === undefined) throw refused("a file to send has no path");
  const content = await readFile(path);
  if (content.length === 0 || content.length > MAX_FILE_BYTES)
    throw refused(`a file to send has ${content.length} bytes; 1 to ${MAX_FILE_BYTES} can be sent`);
  const title = (name ?? basename(path)).slice(0, 200);
  const place = await api.call<{ upload_url?: string; file_id?: string }>("files.getUploadURLExternal", {
    filename: title,
    length: content.length,
  });
  if (typeof place.upload_url !== "string" || typeof place.file_id !== "string") throw new Error("Slack gives no place for the file");
  await api.upload(place.upload_url, content, deadline);
  return { id: place.file_id, title };
}

/** One call that people see the outcome of. */
async function call<T>(context: SendContext, method: string, params: object): Promise<T> {
  try {
    return await context.api.call<T>(method, params);
  } catch (error) {
    context.onFault(error);
    throw refusalOf(error);
  }
}

/** Steps before a message: whatever fails there, nothing was sent. */
async function attempt<T>(context: SendContext, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    context.onFault(error);
    const refusal = refusalOf(error);
    if (refusal instanceof SendRefusedError || refusal instanceof NotDispatchedError) throw refusal;
    throw new NotDispatchedError(error instanceof Error ? error.message : String(error));
  }
}

/** Codes that say nothing about the message: Slack may take it later. */
const LATER = new Set([
  "ratelimited",
  "rate_limited",
  "message_limit_exceeded",
  "service_unavailable",
  "team_added_to_org",
  "accesslimited",
  "request_timeout",
]);
/** Codes after which Slack may have taken the message all the same. */
const UNKNOWN = new Set(["internal_error", "fatal_error"]);

/** Answers of Slack as the host understands them; anything else stays: it is not known then. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { code, message, retryAfterMs } = error;
  if (UNKNOWN.has(code)) return new Error(message);
  // A wrong token may be set right.
  const isPermanent = !LATER.has(code) && !isRefusal(error) && !code.startsWith("http_");
  return new SendRefusedError(message, { isPermanent, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
}

function refused(message: string): SendRefusedError {
  return new SendRefusedError(message, { isPermanent: true });
}

/** Changes the text of a message. @throws {SendRefusedError} when Slack does not let it */
export async function edit({ messageId: id, text }: Target & { text: RenderedText }, context: SendContext): Promise<void> {
  const { channel, ts } = placeOf(id);
  await call(context, "chat.update", { channel, ts, text: text.text });
}

export async function unsend({ messageId: id }: Target, context: SendContext): Promise<void> {
  const parts = messageParts(id);
  if (parts && "file" in parts) return unlessSaid(["file_not_found", "file_deleted"], call(context, "files.delete", { file: parts.file }));
  const { channel, ts } = placeOf(id);
  await unlessSaid(["message_not_found"], call(context, "chat.delete", { channel, ts }));
}

export async function react({ messageId: id, emoji }: Target & { emoji: string }, context: SendContext): Promise<void> {
  const { channel, ts } = placeOf(id);
  const name = emojiName(emoji);
  if (name === undefined) throw refused(`no name of "${emoji.slice(0, 20)}" at Slack is known: write :name: instead`);
  await unlessSaid(["already_reacted"], call(context, "reactions.add", { channel, timestamp: ts, name }));
}

/** Takes answers that say it is so already for success. */
async function unlessSaid(codes: readonly string[], work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof SendRefusedError && codes.some((code) => error.message.startsWith(`Slack says: ${code} `)))) throw error;
  });
}

function placeOf(id: string): { channel: string; ts: string } {
  const parts = messageParts(id);
  if (!parts || !("ts" in parts)) throw refused(`"${id.slice(0, 40)}" is no message that can be changed`);
  return parts;
}
