import type { MessageRoute, RunRequest, SessionRow } from "svc/sdk";
import { optionalService } from "../common/optional-service.ts";
import type { Kit } from "../kit.ts";

const WEBCHAT = "webchat";
/** Key of the session of a group: its id, in which a colon is escaped, or a digest where it is long. */
const groupKey = /^agent:[^:]+:[^:]+:(?:group|channel):([^:]+)/;

type Tools = RunRequest["tools"];

/** Where on a channel something comes from, and the tools that are left there. */
export interface Whereabouts {
  place?: MessageRoute;
  tools?: NonNullable<Tools>;
}

/** The place that a request names, and the tools of its group unless the request narrows them itself. A channel that nobody brings is passed over. */
export function whereaboutsOf(kit: Pick<Kit, "ctx">, { place, tools }: Pick<RunRequest, "place" | "tools">): Whereabouts {
  const own = tools === undefined ? {} : { tools };
  const messaging = place && optionalService(kit.ctx, "messaging@1");
  const channel = messaging?.channelOf(place?.channel ?? "");
  if (!place || channel === undefined || channel === WEBCHAT) return own;
  const known = { ...place, channel };
  const there = tools ?? messaging?.toolsIn(known);
  return { place: known, ...(there === undefined ? {} : { tools: there }) };
}

/** Where a session is, unless a caller says where it is to be taken to be. */
export function whereaboutsIn(kit: Pick<Kit, "ctx">, session: SessionRow | undefined, named?: MessageRoute): Whereabouts {
  const place = named ?? (session && placeOfSession(session));
  return place ? whereaboutsOf(kit, { place }) : {};
}

/** The group that a session belongs to. */
function placeOfSession({ key, kind, lastRoute }: SessionRow): MessageRoute | undefined {
  const id = kind === "group" ? groupKey.exec(key)?.[1] : undefined;
  if (id === undefined || lastRoute === undefined) return undefined;
  return id.startsWith("sha256-") ? lastRoute : { ...lastRoute, to: id.replaceAll("%3A", ":").replaceAll("%25", "%") };
}
