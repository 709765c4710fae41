import { messageOf, NotDispatchedError } from "svc/sdk";
import { eventsIn, type JoinedRoom, type MatrixEvent, recordOf, tokenOf } from "./events.ts";
import type { ReceivingContext } from "./files.ts";
import { HISTORY_FILTER } from "./filters.ts";
import { MatrixFault, pathOf } from "./homeserver.ts";

/** Events of one page, and pages, that are fetched for a room after a gap. */
const [PAGE, MAX_PAGES] = [100, 10];
/** Failures in a row, also over links, after which the gap of a room is passed over. */
const MAX_FAILURES = 3;
/** Time before the account joined a direct chat of which messages are read: clients make the chat with its first message. */
const FIRST_WORDS_MS = 3_600_000;

/** Events of a room since the account last looked, oldest first: those of the timeline, and before them what the homeserver left out, up to a bound. */
export async function eventsSince(
  roomId: string,
  room: JoinedRoom,
  { since, isNew }: { since: string; isNew: boolean },
  context: ReceivingContext,
): Promise<MatrixEvent[]> {
  const { directory, self } = context;
  const lastId = directory.get(roomId)?.lastEventId;
  const isOwn = (event: MatrixEvent) => event.type === "m.room.member" && event.state_key === self.userId;
  /** The event by which the account came into the room, and no change of its name or picture. */
  const isEntry = (event: MatrixEvent) => {
    const { wasMembership: was } = event;
    return isOwn(event) && event.content.membership === "join" && was !== "join" && (isNew || was !== undefined);
  };
  const isKnownPoint = (event: MatrixEvent) => isEntry(event) || (lastId !== undefined && event.event_id === lastId);
  const events = [...room.timeline];
  let from = room.isLimited && !events.some(isKnownPoint) ? room.prevBatch : undefined;
  for (let page = 0; from !== undefined; page += 1) {
    if (page >= MAX_PAGES) {
      context.run.logger.warn(`more than ${PAGE * MAX_PAGES} events came in a room while nobody looked: the older ones are passed over`, {
        room: roomId,
      });
      break;
    }
    const answer = recordOf(await fetchPage(roomId, from, isNew ? undefined : since, context));
    const older = eventsIn(answer.chunk);
    directory.learn(roomId, { state: eventsIn(answer.state), timeline: [], joinedCount: undefined });
    events.unshift(...older.reverse());
    const end = tokenOf(answer.end);
    from = older.length === 0 || older.some(isKnownPoint) || end === from ? undefined : end;
  }
  const entry = events.findLastIndex(isEntry);
  if (entry < 0) return events.slice(events.findLastIndex(isKnownPoint) + 1);
  // Earlier messages were not written to the account, but for the first words of a direct chat.
  const invited = directory.isDirect(roomId)
    ? events.findLastIndex((event, i) => i < entry && isOwn(event) && event.content.membership === "invite")
    : -1;
  if (invited < 0) return events.slice(entry + 1);
  const earliest = (events[entry]?.origin_server_ts ?? 0) - FIRST_WORDS_MS;
  return events.slice(invited + 1).filter(({ origin_server_ts: at = 0 }) => at >= earliest);
}

async function fetchPage(roomId: string, from: string, to: string | undefined, context: ReceivingContext): Promise<unknown> {
  const { run, server, directory, timing } = context;
  const query = { dir: "b", from, limit: PAGE, filter: HISTORY_FILTER, ...(to === undefined ? {} : { to }) };
  const room = directory.enter(roomId);
  try {
    const page = await server.call("GET", pathOf`/v3/rooms/${roomId}/messages`, { query, limitMs: timing.callMs, signal: run.signal });
    room.historyFailures = 0;
    return page;
  } catch (error) {
    run.signal.throwIfAborted();
    // A room whose past is closed, or that is broken, must not hold up all others; what may pass is tried again some times, from the stored place.
    const isClosed = error instanceof MatrixFault && error.code !== "" && [400, 403, 404].includes(error.status);
    if (!isClosed) {
      if (!isOfRoom(error)) throw error;
      room.historyFailures += 1;
      if (room.historyFailures < MAX_FAILURES) throw error;
    }
    if (isClosed || room.historyFailures === MAX_FAILURES)
      run.logger.warn(`events of a room that are missing cannot be fetched: ${messageOf(error)}`, { room: roomId });
    return {};
  }
}

/** False for a failure that is none of one room: a homeserver that is away or asks to wait, a session that is over. */
function isOfRoom(error: unknown): boolean {
  return !(error instanceof NotDispatchedError) && !(error instanceof MatrixFault && [401, 429].includes(error.status));
}
