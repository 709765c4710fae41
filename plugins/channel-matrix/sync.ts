import { messageOf, sleep } from "svc/sdk";
import { eventIn, joinedRoomIn, recordOf, roomsIn, type SyncAnswer, tokenOf } from "./events.ts";
import type { ReceivingContext } from "./files.ts";
import { FOLLOW_FILTER, SHORT_FOLLOW_FILTER, SURVEY_FILTER } from "./filters.ts";
import { eventsSince } from "./history.ts";
import { MatrixFault, TooLongAnswerError } from "./homeserver.ts";
import type { Invites } from "./invites.ts";
import { receive } from "./receiving.ts";
import type { SessionState } from "./session-state.ts";

/** Time that the homeserver has, beyond how long it may hold a request, to answer it. */
const SLACK_MS = 15_000;

export interface FollowContext extends ReceivingContext {
  state: SessionState;
  invites: Invites;
}

/** The homeserver refuses the place in the stream, as one does that was restored from a backup. */
export class LostPlaceError extends Error {}

/** Looks at how the rooms are now: names, encryption, direct chats, invitations that wait. What was said in them is not read. @returns the present place in the stream */
export async function survey(context: FollowContext): Promise<string> {
  const { run, server, directory, timing, invites } = context;
  const query = { timeout: 0, filter: SURVEY_FILTER };
  const answer = await server.call<SyncAnswer>("GET", "/v3/sync", { query, limitMs: timing.pollMs + SLACK_MS, signal: run.signal });
  directory.learnDirect(answer.account_data);
  for (const [roomId, raw] of roomsIn(answer, "join")) directory.learn(roomId, joinedRoomIn(raw));
  const encrypted = [...directory.rooms].filter(([, room]) => room.isEncrypted);
  for (const [, room] of encrypted) room.isEncryptionTold = true;
  if (encrypted.length > 0)
    run.logger.warn(
      `${encrypted.length} rooms of the account are encrypted: their messages are not read, as encryption is not part of this release`,
      {
        rooms: encrypted.slice(0, 20).map(([id]) => id),
      },
    );
  for (const [roomId, raw] of roomsIn(answer, "invite")) invites.take(roomId, raw);
  return placeOf(answer);
}

/** Hands over what happens in the rooms until something breaks. A place in the stream is stored when the host has everything before it, and only then asked for more from there. */
export async function follow(context: FollowContext, first: string): Promise<undefined> {
  const { run, state, timing } = context;
  const { signal } = run;
  let since = first;
  while (!signal.aborted) {
    try {
      const answer = await changes(since, context);
      const next = placeOf(answer);
      await takeAll(answer, since, context);
      await stored(() => state.reached(next), context);
      since = next;
      run.alive?.();
    } catch (error) {
      if (signal.aborted) break;
      if (!(error instanceof MatrixFault) || error.status !== 429) throw error;
      const waitMs = error.retryAfterMs ?? timing.reconnectMs;
      run.logger.warn("the homeserver asks to wait before the next request", { waitMs });
      await sleep(waitMs, signal).catch(() => undefined);
    }
  }
  return undefined;
}

async function changes(since: string, { run, server, timing }: FollowContext): Promise<SyncAnswer> {
  const ask = (filter: string) => {
    const query = { since, timeout: timing.pollMs, filter };
    return server.call<SyncAnswer>("GET", "/v3/sync", { query, limitMs: timing.pollMs + SLACK_MS, signal: run.signal });
  };
  try {
    return await ask(FOLLOW_FILTER).catch((error: unknown) => {
      if (error instanceof TooLongAnswerError) return ask(SHORT_FOLLOW_FILTER);
      throw error;
    });
  } catch (error) {
    if (error instanceof MatrixFault && error.status === 400 && error.code !== "") throw new LostPlaceError(error.message);
    throw error;
  }
}

async function takeAll(answer: SyncAnswer, since: string, context: FollowContext): Promise<void> {
  const { directory, invites } = context;
  directory.learnDirect(answer.account_data);
  const budget = { leftMs: context.timing.fileMs };
  for (const [roomId, raw] of roomsIn(answer, "join")) {
    const isNew = directory.get(roomId) === undefined;
    const room = joinedRoomIn(raw);
    directory.learn(roomId, room);
    for (const event of await eventsSince(roomId, room, { since, isNew }, context)) await receive(roomId, event, { ...context, budget });
  }
  for (const [roomId, raw] of roomsIn(answer, "leave")) tellLeft(roomId, raw, context);
  for (const [roomId, raw] of roomsIn(answer, "invite")) invites.take(roomId, raw);
}

/** Says who has put the account out of a room. */
function tellLeft(roomId: string, raw: unknown, { run, directory, self }: FollowContext): void {
  if (!directory.leave(roomId)) return;
  const events = recordOf(recordOf(raw).timeline).events;
  const own = (Array.isArray(events) ? events : [])
    .map(eventIn)
    .findLast((event) => event?.type === "m.room.member" && event.state_key === self.userId);
  if (!own || own.sender === self.userId) return;
  run.logger.warn(`the account was ${own.content.membership === "ban" ? "banned" : "removed"} from a room`, {
    room: roomId,
    by: own.sender,
  });
}

/** Repeats a write until the store takes it, or the account stops: the messages before it are the host's already. */
async function stored(write: () => Promise<void>, { run, timing }: FollowContext): Promise<void> {
  for (let waitMs = timing.offerMs; ; waitMs = Math.min(5_000, waitMs * 2)) {
    try {
      return await write();
    } catch (error) {
      run.logger.debug("the place in the stream waits for the store", { error: messageOf(error) });
    }
    await sleep(waitMs, run.signal);
  }
}

function placeOf(answer: SyncAnswer): string {
  const place = tokenOf(recordOf(answer).next_batch);
  if (place === undefined) throw new MatrixFault("", "the answer is not from a Matrix homeserver (no next_batch)", { status: 200 });
  return place;
}
