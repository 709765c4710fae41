import { type DeliveryRow, messageOf } from "svc/sdk";
import { untilAvailable } from "svc/sdk/internal";
import type { GroupPolicy } from "../accounts/policy.ts";
import type { InboundDeps } from "./inbound-deps.ts";
import { type Inbound, quotedBy } from "./stored.ts";

interface Obeying {
  row: DeliveryRow;
  inbound: Inbound;
  /** Tools that its group is narrowed to. */
  tools: GroupPolicy["tools"];
  deps: Pick<InboundDeps, "ctx" | "agents" | "deliver" | "isOwner">;
  signal: AbortSignal;
}

/** Does what a message commands, and answers its sender. After a kill it is done again under the same key, which does it once. */
export async function obey({ row, inbound, tools, deps, signal }: Obeying): Promise<void> {
  const { agentId, sessionKey, command, route, sender } = inbound;
  const by = `${route.channel}:${sender.id}`;
  const rights = { ...(tools ? { tools } : {}), ...(isOwnersOwn(inbound, deps) ? { isOwner: true } : {}) };
  const request = { key: row.uid, agentId, sessionKey, message: command?.text ?? "", by, ...rights };
  const answer = await untilAvailable(() => deps.agents().command(request), signal, deps);
  if (!answer) return;
  const { threadId, ...place } = route;
  const message = {
    ...place,
    ...(threadId === undefined ? {} : { threadId }),
    ...quotedBy(row),
    uid: `${row.uid}:out`,
    agentId,
    sessionKey,
    origin: "chat" as const,
  };
  try {
    await untilAvailable(() => deps.deliver({ ...message, text: answer.text }), signal, deps);
  } catch (error) {
    signal.throwIfAborted();
    deps.ctx.logger.warn(`message ${row.uid}: the answer to a command could not be queued`, { error: messageOf(error) });
  }
}

/** Is this an owner, in a direct conversation? */
export function isOwnersOwn({ room, channel, sender }: Inbound, { isOwner }: Pick<InboundDeps, "isOwner">): boolean {
  return room === undefined && isOwner({ channel, id: sender.id });
}
