import {
  type Agents,
  isSvcError,
  type MessageRoute,
  type Messaging,
  messageOf,
  type PluginContext,
  stripFrames,
  wrapExternal,
} from "svc/sdk";
import { isTransient, untilAvailable } from "svc/sdk/internal";
import { defined, type Job } from "./job.ts";

export interface DeliverDeps {
  ctx: PluginContext;
  agents: () => Pick<Agents, "inject" | "resolve" | "wake">;
  /** Undefined while nobody carries messages. */
  messaging: () => Messaging | undefined;
}

/** A text on its way to people, and the one name it has however often it is handed over. */
export interface Outgoing {
  uid: string;
  agentId: string;
  sessionKey: string;
  text: string;
  /** Where it is to go; without `channel`, or with `last`, where the agent's main session last heard from somebody. */
  to: { channel?: string | undefined; to?: string | undefined; accountId?: string | undefined; threadId?: string | undefined };
  label: string;
  /** Somebody other than the operator planned it. */
  origin?: Job["origin"];
}

/** Where a text went. `note`: nobody outside could be reached, so it stands in the agent's main session. `refused`: why not where it was to go. */
export interface Delivered {
  as: "message" | "note";
  refused?: string;
}

/**
 * Hands a text to the place that is named, else to the last one, else leaves it as a note in the main session. Resolves once it is durable there.
 * @throws the signal's reason
 */
export async function deliverText(message: Outgoing, deps: DeliverDeps, signal: AbortSignal): Promise<Delivered> {
  const { agentId, uid, text, to, label, origin } = message;
  const main = deps.agents().resolve({ agentId });
  let refused: string | undefined;
  for (const route of await routesOf(message, main.sessionKey, deps)) {
    try {
      const { sessionKey } = message;
      await untilAvailable(
        async () => deps.messaging()?.deliver({ sessionKey, agentId, text, uid, isAnswer: true, origin: "cron", ...route }),
        signal,
        deps,
      );
      return defined({ as: "message" as const, refused });
    } catch (error) {
      signal.throwIfAborted();
      if (!isSvcError(error) || isTransient(error)) throw error;
      // Only what was asked for is a fault; that nobody wrote lately is none.
      if (to.channel !== undefined && to.channel !== "last") refused ??= messageOf(error);
      deps.ctx.logger.warn(`cron: ${label}: a message was not accepted; the next place is tried`, {
        channel: route.channel,
        error: messageOf(error),
      });
    }
  }
  if (to.channel !== undefined && to.channel !== "last" && to.channel !== "webchat") refused ??= "no channel service is running";
  // The operator's own turns read it: what another person had a word in is marked as such.
  const note = origin === undefined ? text : wrapExternal(stripFrames(text), { source: "Scheduled job", task: label });
  await untilAvailable(() => deps.agents().inject({ agentId, text: note, id: `${uid}:note`, label }), signal, deps);
  return defined({ as: "note" as const, refused });
}

async function routesOf({ to }: Outgoing, mainKey: string, { messaging }: DeliverDeps): Promise<MessageRoute[]> {
  const service = messaging();
  if (!service || to.channel === "webchat") return [];
  const last = await service.lastRoute(mainKey);
  const lastRoute = last && last.channel !== "webchat" ? [last] : [];
  if (to.channel === undefined || to.channel === "last") {
    if (to.to === undefined) return lastRoute;
    return lastRoute.map(({ channel, accountId }) => defined({ channel, to: to.to, accountId, threadId: to.threadId }));
  }
  const { channel } = to;
  return [defined({ ...to, channel }), ...lastRoute];
}

/** Place that a job's answers go to; undefined: nowhere but its session. */
export function destinationOf({ delivery }: Job): Outgoing["to"] | undefined {
  if (delivery?.mode !== "announce") return undefined;
  const { channel, to, accountId, threadId } = delivery;
  return { channel, to, accountId, threadId };
}
