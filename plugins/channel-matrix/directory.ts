import { isRecord } from "svc/sdk";
import { type JoinedRoom, type MatrixEvent, recordOf, textOf } from "./events.ts";

/** A room that the account is in, as far as it matters here. */
export interface Room {
  name: string | undefined;
  isEncrypted: boolean;
  /** Said in the log. */
  isEncryptionTold: boolean;
  joinedCount: number | undefined;
  /** Newest message that was handed over. */
  lastEventId: string | undefined;
  /** Times in a row that older events of it could not be fetched. */
  historyFailures: number;
}

/** Rooms and names that are kept in mind; further rooms are ones without a name. */
const [MAX_ROOMS, MAX_NAMES, MAX_OWN] = [10_000, 10_000, 1_000];
const MAX_NAME_CHARS = 200;

/** The rooms of an account, the names of people in them, and what the account itself wrote lately. Nothing in it grows with the number of messages. */
export class Directory {
  readonly #rooms = new Map<string, Room>();
  readonly #names = new Map<string, string>();
  readonly #ownThreads = new Set<string>();
  /** Persons by the rooms in which they are talked to alone. */
  #direct = new Map<string, string>();

  get(roomId: string): Room | undefined {
    return this.#rooms.get(roomId);
  }

  get rooms(): Iterable<[string, Room]> {
    return this.#rooms;
  }

  /** Enters a room, or finds it. */
  enter(roomId: string): Room {
    const known = this.#rooms.get(roomId);
    if (known) return known;
    if (this.#rooms.size >= MAX_ROOMS) this.#rooms.delete(this.#rooms.keys().next().value as string);
    const room: Room = {
      name: undefined,
      isEncrypted: false,
      isEncryptionTold: false,
      joinedCount: undefined,
      lastEventId: undefined,
      historyFailures: 0,
    };
    this.#rooms.set(roomId, room);
    return room;
  }

  leave(roomId: string): boolean {
    return this.#rooms.delete(roomId);
  }

  /** Takes on how a room is now. */
  learn(roomId: string, { state, timeline, joinedCount }: Pick<JoinedRoom, "state" | "timeline" | "joinedCount">): Room {
    const room = this.enter(roomId);
    if (joinedCount !== undefined) room.joinedCount = joinedCount;
    for (const event of [...state, ...timeline]) if (event.state_key !== undefined) this.#learnState(roomId, room, event);
    return room;
  }

  #learnState(roomId: string, room: Room, { type, content, state_key: key }: MatrixEvent): void {
    if (type === "m.room.encryption") room.isEncrypted = true;
    if (type === "m.room.name") room.name = textOf(content.name, MAX_NAME_CHARS) || undefined;
    if (type === "m.room.canonical_alias") room.name ??= textOf(content.alias, MAX_NAME_CHARS) || undefined;
    if (type !== "m.room.member" || key === undefined) return;
    const name = textOf(content.displayname, MAX_NAME_CHARS);
    const place = `${roomId}\0${key}`;
    this.#names.delete(place);
    if (!name || content.membership !== "join") return;
    if (this.#names.size >= MAX_NAMES) this.#names.delete(this.#names.keys().next().value as string);
    this.#names.set(place, name);
  }

  nameOf(roomId: string, userId: string): string | undefined {
    return this.#names.get(`${roomId}\0${userId}`);
  }

  /** Takes on the account's list of direct chats (`m.direct`): rooms by person. */
  setDirect(content: unknown): void {
    this.#direct = new Map(
      Object.entries(recordOf(content))
        .flatMap(([userId, rooms]) => (Array.isArray(rooms) ? rooms.map((room: unknown) => [String(room), userId] as const) : []))
        .slice(0, MAX_ROOMS),
    );
  }

  /** Takes on the list in an answer to `/sync`, where there is one. */
  learnDirect(accountData: unknown): void {
    const events = recordOf(accountData).events;
    if (!Array.isArray(events)) return;
    for (const event of events) if (isRecord(event) && event.type === "m.direct") this.setDirect(event.content);
  }

  addDirect(roomId: string, userId: string): void {
    if (this.#direct.size < MAX_ROOMS) this.#direct.set(roomId, userId);
  }

  /** True for a room that is listed as a direct chat, and in which nobody else is: a third person makes it a group. */
  isDirect(roomId: string): boolean {
    return this.#direct.has(roomId) && (this.#rooms.get(roomId)?.joinedCount ?? 2) <= 2;
  }

  /** Newest room in which a person is talked to alone. */
  directRoomOf(userId: string): string | undefined {
    return [...this.#direct].findLast(([roomId, person]) => person === userId && this.#rooms.has(roomId) && this.isDirect(roomId))?.[0];
  }

  /** Notes that the account has written in a thread. */
  wroteIn(thread: string): void {
    this.#ownThreads.delete(thread);
    if (this.#ownThreads.size >= MAX_OWN) this.#ownThreads.delete(this.#ownThreads.values().next().value as string);
    this.#ownThreads.add(thread);
  }

  hasWrittenIn(thread: string): boolean {
    return this.#ownThreads.has(thread);
  }
}
