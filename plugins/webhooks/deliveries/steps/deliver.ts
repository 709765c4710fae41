import { isSvcError, type JsonObject, type Messaging, messageOf, type OutboundEnd, type OutboundRequest, reached } from "svc/sdk";
import { isPassing, untilTaken } from "../patience.ts";
import type { HookReply } from "../reply.ts";
import { mainSessionOf } from "../target.ts";
import { type Carried, record } from "./carried.ts";

/** The message is a row of its own by then; only the report of the action waits this long for how it ended. */
const WAIT_MS = 10_000;

/** Delivery state of an answer. `pending`: the message is still on its way; `refused`: no row was made of it. */
export interface Delivered {
  attempted: boolean;
  state?: OutboundEnd["state"] | "pending" | "refused";
  error?: string;
  /** Why nothing was sent. */
  because?: "empty" | "silent" | "heartbeat" | "unavailable";
}

/** Hands the answer to the messages on their way out, unless that has been done. */
export async function deliverStep(carried: Carried, reply: HookReply): Promise<Delivered> {
  const known = readDelivered(carried.row.steps.deliver);
  if (known) return known;
  await reached("hooks.before-deliver");
  const delivered = await deliver(carried, reply);
  await reached("hooks.after-deliver");
  await record(carried, "deliver", { value: { ...delivered } });
  await reached("hooks.after-deliver-step");
  return delivered;
}

async function deliver(carried: Carried, reply: HookReply): Promise<Delivered> {
  const { row, kit, signal } = carried;
  if (reply.disposition !== "visible") return { attempted: false, because: reply.because };
  const messaging = kit.messaging();
  if (!messaging) {
    kit.ctx.logger.warn("no messaging service: the answer of a hook stays in its session", { runId: row.uid });
    return { attempted: false, because: "unavailable" };
  }
  const uid = `${row.uid}:out`;
  try {
    await untilTaken(() => messaging.deliver({ ...routeOf(carried, messaging), uid, text: reply.text }), signal, kit);
    const { state, error } = await messaging.waitDelivered(uid, { signal, timeoutMs: WAIT_MS });
    return { attempted: true, state, ...(error === undefined ? {} : { error }) };
  } catch (error) {
    signal.throwIfAborted();
    if (isSvcError(error, "wait-timeout")) return { attempted: true, state: "pending" };
    if (!isSvcError(error) || isPassing(error)) throw error;
    return { attempted: true, state: "refused", error: messageOf(error) };
  }
}

/** `last` is the place where the agent's main session last heard from somebody outside; the session of the hook itself heard from nobody. */
function routeOf({ action, kit }: Carried, messaging: Messaging): Omit<OutboundRequest, "uid" | "text"> {
  const { agentId, sessionKey, channel, to } = action;
  const base = { agentId, sessionKey, origin: "hook" as const };
  const last = channel === "last" ? messaging.lastRoute(mainSessionOf(agentId, kit).sessionKey) : undefined;
  if (!last) return { ...base, channel, ...(to === undefined ? {} : { to }) };
  if (to === undefined || to === last.to) return { ...base, ...last };
  return { ...base, channel: last.channel, to, ...(last.accountId === undefined ? {} : { accountId: last.accountId }) };
}

function readDelivered(step: JsonObject | undefined): Delivered | undefined {
  return typeof step?.attempted === "boolean" ? (step as unknown as Delivered) : undefined;
}
