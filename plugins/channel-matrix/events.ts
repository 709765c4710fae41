import { isRecord } from "svc/sdk";

/** An event of a room as the homeserver gives it; its content is foreign and may be anything. */
export interface MatrixEvent {
  event_id: string;
  type: string;
  sender: string;
  content: Readonly<Record<string, unknown>>;
  state_key?: string;
  origin_server_ts?: number;
  /** Membership before this one, where the homeserver tells it. */
  wasMembership?: string;
}

/** An answer to `/sync`, as far as it is read. */
export interface SyncAnswer {
  next_batch: string;
  account_data?: unknown;
  rooms?: unknown;
}

/** Changes of one room that the account is in. */
export interface JoinedRoom {
  state: MatrixEvent[];
  timeline: MatrixEvent[];
  /** Events are missing before the first of the timeline. */
  isLimited: boolean;
  /** Place before the first event of the timeline. */
  prevBatch: string | undefined;
  /** Number of members, where the homeserver tells it. */
  joinedCount: number | undefined;
}

const MAX_ID_CHARS = 255;
/** Longest place in the stream that is kept. */
const MAX_TOKEN_CHARS = 8_000;

/** Reads events, and passes over what is none. */
export function eventsIn(value: unknown): MatrixEvent[] {
  return Array.isArray(value) ? value.flatMap((raw: unknown) => eventIn(raw) ?? []) : [];
}

/** Reads an event; state that is stripped for invitations has no id. */
export function eventIn(raw: unknown): MatrixEvent | undefined {
  if (!isRecord(raw) || !isId(raw.type) || !isId(raw.sender) || !isRecord(raw.content)) return undefined;
  const { event_id: id, state_key: key, origin_server_ts: at } = raw;
  const was = recordOf(recordOf(raw.unsigned).prev_content).membership;
  return {
    event_id: isId(id) ? id : "",
    type: raw.type,
    sender: raw.sender,
    content: raw.content,
    ...(typeof key === "string" && key.length <= MAX_ID_CHARS ? { state_key: key } : {}),
    ...(typeof at === "number" && Number.isFinite(at) ? { origin_server_ts: at } : {}),
    ...(typeof was === "string" ? { wasMembership: was } : {}),
  };
}

export function joinedRoomIn(raw: unknown): JoinedRoom {
  const room = recordOf(raw);
  const timeline = recordOf(room.timeline);
  const count = recordOf(room.summary)["m.joined_member_count"];
  return {
    state: eventsIn(recordOf(room.state).events),
    timeline: eventsIn(timeline.events),
    isLimited: timeline.limited === true,
    prevBatch: tokenOf(timeline.prev_batch),
    joinedCount: typeof count === "number" ? count : undefined,
  };
}

/** Rooms of one kind in an answer, by id. */
export function roomsIn({ rooms }: SyncAnswer, kind: "join" | "invite" | "leave"): Array<[string, unknown]> {
  return Object.entries(recordOf(recordOf(rooms)[kind])).filter(([id]) => id.length <= MAX_ID_CHARS);
}

/** Place in the stream; undefined for what is none. */
export function tokenOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value.length <= MAX_TOKEN_CHARS ? value : undefined;
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** A text of at most so many characters; undefined for what is none. */
export function textOf(value: unknown, maxChars = 65_536): string | undefined {
  return typeof value === "string" ? value.slice(0, maxChars) : undefined;
}

function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_ID_CHARS;
}
