import { createHash } from "node:crypto";
import { type DeliveryRow, type MarkdownIR, type MessageRoute, type OutboundMedia, type OutboundRequest, z } from "svc/sdk";
import type { PostedPreview } from "../live/replace-preview.ts";

const HOUR_MS = 3_600_000;

/** Longest uid to which the number of a part may be added. */
const MAX_HANDLE_CHARS = 190;

const letters = { bold: "b", italic: "i", strike: "s", code: "c", codeBlock: "f", link: "l", quote: "q", heading: "h" } as const;
type Kind = keyof typeof letters;
const kinds = new Map<string, Kind>((Object.keys(letters) as Kind[]).map((kind) => [letters[kind], kind]));

const offset = z.number().int().min(0);
/** Letter of the kind, start, length; then the address of a link, or the language of a fence. */
const storedSpan = z.union([z.tuple([z.string(), offset, offset]), z.tuple([z.string(), offset, offset, z.string()])]);

const storedMedia = z.union([
  z.object({ path: z.string(), name: z.string().exactOptional() }),
  z.object({ url: z.string(), name: z.string().exactOptional() }),
]);

const storedMessage = z.object({
  v: z.literal(1),
  route: z.object({
    channel: z.string().min(1),
    to: z.string().optional(),
    accountId: z.string().optional(),
    threadId: z.string().optional(),
  }),
  /** Message on the platform that this one quotes. */
  replyToId: z.string().optional(),
  text: z.string(),
  media: z.array(storedMedia).optional(),
  /** Styles over the text; a text without them goes out as it is. */
  spans: z.array(storedSpan).optional(),
  /** One of the messages that a text was split into; `message` is the uid of the whole, and of its first part. */
  part: z.object({ message: z.string().min(1), index: z.number().int().min(1), of: z.number().int().min(2) }).optional(),
  origin: z.enum(["chat", "hook", "cron", "heartbeat"]),
  sessionKey: z.string().min(1),
  agentId: z.string().min(1),
  /** A message that shows a part of this one already: it becomes this one. */
  preview: z.object({ messageId: z.string().min(1), isFixed: z.literal(true).optional() }).optional(),
  /** Of the gateway itself: no session is told that it was not delivered. */
  isNotice: z.literal(true).optional(),
});

/** Content of a row of the queue. */
export type StoredMessage = z.output<typeof storedMessage>;

/** A message and the row that it is. */
export interface Outgoing extends Omit<StoredMessage, "v" | "route" | "isNotice" | "spans" | "part" | "preview" | "replyToId" | "media"> {
  uid: string;
  route: MessageRoute;
  spans?: MarkdownIR["spans"];
  part?: NonNullable<StoredMessage["part"]>;
  replyToId?: string;
  media?: OutboundMedia[];
  isNotice?: true;
  preview?: PostedPreview;
}

export function toStored({
  route,
  replyToId,
  text,
  media,
  spans = [],
  part,
  origin,
  sessionKey,
  agentId,
  isNotice,
  preview,
}: Omit<Outgoing, "uid">): StoredMessage {
  return {
    v: 1,
    route: { ...route },
    ...(replyToId === undefined ? {} : { replyToId }),
    text,
    ...(media === undefined ? {} : { media }),
    ...(spans.length === 0 ? {} : { spans: spans.map(encodeSpan) }),
    ...(part === undefined ? {} : { part }),
    origin,
    sessionKey,
    agentId,
    ...(isNotice ? { isNotice } : {}),
    ...(preview ? { preview } : {}),
  };
}

type Span = MarkdownIR["spans"][number];

function encodeSpan({ kind, start, end, href, language }: Span): z.output<typeof storedSpan> {
  const value = href ?? language;
  return value === undefined ? [letters[kind], start, end - start] : [letters[kind], start, end - start, value];
}

function decodeSpan([letter, start, length, value]: z.output<typeof storedSpan>): Span | undefined {
  const kind = kinds.get(letter);
  if (kind === undefined) return undefined;
  return { kind, start, end: start + length, ...(value === undefined ? {} : kind === "link" ? { href: value } : { language: value }) };
}

/** Uid of one part of a message; the first has that of the whole. */
export function partUid(uid: string, index: number): string {
  return index === 1 ? uid : `${handleOf(uid)}#${index}`;
}

/** Number of messages that a text was split into, as the row of one of them tells it. */
export function partsOf({ uid, payload, result }: Pick<DeliveryRow, "uid" | "payload" | "result">): {
  message: string;
  index: number;
  of: number;
} {
  const part = readOutgoing(uid, payload)?.part;
  if (part) return part;
  return { message: uid, index: 1, of: typeof result?.parts === "number" ? result.parts : 1 };
}

/** Common beginning of the uids of all parts of a message. */
export function handleOf(uid: string): string {
  if (uid.length <= MAX_HANDLE_CHARS) return uid;
  return `${uid.slice(0, MAX_HANDLE_CHARS - 33)}~${createHash("sha256").update(uid).digest("hex").slice(0, 32)}`;
}

/** Undefined for a payload that is none: such a row is set aside alone. */
export function readOutgoing(uid: string, payload: unknown): Outgoing | undefined {
  const parsed = storedMessage.safeParse(payload);
  if (!parsed.success) return undefined;
  const { replyToId, text, media, spans, part, origin, sessionKey, agentId, isNotice, preview } = parsed.data;
  const { channel, to, accountId, threadId } = parsed.data.route;
  const route: MessageRoute = {
    channel,
    ...(to === undefined ? {} : { to }),
    ...(accountId === undefined ? {} : { accountId }),
    ...(threadId === undefined ? {} : { threadId }),
  };
  return {
    uid,
    route,
    ...(replyToId === undefined ? {} : { replyToId }),
    text,
    ...(media === undefined ? {} : { media }),
    ...(spans === undefined ? {} : { spans: spans.flatMap((span) => decodeSpan(span) ?? []) }),
    ...(part === undefined ? {} : { part }),
    origin,
    sessionKey,
    agentId,
    ...(isNotice ? { isNotice } : {}),
    ...(preview ? { preview: toPosted(preview) } : {}),
  };
}

function toPosted({ messageId, isFixed }: NonNullable<StoredMessage["preview"]>): PostedPreview {
  return { messageId, ...(isFixed ? { isFixed } : {}) };
}

/** Messages to one recipient go one after the other. @param place stands for the recipient where a channel has none */
export function laneOf({ channel, accountId, to }: MessageRoute, place: string): string {
  return `${channel}:${accountId ?? ""}:${to ?? place}`;
}

/** Lifetime of a waiting message: a chat reply that comes hours later does harm. */
export function lifetimeMs(origin: OutboundRequest["origin"]): number {
  return origin === "chat" ? HOUR_MS : 24 * HOUR_MS;
}
