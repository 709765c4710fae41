import { type ChannelRun, NotDispatchedError, SendRefusedError } from "svc/sdk";
import type { MatrixAccount } from "./accounts.ts";
import { directRoom, roomIdIn, type SendContext, UnknownChatError } from "./direct-chats.ts";
import { pathOf } from "./homeserver.ts";
import { normalizeTarget } from "./ids.ts";
import { asRefusal, refused } from "./refusals.ts";
import type { Session } from "./session.ts";

/** The room that a target stands for; a person's is made where there is none. @throws as `Channel.send` */
export async function roomOf(to: string, context: SendContext): Promise<string> {
  if (normalizeTarget(to) !== to) throw refused(`"${to.slice(0, 60)}" is no room, alias or user of Matrix`);
  try {
    const room = to.startsWith("!") ? to : to.startsWith("#") ? await aliased(to, context) : await directRoom(to, context);
    if (context.directory.get(room)?.isEncrypted)
      throw refused("the room is encrypted, and encryption is not part of this release: nothing is sent into it in the clear");
    return room;
  } catch (error) {
    throw asNotDispatched(error);
  }
}

async function aliased(alias: string, { server, timing, signal }: SendContext): Promise<string> {
  const answer = await server.call("GET", pathOf`/v3/directory/room/${alias}`, { limitMs: timing.callMs, signal });
  return roomIdIn(answer);
}

/** As {@link asRefusal}, before anything of the message has left the process. */
function asNotDispatched(error: unknown): unknown {
  const refusal = asRefusal(error);
  return refusal instanceof SendRefusedError || refusal instanceof NotDispatchedError || refusal instanceof UnknownChatError
    ? refusal
    : new NotDispatchedError((refusal as Error).message);
}

/** Session of a running account. @throws {NotDispatchedError} while there is none */
export function sessionOf(sessions: WeakMap<ChannelRun<MatrixAccount>, Session>, run: ChannelRun<MatrixAccount>): Session {
  const session = sessions.get(run);
  if (!session) throw new NotDispatchedError("there is no session at the homeserver");
  return session;
}
