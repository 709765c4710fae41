import { type Channel, isRecord, messageOf } from "svc/sdk";
import type { MatrixAccount } from "./accounts.ts";
import { eventsIn, joinedRoomIn, type MatrixEvent, recordOf, roomsIn, type SyncAnswer } from "./events.ts";
import { SURVEY_FILTER } from "./filters.ts";
import type { Homeserver } from "./homeserver.ts";
import { inviteIn, refusalOf } from "./invites.ts";
import { type Connection, checkUser, openSession, whoAmI } from "./session.ts";

type Probe = Awaited<ReturnType<NonNullable<Channel["probe"]>>>;
type Finding = Awaited<ReturnType<NonNullable<Channel["audit"]>>>[number];

/** Findings of one kind that are listed. */
const MAX_FINDINGS = 50;

interface Inspection {
  connection: Connection;
  signal: AbortSignal;
  /** Session of the account while it runs: a login of its own would end it. */
  running: Homeserver | undefined;
}

/** Asks whose session it is. */
export async function probe(account: MatrixAccount, inspection: Inspection): Promise<Probe> {
  const started = performance.now();
  const ms = () => Math.round(performance.now() - started);
  try {
    const identity = await withSession(account, inspection, async ({ userId }) => userId);
    return { ok: true, ms: ms(), identity };
  } catch (error) {
    return { ok: false, ms: ms(), error: messageOf(error) };
  }
}

/** Says what at the homeserver, or in the config, will make trouble: encrypted rooms, rooms in which the account may not write, invitations that wait. */
export async function audit(account: MatrixAccount, inspection: Inspection): Promise<Finding[]> {
  try {
    return await withSession(account, inspection, async ({ server, userId }) => {
      const { timing } = inspection.connection;
      const query = { timeout: 0, filter: SURVEY_FILTER };
      const answer = await server.call<SyncAnswer>("GET", "/v3/sync", { query, limitMs: timing.fileMs, signal: inspection.signal });
      const rooms = roomsIn(answer, "join").map(([id, raw]) => ({ id, state: stateOf(raw) }));
      return [
        { id: "session", ok: true, message: "the homeserver accepts the session" },
        ...encryptedRooms(rooms),
        ...mutedRooms(rooms, userId),
        ...waitingInvites(answer, account),
      ];
    });
  } catch (error) {
    return [{ id: "session", ok: false, message: messageOf(error) }];
  }
}

async function withSession<T>(
  account: MatrixAccount,
  { connection, signal, running }: Inspection,
  look: (session: { server: Homeserver; userId: string }) => Promise<T>,
): Promise<T> {
  const options = { limitMs: connection.timing.callMs, signal };
  const server = running ?? (await openSession(account, connection, { signal }));
  try {
    const { userId } = await whoAmI(server, options);
    checkUser(userId, account);
    return await look({ server, userId });
  } finally {
    // A login for this question only leaves no device behind.
    if (!running && "password" in account.credentials)
      await server.call("POST", "/v3/logout", { body: {}, ...options }).catch(() => undefined);
  }
}

interface RoomState {
  id: string;
  state: MatrixEvent[];
}

function stateOf(raw: unknown): MatrixEvent[] {
  const room = joinedRoomIn(raw);
  return [...room.state, ...room.timeline, ...eventsIn(recordOf(recordOf(raw).state_after).events)].filter(
    ({ state_key: key }) => key !== undefined,
  );
}

function contentOf({ state }: RoomState, type: string): Readonly<Record<string, unknown>> | undefined {
  return state.findLast((event) => event.type === type)?.content;
}

function nameOf(room: RoomState): string {
  const name = contentOf(room, "m.room.name")?.name ?? contentOf(room, "m.room.canonical_alias")?.alias;
  return typeof name === "string" && name !== "" ? `${name.slice(0, 60)} (${room.id})` : room.id;
}

function encryptedRooms(rooms: readonly RoomState[]): Finding[] {
  const encrypted = rooms.filter((room) => contentOf(room, "m.room.encryption") !== undefined);
  if (encrypted.length === 0) return [{ id: "encryption", ok: true, message: "no room of the account is encrypted" }];
  const message = "encrypted: its messages are not read and nothing is sent there, as encryption is not part of this release";
  return encrypted.slice(0, MAX_FINDINGS).map((room) => ({ id: `room ${nameOf(room)}`, ok: false, message }));
}

function mutedRooms(rooms: readonly RoomState[], userId: string): Finding[] {
  const muted = rooms.filter((room) => !maySend(contentOf(room, "m.room.power_levels"), userId));
  if (muted.length === 0) return [{ id: "power levels", ok: true, message: "the account may write in all its rooms" }];
  const message = "the account may not write there: somebody with more power has to raise its power level";
  return muted.slice(0, MAX_FINDINGS).map((room) => ({ id: `room ${nameOf(room)}`, ok: false, message }));
}

function maySend(levels: Readonly<Record<string, unknown>> | undefined, userId: string): boolean {
  if (!levels) return true;
  const numberIn = (record: unknown, key: string) =>
    isRecord(record) && typeof record[key] === "number" ? (record[key] as number) : undefined;
  const own = numberIn(levels.users, userId) ?? numberIn(levels, "users_default") ?? 0;
  return own >= (numberIn(levels.events, "m.room.message") ?? numberIn(levels, "events_default") ?? 0);
}

function waitingInvites(answer: SyncAnswer, account: MatrixAccount): Finding[] {
  const invites = roomsIn(answer, "invite").flatMap(([roomId, raw]) => inviteIn(roomId, raw, account.userId) ?? []);
  if (invites.length === 0) return [{ id: "invitations", ok: true, message: "none wait" }];
  return invites.slice(0, MAX_FINDINGS).map((invite) => {
    const reason = refusalOf(invite, account.invites);
    const message = reason === undefined ? "it is accepted when the account connects again" : `it waits: ${reason}`;
    return { id: `invitation of ${invite.inviter} to ${invite.roomName ?? invite.roomId}`, ok: false, message };
  });
}
