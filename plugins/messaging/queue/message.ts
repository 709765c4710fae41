import { type MessageRoute, type OutboundRequest, z } from "svc/sdk";

const HOUR_MS = 3_600_000;

const storedMessage = z.object({
  v: z.literal(1),
  route: z.object({
    channel: z.string().min(1),
    to: z.string().optional(),
    accountId: z.string().optional(),
    threadId: z.string().optional(),
  }),
  text: z.string(),
  origin: z.enum(["chat", "hook", "cron", "heartbeat"]),
  sessionKey: z.string().min(1),
  agentId: z.string().min(1),
  /** Of the gateway itself: no session is told that it was not delivered. */
  isNotice: z.literal(true).optional(),
});

/** Content of a row of the queue. */
export type StoredMessage = z.output<typeof storedMessage>;

/** A message and the row that it is. */
export interface Outgoing extends Omit<StoredMessage, "v" | "route" | "isNotice"> {
  uid: string;
  route: MessageRoute;
  isNotice?: true;
}

export function toStored({ route, text, origin, sessionKey, agentId, isNotice }: Omit<Outgoing, "uid">): StoredMessage {
  return { v: 1, route: { ...route }, text, origin, sessionKey, agentId, ...(isNotice ? { isNotice } : {}) };
}

/** Undefined for a payload that is none: such a row is set aside alone. */
export function readOutgoing(uid: string, payload: unknown): Outgoing | undefined {
  const parsed = storedMessage.safeParse(payload);
  if (!parsed.success) return undefined;
  const { text, origin, sessionKey, agentId, isNotice } = parsed.data;
  const { channel, to, accountId, threadId } = parsed.data.route;
  const route: MessageRoute = {
    channel,
    ...(to === undefined ? {} : { to }),
    ...(accountId === undefined ? {} : { accountId }),
    ...(threadId === undefined ? {} : { threadId }),
  };
  return { uid, route, text, origin, sessionKey, agentId, ...(isNotice ? { isNotice } : {}) };
}

/** Messages to one recipient go one after the other. @param place stands for the recipient where a channel has none */
export function laneOf({ channel, accountId, to }: MessageRoute, place: string): string {
  return `${channel}:${accountId ?? ""}:${to ?? place}`;
}

/** Lifetime of a waiting message: a chat reply that comes hours later does harm. */
export function lifetimeMs(origin: OutboundRequest["origin"]): number {
  return origin === "chat" ? HOUR_MS : 24 * HOUR_MS;
}
