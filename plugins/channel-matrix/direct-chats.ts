import { messageOf, NotDispatchedError, SendRefusedError } from "svc/sdk";
import { recordOf, textOf } from "./events.ts";
import { MatrixFault, pathOf } from "./homeserver.ts";
import { listDirect } from "./invites.ts";
import { asRefusal } from "./refusals.ts";
import type { Session } from "./session.ts";
import type { MatrixTiming } from "./timing.ts";

/** Surroundings of a call to the homeserver that writes. */
export interface SendContext extends Session {
  userId: string;
  timing: MatrixTiming;
  signal: AbortSignal;
  now(): number;
  /** Chats that are being made, or whose making has failed, by account and person. */
  opening: Map<string, Opening>;
}

/** A chat that is being made, or whose making has failed. */
export interface Opening {
  /** Undefined between two attempts. */
  running: Promise<string> | undefined;
  /** Room that was made, and is not known yet to be fit to write to. */
  roomId: string | undefined;
  /** Requests for a room of which it is not known whether they made one, and the time of the last. */
  unknown: number;
  unknownAt: number;
}

/** It is not known whether the homeserver has made a room. */
export class UnknownChatError extends Error {}

/** Chats that are being made at a time, and unfinished ones that are kept in mind. */
const [MAX_RUNNING, MAX_KEPT] = [20, 1_000];
/** Requests for a chat whose outcome is not known, within a time: each may have made a room and invited the person. */
const [MAX_UNKNOWN, UNKNOWN_MS] = [2, 3_600_000];

/** The room in which a person is talked to alone; one is made where there is none. */
export function directRoom(person: string, context: SendContext): Promise<string> | string {
  const { directory, opening, userId } = context;
  const key = `${userId} ${person}`;
  const present = opening.get(key);
  if (present?.running) return present.running;
  // A room that was made and not looked at comes first: the list of direct chats may name it already.
  const known = present?.roomId === undefined ? directory.directRoomOf(person) : undefined;
  if (known !== undefined) return known;
  if ([...opening.values()].filter(({ running }) => running).length >= MAX_RUNNING)
    throw new NotDispatchedError(`${MAX_RUNNING} chats are being made`);
  const chat = present ?? { running: undefined, roomId: undefined, unknown: 0, unknownAt: 0 };
  if (!present) keep(opening, key, chat);
  chat.running = openDirect(person, chat, context).then(
    (roomId) => {
      opening.delete(key);
      return roomId;
    },
    (error: unknown) => {
      chat.running = undefined;
      if (chat.roomId === undefined && chat.unknown === 0) opening.delete(key);
      throw error;
    },
  );
  return chat.running;
}

function keep(opening: Map<string, Opening>, key: string, chat: Opening): void {
  if (opening.size >= MAX_KEPT) {
    const [oldest] = [...opening].find(([, { running }]) => !running) ?? [];
    if (oldest !== undefined) opening.delete(oldest);
  }
  opening.set(key, chat);
}

/** Makes a chat with a person, or finishes one that was made. It is a chat to write to only when its encryption is known. */
async function openDirect(person: string, chat: Opening, context: SendContext): Promise<string> {
  const { server, directory, timing, signal, userId } = context;
  const options = { limitMs: timing.callMs, signal };
  chat.roomId ??= await createRoom(person, chat, context);
  const { roomId } = chat;
  await listDirect(server, { userId, person, roomId }, options);
  // Some homeservers encrypt every new chat.
  const encryption = await server.call("GET", pathOf`/v3/rooms/${roomId}/state/m.room.encryption/`, options).catch((error: unknown) => {
    if (!(error instanceof MatrixFault)) throw error;
    if (error.code === "M_NOT_FOUND") return undefined;
    // The account is not in the room any more: the next attempt makes another one.
    if (error.code === "M_FORBIDDEN") chat.roomId = undefined;
    throw error;
  });
  const room = directory.enter(roomId);
  if (encryption !== undefined) room.isEncrypted = true;
  directory.addDirect(roomId, person);
  return roomId;
}

/** @throws {UnknownChatError} when it is not known whether there is a new room */
async function createRoom(person: string, chat: Opening, { server, timing, signal, now }: SendContext): Promise<string> {
  if (now() - chat.unknownAt > UNKNOWN_MS) chat.unknown = 0;
  if (chat.unknown >= MAX_UNKNOWN) {
    throw new SendRefusedError(
      `it is not known whether a chat with ${person} was made: write to its room by id, or let the person invite the account`,
      { isPermanent: true },
    );
  }
  const body = { preset: "trusted_private_chat", is_direct: true, invite: [person] };
  try {
    return roomIdIn(await server.call("POST", "/v3/createRoom", { body, limitMs: timing.callMs, signal }));
  } catch (error) {
    if (error instanceof NotDispatchedError || asRefusal(error) instanceof SendRefusedError) throw error;
    chat.unknown += 1;
    chat.unknownAt = now();
    throw new UnknownChatError(`it is not known whether a chat was made: ${messageOf(error)}`);
  }
}

/** Id of a room in an answer. */
export function roomIdIn(answer: unknown): string {
  const id = textOf(recordOf(answer).room_id, 255);
  if (id === undefined) throw new Error("the homeserver gave no room");
  return id;
}
