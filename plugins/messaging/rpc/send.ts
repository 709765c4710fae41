import { type Messaging, methodOf, type OutboundMedia, type ParamsOf, type PluginContext, type ResultOf } from "svc/sdk";
import { createReplays } from "svc/sdk/internal";
import { type Channels, WEBCHAT } from "../channels.ts";
import { sendOnce, uidOf } from "../direct/send-once.ts";
import { messagingErrors } from "../errors.ts";
import { messagingMethods } from "../protocol-methods.ts";
import { readOutgoing } from "../queue/message.ts";

type Params = ParamsOf<"send">;

/** `send`. A repeat gets the same answer while it is remembered; afterwards, and after a restart, the row of the message stands in for it. */
export function registerSendMethod(ctx: PluginContext, deps: { service: Messaging; channels: Pick<Channels, "ids" | "idOf"> }): void {
  const replays = createReplays({ monotonic: () => ctx.clock.monotonic() });
  ctx.registerRpc({
    ...methodOf(messagingMethods, "send"),
    handler: (params, call) => replays.run(params.idempotencyKey, () => send(params, { ctx, ...deps, signal: call.signal })),
  });
}

interface SendDeps {
  ctx: PluginContext;
  service: Messaging;
  channels: Pick<Channels, "ids" | "idOf">;
  signal: AbortSignal;
}

async function send(params: Params, { ctx, service, channels, signal }: SendDeps): Promise<ResultOf<"send">> {
  const uid = uidOf("send", params.idempotencyKey);
  const request = (await knownMessage(ctx, uid)) ?? (await newMessage(params, { ctx, service, channels }));
  const { status, route, messageId } = await sendOnce(service, { ...request, uid }, signal);
  const { channel, to = "", accountId, threadId } = route;
  return {
    runId: params.idempotencyKey,
    status,
    uid,
    channel,
    to,
    ...(messageId === undefined ? {} : { messageId }),
    ...(accountId === undefined ? {} : { accountId }),
    ...(threadId === undefined ? {} : { threadId }),
  };
}

/** The message that waits under this key since an earlier process; one that has ended has no content any more, and its repeat names the place again. */
async function knownMessage(ctx: PluginContext, uid: string) {
  const row = await ctx.service("store@2").deliveries.get(uid);
  const known = row?.dir === "out" ? readOutgoing(uid, row.payload) : undefined;
  if (!known) return undefined;
  const { route, text, origin, sessionKey, agentId } = known;
  return { ...route, text, origin, sessionKey, agentId };
}

/** Files by their addresses; everything else is a path. */
function mediaOf({ mediaUrl, mediaUrls = [] }: Params): OutboundMedia[] {
  return [...(mediaUrl === undefined ? [] : [mediaUrl]), ...mediaUrls].map((text) =>
    /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? { url: text } : { path: text },
  );
}

async function newMessage(params: Params, { ctx, service, channels }: Omit<SendDeps, "signal">) {
  const { to, message = "", channel, accountId, threadId, replyToId, sessionKey: wantedKey } = params;
  const media = mediaOf(params);
  if (message === "" && media.length === 0) throw messagingErrors.nothingToSend();
  if (channel !== undefined && channel !== "last" && channels.idOf(channel) === undefined) {
    throw messagingErrors.unsupportedChannel({ channel, known: channels.ids().join(", ") });
  }
  const { agentId, sessionKey } = ctx.service("agents@1").resolve(wantedKey === undefined ? {} : { sessionKey: wantedKey });
  const place = { ...(accountId === undefined ? {} : { accountId }), ...(threadId === undefined ? {} : { threadId }) };
  const wanted = { sessionKey, agentId, channel: channel ?? "last", to, ...place };
  const route = await service.resolveTarget(wanted);
  // A bare recipient does not say on which channel it is, and the main session takes none.
  const isFromPrefix = channel !== undefined || route.to !== to;
  if (route.channel === WEBCHAT || !isFromPrefix) throw messagingErrors.noChannel({ to });
  const more = { ...(media.length > 0 ? { media } : {}), ...(replyToId === undefined ? {} : { replyToId }) };
  return { ...route, text: message, ...more, isAnswer: false, origin: "chat" as const, sessionKey, agentId };
}
