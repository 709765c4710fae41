import { isSvcError, type MessageRoute, type Messaging, mainSessionKey, type PluginContext, type StoreOp, stripFrames } from "svc/sdk";
import { isBareToken, judgeReply } from "svc/sdk/internal";
import { type Channels, WEBCHAT } from "./channels.ts";
import { messagingErrors } from "./errors.ts";
import type { AnswerPart, GrowingAnswers } from "./live/answers.ts";
import { withMedia } from "./outbound/media.ts";
import { toPieces } from "./outbound/pieces.ts";
import { withPrefix } from "./outbound/response-prefix.ts";
import { isSendAllowed } from "./outbound/send-policy.ts";
import { isListedOwner } from "./owners.ts";
import { laneOf, lifetimeMs, type Outgoing, toStored } from "./queue/message.ts";
import type { Queue } from "./queue/queue.ts";
import { type RouteRequest, resolveRoute, toolsIn } from "./routes.ts";
import type { Waits } from "./waits.ts";

/** Largest text of a message, and payload of one of its rows, in bytes of JSON. A row of the store holds 256 KiB. */
const MAX_TEXT_BYTES = 240 * 1024;
const MAX_ROW_BYTES = 252 * 1024;

/** The service, and what only this plugin does with it. */
export interface OwnMessaging extends Messaging {
  /** Takes on a part of an answer that is still being written, in one commit with the step that says so. */
  sendPart(part: AnswerPart, step: StoreOp): Promise<void>;
  /** True where the answers of a session stay in it: `session.sendPolicy`, or the session's own setting. */
  isSilenced(message: Pick<Outgoing, "sessionKey" | "route">): Promise<boolean>;
}

interface Parts {
  answers: Pick<GrowingAnswers, "shown">;
  channels: Channels;
  queue: Pick<Queue, "nudge">;
  waits: Waits;
}

/** Creates the service through which other plugins send. */
export function createMessagingService(ctx: PluginContext, { channels, queue, waits, answers }: Parts): OwnMessaging {
  const lastRoute = async (sessionKey: string): Promise<MessageRoute | undefined> =>
    (await ctx.service("store@2").sessions.get(sessionKey))?.lastRoute;
  const routeOf = async (request: RouteRequest) => {
    // A session that heard from nobody outside, as that of a webhook, uses the one of its agent's main session.
    const main = mainSessionKey(request.agentId);
    const last = request.channel === "last" ? ((await lastRoute(request.sessionKey)) ?? (await lastRoute(main))) : undefined;
    return resolveRoute(request, { channels, config: ctx.snapshot(), last });
  };

  return {
    channels: () => channels.ids(),
    channelOf: (name) => channels.idOf(name),
    resolveTarget: routeOf,
    lastRoute,
    isOwner({ channel, id }) {
      const found = channels.get(channel);
      return found !== undefined && isListedOwner(id, found, ctx.snapshot());
    },
    toolsIn: (place) => toolsIn(place, { channels, config: ctx.snapshot() }),
    waitDelivered: (uid, options) => waits.wait(uid, options),
    async deliver(request) {
      const route = await routeOf(request);
      const { uid } = request;
      if ((await ctx.service("store@2").deliveries.get(uid))?.dir === "out") return { uid, route };
      const { sessionKey, agentId, origin, replyToId } = request;
      const { preview, rest } = await answers.shown(uid, route);
      const whole = stripFrames(request.text).trim();
      const unsent = rest(whole);
      const { text, ...files } = withMedia(unsent, request.media ?? [], channels.get(route.channel));
      const message: Outgoing = {
        uid,
        route,
        text,
        ...files,
        origin,
        sessionKey,
        agentId,
        ...(replyToId === undefined ? {} : { replyToId }),
        ...(preview ? { preview } : {}),
      };
      // Where parts were sent before, the first of them has the prefix.
      const isBeginning = unsent === whole;
      const isPrefixed = request.isAnswer !== false && isBeginning;
      ctx.tracing.keep(uid);
      await commitOnce(ctx, await acceptOps(ctx, message, { channels, isPrefixed, isBeginning }));
      queue.nudge();
      return { uid, route };
    },
    isSilenced: (message) => isSilenced(ctx, message),
    async sendPart({ text, isFirst, ...part }, step) {
      const message: Outgoing = { ...part, text: stripFrames(text).trim(), origin: "chat" };
      ctx.tracing.keep(message.uid);
      await ctx
        .service("store@2")
        .commit([...(await acceptOps(ctx, message, { channels, isPrefixed: isFirst, isBeginning: isFirst })), step]);
      queue.nudge();
    },
  };
}

