import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { type Channel, NotDispatchedError, type OutboundMessage, type Receipt, type RenderedText, SendRefusedError } from "svc/sdk";
import { MAX_FILE_BYTES } from "./accounts.ts";
import type { SendContext } from "./direct-chats.ts";
import { MatrixFault, pathOf } from "./homeserver.ts";
import { isEventId, threadRoot } from "./ids.ts";
import { asRefusal, refused } from "./refusals.ts";
import { htmlIn } from "./rendered-text.ts";
import { roomOf } from "./targets.ts";

/** Files that go out with one message. */
const MAX_FILES = 10;
/** Largest content of an event: the homeserver adds ids, hashes and signatures, up to 65,536 bytes in all. */
const MAX_CONTENT_BYTES = 60_000;
/** Text of an edit for clients that do not know edits. */
const MAX_FALLBACK_CHARS = 500;

type Target = Parameters<NonNullable<Channel["unsend"]>>[0];

/** Sends a text and files, one event each; all files are uploaded before the first event. @throws as `Channel.send` */
export async function send(message: OutboundMessage, context: SendContext): Promise<Receipt> {
  const { text, media = [], threadId, replyToId } = message;
  if (media.length > MAX_FILES) throw refused(`a message carries at most ${MAX_FILES} files`);
  const relation = relationOf(threadId, replyToId);
  const room = await roomOf(message.to, context);
  const hasText = text !== undefined && text.text.trim() !== "";
  if (!hasText && media.length === 0) throw refused("there is no text to send");
  const contents: Array<Record<string, unknown>> = [];
  for (const file of media) contents.push(await fileContent(file, context));
  const first = hasText ? await post(room, message.uid, { ...textContent(text), ...relation }, context) : undefined;
  let sent = first;
  for (const [i, content] of contents.entries()) {
    sent ??= await post(room, `${message.uid}.${i}`, { ...content, ...relation }, context);
    if (i > 0 || first !== undefined)
      await post(room, `${message.uid}.${i}`, { ...content, ...(threadId === undefined ? {} : relation) }, context);
  }
  if (threadId !== undefined) context.directory.wroteIn(threadRoot(threadId));
  return { messageId: sent as string, at: context.now() };
}

function relationOf(threadId: string | undefined, replyToId: string | undefined): object {
  const root = threadId === undefined ? undefined : threadRoot(threadId);
  for (const id of [root, replyToId]) if (id !== undefined && !isEventId(id)) throw refused(`"${id.slice(0, 40)}" is no message`);
  if (root !== undefined) {
    // Clients without threads show it as an answer: to the message that it answers, or else to the one the thread grew from.
    const reply = { is_falling_back: replyToId === undefined, "m.in_reply_to": { event_id: replyToId ?? root } };
    return { "m.relates_to": { rel_type: "m.thread", event_id: root, ...reply } };
  }
  return replyToId === undefined ? {} : { "m.relates_to": { "m.in_reply_to": { event_id: replyToId } } };
}

/** Content of a text: plain, and HTML beside it as long as both fit into an event. Nobody is mentioned: an answer is not to call a whole room. */
function textContent(text: RenderedText): Record<string, unknown> {
  const plain = { msgtype: "m.text", body: text.text, "m.mentions": {} };
  const html = htmlIn(text);
  if (html === undefined) return plain;
  const formatted = { ...plain, format: "org.matrix.custom.html", formatted_body: html };
  return Buffer.byteLength(JSON.stringify(formatted)) <= MAX_CONTENT_BYTES ? formatted : plain;
}

