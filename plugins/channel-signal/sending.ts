import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { isRecord, type OutboundMessage, type Receipt, SendRefusedError } from "svc/sdk";
import type { Daemon } from "./daemon.ts";
import { DaemonError } from "./rpc-link.ts";
import { messageIdOf, normalizeTarget, parseMessageId, recipientOf } from "./targets.ts";

/** Largest attachment, both ways: a file travels in one line of the link, in base64. */
export const MAX_MEDIA_BYTES = 8 * 1024 * 1024;
const MAX_RETRY_AFTER_MS = 3_600_000;

type Call = Pick<Daemon, "call">;

/** Sends a message. @param self id of the account, which is part of the ids of its messages @throws as `Channel.send` */
export async function sendMessage(message: OutboundMessage, { call, self }: Call & { self: string }, now: number): Promise<Receipt> {
  const { to, text, media = [], replyToId } = message;
  const attachment = await Promise.all(media.map(dataUri));
  const params = {
    ...recipientOf(checkedTarget(to)),
    message: text?.text ?? "",
    ...(text?.entities?.length ? { textStyle: text.entities } : {}),
    ...(attachment.length > 0 ? { attachment } : {}),
    ...quoteOf(replyToId),
  };
  const timestamp = timestampOf(await refusable(call("send", params)));
  return { messageId: messageIdOf(self, timestamp), at: now };
}

/** Replaces the text of a message of the account. @throws as `Channel.send` */
export async function editMessage(
  to: string,
  messageId: string,
  text: { text: string; entities?: unknown[] },
  { call }: Call,
): Promise<void> {
  const params = { ...recipientOf(checkedTarget(to)), message: text.text, editTimestamp: ownTimestamp(messageId) };
  await refusable(call("send", { ...params, ...(text.entities?.length ? { textStyle: text.entities } : {}) }));
}

/** Deletes a message of the account for everybody. @throws as `Channel.send` */
export async function deleteMessage(to: string, messageId: string, { call }: Call): Promise<void> {
  await refusable(call("remoteDelete", { ...recipientOf(checkedTarget(to)), targetTimestamp: ownTimestamp(messageId) }));
}

/** Reacts to a message. @throws as `Channel.send` */
export async function sendReaction(to: string, messageId: string, emoji: string, { call }: Call): Promise<void> {
  const target = parseMessageId(messageId);
  if (!target) throw new SendRefusedError("the message to react to is none of Signal", { isPermanent: true });
  const params = { emoji, targetAuthor: target.author, targetTimestamp: target.timestamp };
  await refusable(call("sendReaction", { ...recipientOf(checkedTarget(to)), ...params }));
}

/** Shows or hides that the account types. Clients hide it by themselves after 15 s. @throws as `Channel.send` */
export async function sendTyping(to: string, on: boolean, { call }: Call): Promise<void> {
  await refusable(call("sendTyping", { ...recipientOf(checkedTarget(to)), ...(on ? {} : { stop: true }) }));
}

function checkedTarget(to: string): string {
  const target = normalizeTarget(to);
  if (target === null)
    throw new SendRefusedError("the recipient is no number, account id, user name or group of Signal", { isPermanent: true });
  return target;
}

/** A reply names the message that it answers by its author and time. */
function quoteOf(replyToId: string | undefined): { quoteTimestamp: number; quoteAuthor: string } | undefined {
  const quoted = replyToId === undefined ? undefined : parseMessageId(replyToId);
  return quoted && { quoteTimestamp: quoted.timestamp, quoteAuthor: quoted.author };
}

function ownTimestamp(messageId: string): number {
  const own = parseMessageId(messageId);
  if (!own) throw new SendRefusedError("the message is none of Signal", { isPermanent: true });
  return own.timestamp;
}

async function dataUri({ path, url, mime, name }: NonNullable<OutboundMessage["media"]>[number]): Promise<string> {
  if (path === undefined)
    throw new SendRefusedError(`an attachment has no file${url === undefined ? "" : ", only an address"}`, { isPermanent: true });
  const { size } = await stat(path);
  if (size > MAX_MEDIA_BYTES) throw new SendRefusedError(`an attachment is larger than ${MAX_MEDIA_BYTES} bytes`, { isPermanent: true });
  const bytes = await readFile(path);
  return `data:${mime};filename=${encodeURIComponent(name ?? basename(path))};base64,${bytes.toString("base64")}`;
}

/** Turns a refusal of the daemon into one of the platform. What it could not finish stays open. */
async function refusable(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    throw error instanceof DaemonError ? (refusalOf(error) ?? error) : error;
  }
}

/** Codes of the daemon: -1 a mistake of the caller, -3 the network, -4 a changed safety number, -5 too many messages, -6 a captcha is wanted. */
function refusalOf({ code, message, data }: DaemonError): SendRefusedError | undefined {
  const results = resultsOf(data);
  const isAll = (type: string) => results.length > 0 && results.every((one) => one.type === type);
  if (code === -5 || isAll("RATE_LIMIT_FAILURE")) {
    const seconds = Math.max(0, ...results.map((one) => (typeof one.retryAfterSeconds === "number" ? one.retryAfterSeconds : 0)));
    const retryAfterMs = seconds > 0 ? { retryAfterMs: Math.min(MAX_RETRY_AFTER_MS, seconds * 1_000) } : {};
    return new SendRefusedError(`not now: ${message}`, { isPermanent: false, ...retryAfterMs });
  }
  if (isAll("NETWORK_FAILURE")) return new SendRefusedError(`the recipient's server was not reached: ${message}`, { isPermanent: false });
  if (code === -4 || isAll("IDENTITY_FAILURE"))
    return new SendRefusedError("the recipient's safety number has changed: trust it with signal-cli trust", { isPermanent: true });
  if (code === -6) return new SendRefusedError("Signal asks for a captcha: signal-cli submitRateLimitChallenge", { isPermanent: true });
  if (code === -1 || code === -32_602) return new SendRefusedError(message, { isPermanent: true });
  return undefined;
}

/** The results per recipient stand in the answer, and in the `response` of an error. */
function resultsOf(data: unknown): Array<Readonly<Record<string, unknown>>> {
  const response = isRecord(data) && isRecord(data.response) ? data.response : data;
  const results = isRecord(response) ? response.results : undefined;
  return Array.isArray(results) ? results.filter(isRecord) : [];
}

function timestampOf(answer: unknown): number {
  const timestamp = isRecord(answer) ? answer.timestamp : undefined;
  if (typeof timestamp === "number" && Number.isSafeInteger(timestamp)) return timestamp;
  throw new Error("the daemon's answer has no timestamp: it is not known whether the message was sent");
}
