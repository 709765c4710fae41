import { type InboundEvent, isRecord } from "svc/sdk";
import { GROUP, isPersonId, messageIdOf } from "./targets.ts";

/** Placeholder of a mention in a text; the mention's own record says who it is. */
const OBJECT = "\uFFFC";
/** Mentions and attachments of one message that are looked at. */
const MAX_PARTS = 64;

/** Attachment as the daemon keeps it. */
export interface StoredAttachment {
  id: string;
  mime: string;
  bytes?: number;
  name?: string;
}

/** A message with the attachments that can be asked for. */
export interface ReceivedMessage {
  event: InboundEvent;
  attachments: StoredAttachment[];
}

/** Ids by which the account itself is known: number, account id, or both. */
export type OwnIds = ReadonlySet<string>;

/**
 * Reads a `receive` notification as a message. Undefined for everything that nobody wrote to the account just now: receipts, typing, reactions, calls, changes of
 * groups and of earlier messages, and what the account's other devices sent.
 */
export function toMessage(envelope: unknown, ownIds: OwnIds): ReceivedMessage | undefined {
  if (!isRecord(envelope) || !isRecord(envelope.dataMessage)) return undefined;
  const { dataMessage: data } = envelope;
  const senderId = personOf(envelope.sourceUuid, envelope.sourceNumber);
  const timestamp = data.timestamp;
  if (senderId === undefined || !Number.isSafeInteger(timestamp)) return undefined;
  if (data.reaction != null || data.remoteDelete != null || data.isExpirationUpdate === true) return undefined;
  const text = withMentions(data, ownIds);
  const attachments = data.viewOnce === true ? [] : attachmentsOf(data.attachments);
  if (text.trim() === "" && attachments.length === 0) return undefined;
  const groupId = isRecord(data.groupInfo) && typeof data.groupInfo.groupId === "string" ? data.groupInfo.groupId : undefined;
  const peerName = isRecord(data.groupInfo) ? data.groupInfo.groupName : envelope.sourceName;
  const replyTo = replyOf(data.quote, ownIds);
  return {
    attachments,
    event: {
      id: messageIdOf(senderId, timestamp as number),
      chatType: groupId === undefined ? "direct" : "group",
      peer: { id: groupId === undefined ? senderId : `${GROUP}${groupId}`, ...nameOf(peerName) },
      sender: { id: senderId, ...nameOf(envelope.sourceName), ...(ownIds.has(senderId) ? { isSelf: true } : {}) },
      text,
      ...(replyTo ? { replyTo } : {}),
      mentions: { explicit: mentionsOf(data.mentions).some(({ ids }) => ids.some((id) => ownIds.has(id))), implicit: [] },
      providerAt: timestamp as number,
    },
  };
}

/** The account id first: a number may change hands. */
function personOf(uuid: unknown, number: unknown): string | undefined {
  const ids = [uuid, number].filter((id): id is string => typeof id === "string").map((id) => id.toLowerCase());
  return ids.find(isPersonId);
}

function nameOf(name: unknown): { name?: string } {
  return typeof name === "string" && name !== "" ? { name } : {};
}

interface Mention {
  ids: string[];
  start: number;
  length: number;
}

function mentionsOf(raw: unknown): Mention[] {
  if (!Array.isArray(raw)) return [];
  return raw.slice(0, MAX_PARTS).flatMap((one: unknown) => {
    if (!isRecord(one) || typeof one.start !== "number" || typeof one.length !== "number") return [];
    const ids = [one.uuid, one.number].filter((id): id is string => typeof id === "string").map((id) => id.toLowerCase());
    return [{ ids, start: one.start, length: one.length }];
  });
}

/** The text with names in place of the placeholders; the account's own is left out, as it only says who is meant. */
function withMentions({ message, mentions }: Readonly<Record<string, unknown>>, ownIds: OwnIds): string {
  const text = typeof message === "string" ? message : "";
  let shown = "";
  let done = 0;
  for (const { ids, start, length } of mentionsOf(mentions).toSorted((a, b) => a.start - b.start)) {
    if (start < done || !text.startsWith(OBJECT, start)) continue;
    const isOwn = ids.some((id) => ownIds.has(id));
    shown += text.slice(done, start) + (isOwn ? "" : `@${ids[0] ?? "somebody"}`);
    done = start + Math.max(1, length);
  }
  return (shown + text.slice(done)).trim();
}

function replyOf(quote: unknown, ownIds: OwnIds): InboundEvent["replyTo"] {
  if (!isRecord(quote) || !Number.isSafeInteger(quote.id)) return undefined;
  const author = personOf(quote.authorUuid, quote.authorNumber);
  if (author === undefined) return undefined;
  return {
    id: messageIdOf(author, quote.id as number),
    senderId: author,
    ...(typeof quote.text === "string" ? { text: quote.text } : {}),
    ...(ownIds.has(author) ? { isBot: true } : {}),
  };
}

function attachmentsOf(raw: unknown): StoredAttachment[] {
  if (!Array.isArray(raw)) return [];
  return raw.slice(0, MAX_PARTS).flatMap((one: unknown) => {
    if (!isRecord(one) || typeof one.id !== "string" || one.id === "") return [];
    return [
      {
        id: one.id,
        mime: typeof one.contentType === "string" ? one.contentType : "application/octet-stream",
        ...(typeof one.size === "number" ? { bytes: one.size } : {}),
        ...(typeof one.filename === "string" && one.filename !== "" ? { name: one.filename } : {}),
      },
    ];
  });
}