/** Uploads a file. @returns content of its event */
async function fileContent(file: NonNullable<OutboundMessage["media"]>[number], context: SendContext): Promise<Record<string, unknown>> {
  const { path, mime, name = path === undefined ? "file" : basename(path) } = file;
  if (path === undefined) throw refused("a file to send has no path");
  const { size } = await stat(path);
  if (size > MAX_FILE_BYTES) throw refused(`a file to send has ${size} bytes; at most ${MAX_FILE_BYTES} are sent`);
  const content = await readFile(path);
  // Nothing of the message is at the homeserver yet: whatever fails is an ordinary attempt.
  const url = await context.server
    .upload(content, { mime, name, limitMs: context.timing.fileMs, signal: context.signal })
    .catch((error: unknown) => {
      throw error instanceof MatrixFault
        ? asRefusal(error)
        : new NotDispatchedError(`a file was not uploaded: ${(error as Error).message}`);
    });
  const kind = /^(image|audio|video)\//.exec(mime)?.[1] ?? "file";
  return { msgtype: `m.${kind}`, body: name, filename: name, url, info: { mimetype: mime, size: content.length }, "m.mentions": {} };
}

/** Sends one event. The same `txnId` is the same event, whatever became of the answer to an earlier attempt. @returns its id */
async function post(room: string, txnId: string, content: object, context: SendContext, type = "m.room.message"): Promise<string> {
  return put(pathOf`/v3/rooms/${room}/send/${type}/${txnId}`, content, context);
}

async function put(path: string, body: object, { server, timing, signal }: SendContext): Promise<string> {
  try {
    const { event_id: id } = await server.call<{ event_id?: unknown }>("PUT", path, { body, limitMs: timing.callMs, signal });
    if (typeof id !== "string") throw new Error("the homeserver gave no id for the message");
    return id;
  } catch (error) {
    throw asRefusal(error);
  }
}

/** Changes the text of a message. @throws {SendRefusedError} when the homeserver does not let it */
export async function edit({ to, messageId, text }: Target & { text: RenderedText }, context: SendContext): Promise<void> {
  const content = textContent(text);
  const { length } = text.text;
  const shown = length > MAX_FALLBACK_CHARS ? `${[...text.text.slice(0, MAX_FALLBACK_CHARS)].slice(0, -1).join("")}…` : text.text;
  const fallback = { msgtype: "m.text", body: `* ${shown}`, "m.mentions": {} };
  const relation = { "m.relates_to": { rel_type: "m.replace", event_id: eventOf(messageId) } };
  const room = await roomOf(to, context);
  await post(
    room,
    txnOf("edit", messageId, text.text, String(context.now())),
    { ...fallback, "m.new_content": content, ...relation },
    context,
  );
}

export async function unsend({ to, messageId }: Target, context: SendContext): Promise<void> {
  const room = await roomOf(to, context);
  await put(pathOf`/v3/rooms/${room}/redact/${eventOf(messageId)}/${txnOf("unsend", messageId)}`, {}, context);
}

export async function react({ to, messageId, emoji }: Target & { emoji: string }, context: SendContext): Promise<void> {
  const content = { "m.relates_to": { rel_type: "m.annotation", event_id: eventOf(messageId), key: emoji } };
  const room = await roomOf(to, context);
  try {
    await post(room, txnOf("react", messageId, emoji), content, context, "m.reaction");
  } catch (error) {
    // The reaction is there already.
    if (!(error instanceof SendRefusedError && error.message.includes("M_DUPLICATE_ANNOTATION"))) throw error;
  }
}

/** Shows that the account types, until it is told otherwise or some seconds are over. */
export async function typing(to: string, isOn: boolean, context: SendContext): Promise<void> {
  const room = await roomOf(to, context);
  const { server, timing, signal, userId } = context;
  const body = isOn ? { typing: true, timeout: timing.typingMs } : { typing: false };
  await server.call("PUT", pathOf`/v3/rooms/${room}/typing/${userId}`, { body, limitMs: timing.callMs, signal });
}

function eventOf(messageId: string): string {
  if (!isEventId(messageId)) throw refused(`"${messageId.slice(0, 40)}" is no message`);
  return messageId;
}

function txnOf(...parts: string[]): string {
  return createHash("sha256").update(parts.join("\0")).digest("base64url").slice(0, 32);
}
