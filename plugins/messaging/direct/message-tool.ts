import { type MessageRoute, type Messaging, type PluginContext, type Tool, type ToolCall, z } from "svc/sdk";
import { type Channels, WEBCHAT } from "../channels.ts";
import { messagingErrors } from "../errors.ts";
import type { Pairings } from "../pairing/pairings.ts";
import { isKnownRecipient } from "./known-recipients.ts";
import { sendOnce, uidOf } from "./send-once.ts";

const input = z.strictObject({
  text: z.string().min(1).describe("Text of the message, in Markdown"),
  channel: z.string().min(1).max(128).optional().describe("Id of a channel; only together with `to`"),
  to: z.string().min(1).max(512).optional().describe("Recipient on the channel. Leave it out to write to the conversation that you are in"),
  threadId: z.string().min(1).max(256).optional().describe("Thread of the conversation"),
});

interface Deps {
  ctx: PluginContext;
  service: Messaging;
  channels: Pick<Channels, "get">;
  pairings: Pick<Pairings, "isPaired">;
}

/** The tool `message`: a text of the agent besides its answer, to its own conversation or to somebody whom the operator has named. */
export function messageTool(deps: Deps): Tool<z.output<typeof input>> {
  return {
    name: "message",
    description:
      "Sends a message now, besides your answer: to the conversation that you are in, or, with `channel` and `to`, to another one that the operator allows. Your answer itself needs no tool.",
    input,
    async run(args, call) {
      const { sessionKey, agentId, signal } = call;
      const route = await routeOf(args, call, deps);
      const { text, to, channel, threadId } = args;
      // Models of small servers count their calls anew in each turn, so the call alone is no name for a message.
      const uid = uidOf("tool", call.runId, call.toolCallId, text, channel ?? "", to ?? "", threadId ?? "");
      const sent = await sendOnce(deps.service, { ...route, sessionKey, agentId, text, isAnswer: false, origin: "chat", uid }, signal);
      return { status: sent.status, ...sent.route, ...(sent.messageId === undefined ? {} : { messageId: sent.messageId }) };
    },
  };
}

/**
 * Destination of such a message. The channel of a plain message is that of the conversation, whatever the model would like.
 * @throws {SvcError} `no-conversation`, `recipient-required`, `recipient-not-allowed`, and as `resolveTarget`
 */
async function routeOf(
  { channel, to, threadId }: z.output<typeof input>,
  { sessionKey, agentId, origin }: ToolCall,
  { ctx, service, channels, pairings }: Deps,
): Promise<MessageRoute> {
  const own = await service.lastRoute(sessionKey);
  const thread = threadId === undefined ? {} : { threadId };
  if (to === undefined) {
    if (channel !== undefined && channel !== own?.channel) throw messagingErrors.recipientRequired({ channel });
    if (!own || own.channel === WEBCHAT) throw messagingErrors.noConversation({});
    return { ...own, ...thread };
  }
  const wanted = { sessionKey, agentId, channel: channel ?? "last", to, ...thread };
  // Without a channel of its own a recipient is one of the conversation's channel, and keeps its account.
  const isOwnChannel = own !== undefined && (channel === undefined || channel === own.channel);
  const account = isOwnChannel && own.accountId !== undefined && channel !== undefined ? { accountId: own.accountId } : {};
  const route = await service.resolveTarget({ ...wanted, ...account });
  if (route.channel === WEBCHAT) throw messagingErrors.noConversation({});
  if (own && isSamePlace(own, route)) return route;
  const target = channels.get(route.channel);
  const isAllowed =
    origin !== "anybody" && target && (await isKnownRecipient(route, { config: ctx.snapshot(), channel: target, pairings }));
  if (!isAllowed) throw messagingErrors.recipientNotAllowed({ channel: route.channel, to });
  return route;
}

function isSamePlace(a: MessageRoute, b: MessageRoute): boolean {
  return a.channel === b.channel && a.to === b.to && a.accountId === b.accountId;
}
