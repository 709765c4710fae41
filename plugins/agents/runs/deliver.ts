import {
  type DeliverTo,
  isSvcError,
  type MessageRoute,
  type Messaging,
  messageOf,
  type OutboundEnd,
  type OutboundRequest,
  type RunOutcome,
} from "svc/sdk";
import { optionalService } from "../common/optional-service.ts";
import { agentErrors } from "../errors.ts";
import type { Kit } from "../kit.ts";
import type { Run } from "./run.ts";

/** The message is a row of its own by then; only who asks for the answer waits this long to hear how it ended. */
const WAIT_MS = 10_000;

const uidOf = (runId: string) => `${runId}:out`;

/** Never required: `messaging` itself needs agents. Undefined while nobody carries messages. */
function messagingOf({ ctx }: Pick<Kit, "ctx">): Messaging | undefined {
  return optionalService(ctx, "messaging@1");
}

/** @throws {SvcError} `no-route` where nobody carries messages; `unknown-channel`, `recipient-required`, `invalid-recipient` */
export async function checkRoute(
  kit: Pick<Kit, "ctx">,
  target: { agentId: string; sessionKey: string },
  to: DeliverTo = {},
): Promise<void> {
  const messaging = messagingOf(kit);
  if (!messaging) throw agentErrors.noRoute({ key: target.sessionKey });
  await messaging.resolveTarget({ ...target, channel: "last", ...to });
}

/** The last thing the agent said goes to its channel; the answer itself is stored by now. Never rejects. */
export async function handOver(run: Run, kit: Kit): Promise<void> {
  const { id, sessionKey, agent, request } = run;
  const text = run.shownTexts.at(-1) ?? "";
  if (!request.deliver || text.trim() === "") return;
  const message = { uid: uidOf(id), sessionKey, agentId: agent.id, text, origin: "chat", channel: "last", ...request.deliverTo } as const;
  try {
    await messagingOf(kit)?.deliver(message);
  } catch (error) {
    kit.ctx.logger.warn(`run ${id}: its answer stays in the session; no channel accepted it`, { error: messageOf(error) });
  }
}

/** Adds the delivery state of an answer, as far as it is known by now. */
export async function withDelivery<T extends RunOutcome>(runId: string, outcome: T, kit: Pick<Kit, "ctx">): Promise<T> {
  if (outcome.deliveryStatus === undefined || outcome.status !== "ok") return outcome;
  const end = await endOf(uidOf(runId), kit);
  if (end === "none") return outcome;
  const { deliveryStatus: _, ...rest } = outcome;
  return (end === "pending" ? rest : { ...rest, deliveryStatus: end.state === "done" ? "sent" : "failed" }) as T;
}

/** `none`: no message was made of it. `pending`: it is still on its way. */
async function endOf(uid: string, kit: Pick<Kit, "ctx">): Promise<OutboundEnd | "none" | "pending"> {
  try {
    return (await messagingOf(kit)?.waitDelivered(uid, { timeoutMs: WAIT_MS })) ?? "none";
  } catch (error) {
    return isSvcError(error, "unknown-delivery") ? "none" : "pending";
  }
}

/** A heartbeat's news. `no-route`: nobody outside was heard of yet. */
export type HeartbeatDelivery =
  | { status: "sent"; channel: string; to?: string }
  | { status: "skipped"; reason: "no-route" | "channel-unavailable" | "queued" | "alerts-hidden" }
  | { status: "failed"; reason: string };

/** Route on which a session last heard from somebody outside. */
export async function lastRouteOf(sessionKey: string, kit: Pick<Kit, "ctx">): Promise<MessageRoute | undefined> {
  return messagingOf(kit)?.lastRoute(sessionKey);
}

/** Brings the news of a heartbeat where its settings say; `last` is where its session last heard from somebody outside, and nowhere else. */
export async function deliverNews(
  news: Pick<OutboundRequest, "sessionKey" | "agentId" | "text" | "channel" | "to" | "accountId"> & { runId: string },
  kit: Pick<Kit, "ctx">,
): Promise<HeartbeatDelivery> {
  const { runId, ...message } = news;
  const messaging = messagingOf(kit);
  const last = message.channel === "last" ? await messaging?.lastRoute(message.sessionKey) : undefined;
  if (message.channel === "last" && !last) return { status: "skipped", reason: "no-route" };
  if (!messaging) return { status: "skipped", reason: "channel-unavailable" };
  const uid = uidOf(runId);
  try {
    const { route } = await messaging.deliver({ ...message, ...last, uid, origin: "heartbeat" });
    const end = await endOf(uid, kit);
    if (end === "pending" || end === "none") return { status: "skipped", reason: "queued" };
    if (end.state !== "done") return { status: "failed", reason: end.error ?? end.state };
    return { status: "sent", channel: route.channel, ...(route.to === undefined ? {} : { to: route.to }) };
  } catch (error) {
    if (isSvcError(error) && error.spec.http === 400) return { status: "skipped", reason: "channel-unavailable" };
    return { status: "failed", reason: messageOf(error) };
  }
}