/** The rows of a message as they enter the queue, one for each piece; or its one row, as it ends there at once. */
async function acceptOps(
  ctx: PluginContext,
  message: Outgoing,
  { channels, isPrefixed, isBeginning }: { channels: Pick<Channels, "get">; isPrefixed: boolean; isBeginning: boolean },
): Promise<StoreOp[]> {
  const withheld = withheldReason(message) ?? ((await isSilenced(ctx, message)) ? "policy" : undefined);
  if (withheld === "policy")
    ctx.logger.info(`message ${message.uid} to ${message.route.channel} stays in its session: the send policy says so`);
  if (withheld !== undefined) return [accept(ctx, message, { status: "suppressed", reason: withheld })];
  const asked = await ask(ctx, message);
  const bytes = Buffer.byteLength(JSON.stringify(asked.text));
  if (bytes > MAX_TEXT_BYTES) throw messagingErrors.textTooLong({ bytes, maxBytes: MAX_TEXT_BYTES });
  if (asked.cancelled === undefined) {
    const isAnswer = isPrefixed && asked.text !== "" && message.route.channel !== WEBCHAT;
    const text = isAnswer ? withPrefix(asked.text, ctx.snapshot()) : asked.text;
    const pieces = toPieces({ ...message, text }, channels.get(message.route.channel), ctx, { isBeginning });
    return pieces.length === 0 ? [accept(ctx, message, { status: "suppressed", reason: "empty" })] : pieces.map((one) => accept(ctx, one));
  }
  const row = accept(ctx, { ...message, text: asked.text });
  const result = { status: "cancelled", reason: `a plugin held it back: ${asked.cancelled}` };
  ctx.logger.info(`message ${message.uid} to ${message.route.channel} was held back by a plugin`, { reason: asked.cancelled });
  return [row, { op: "delivery.finish", uid: message.uid, from: ["accepted"], state: "failed", result, at: ctx.clock.now() }];
}

/** True for messages that `session.sendPolicy`, or the session's own setting, keeps in their session. */
async function isSilenced(
  ctx: PluginContext,
  { sessionKey, route: { channel } }: Pick<Outgoing, "sessionKey" | "route">,
): Promise<boolean> {
  const own = (await ctx.service("store@2").sessions.get(sessionKey))?.sendPolicy;
  return own === undefined ? !isSendAllowed(ctx.snapshot().session.sendPolicy, { channel, sessionKey }) : own !== "allow";
}

/** Reason why an answer is not delivered; an agent that has nothing to say is not reported. */
function withheldReason({ text, media }: Outgoing): "empty" | "silent" | "heartbeat" | undefined {
  if (text === "") return media === undefined ? "empty" : undefined;
  if (!isBareToken(text)) return undefined;
  return judgeReply(text, 0).kind === "ack" ? "heartbeat" : "silent";
}

function accept(ctx: PluginContext, message: Outgoing, done?: { status: string; reason: string }): StoreOp {
  const at = ctx.clock.now();
  const { uid, route, origin, agentId } = message;
  const payload = toStored(message);
  const bytes = Buffer.byteLength(JSON.stringify(payload));
  if (bytes > MAX_ROW_BYTES) throw messagingErrors.textTooLong({ bytes, maxBytes: MAX_ROW_BYTES });
  const delivery = {
    uid,
    dir: "out" as const,
    lane: laneOf(route, mainSessionKey(agentId)),
    payload,
    expiresAt: at + lifetimeMs(origin),
    ...(done ? { done } : {}),
  };
  return { op: "delivery.accept", delivery, at };
}

/** Plugins may change the text, or hold the message back. */
async function ask(
  ctx: PluginContext,
  { uid, route, text, origin, sessionKey, agentId }: Outgoing,
): Promise<{ text: string; cancelled?: string }> {
  if (!ctx.isHookUsed("outbound.sending")) return { text };
  const event = { uid, ...route, sessionKey, agentId, origin, text };
  const said = await ctx.runHook("outbound.sending", event, { sessionKey, agentId });
  return { text: said.text, ...(said.cancel === true ? { cancelled: said.reason ?? "no reason was given" } : {}) };
}

/** The same message handed over twice at once is one row. */
async function commitOnce(ctx: PluginContext, ops: StoreOp[]): Promise<void> {
  try {
    await ctx.service("store@2").commit(ops);
  } catch (error) {
    if (!isSvcError(error, "exists")) throw error;
  }
}
