import type { Channel, MessageRoute, OutboundRequest, SvcConfig } from "svc/sdk";
import { idFault } from "svc/sdk/internal";
import { type GroupPolicy, groupOf, policyOf } from "./accounts/policy.ts";
import { type Channels, defaultAccount, WEBCHAT } from "./channels.ts";
import { messagingErrors } from "./errors.ts";

export type RouteRequest = Pick<OutboundRequest, "sessionKey" | "agentId" | "channel" | "to" | "accountId" | "threadId">;

/**
 * Destination of a message. `last` is where the session last heard from somebody, else `webchat`; a prefix of the recipient (`irc:#room`) selects the channel
 * there, and must agree with one that is named. A channel may be named by its plugin.
 * @throws {SvcError} `unknown-channel`, `recipient-required`, `invalid-recipient`
 */
export function resolveRoute(
  request: RouteRequest,
  { channels, config, last }: { channels: Channels; config: SvcConfig; last: MessageRoute | undefined },
): MessageRoute {
  checkPlace(request);
  const prefixed = request.to === undefined ? undefined : channelOfPrefix(request.to, channels);
  const named = request.channel === "last" ? prefixed?.channel.id : (channels.idOf(request.channel) ?? request.channel);
  if (named === undefined) return last === undefined ? { channel: WEBCHAT } : toLast(request, last, channels);
  if (named === WEBCHAT) return toWebchat(request, prefixed);
  const channel = channels.get(named);
  if (!channel) throw messagingErrors.unknownChannel({ channel: named, known: channels.ids().join(", ") });
  if (prefixed && prefixed.channel.id !== named) {
    throw messagingErrors.invalidRecipient({ channel: named, to: request.to, reason: `it belongs to channel ${prefixed.channel.id}` });
  }
  const accountId = request.accountId ?? defaultAccount(channel, config);
  return {
    channel: named,
    to: recipientOf(channel, prefixed?.rest ?? request.to),
    ...(accountId === undefined ? {} : { accountId }),
    ...given(request, ["threadId"]),
  };
}

/** See `Messaging.toolsIn`. */
export function toolsIn(
  { channel: name, to, accountId }: Pick<MessageRoute, "channel" | "to" | "accountId">,
  { channels, config }: { channels: Channels; config: SvcConfig },
): GroupPolicy["tools"] {
  const id = channels.idOf(name);
  const channel = id === undefined ? undefined : channels.get(id);
  if (!channel || to === undefined) return undefined;
  const prefixed = channelOfPrefix(to, channels);
  const recipient = prefixed?.channel === channel ? prefixed.rest : to;
  const policy = policyOf(config, channel.id, accountId ?? defaultAccount(channel, config) ?? "default");
  return groupOf(policy, channel.target.normalize(recipient) ?? recipient, false)?.tools;
}

/** The lane of a message is made of these, and has to come back from the store as it was. */
function checkPlace(request: RouteRequest): void {
  const { channel } = request;
  for (const name of ["to", "accountId", "threadId"] as const) {
    const fault = request[name] === undefined ? undefined : idFault(request[name]);
    if (fault !== undefined) throw messagingErrors.invalidRecipient({ channel, to: request.to, reason: `${name}: ${fault}` });
  }
}

/** Another recipient on the same channel is in no thread of the last one. */
function toLast(request: RouteRequest, last: MessageRoute, channels: Channels): MessageRoute {
  const channel = channels.get(last.channel);
  if (request.to === undefined || !channel) return { ...last, ...given(request, ["threadId"]) };
  const to = recipientOf(channel, request.to);
  const { threadId: _, ...elsewhere } = last;
  return { ...(to === last.to ? last : elsewhere), to, ...given(request, ["threadId"]) };
}

function toWebchat({ to }: RouteRequest, prefixed: { channel: Channel } | undefined): MessageRoute {
  if (to === undefined) return { channel: WEBCHAT };
  const reason = prefixed ? `it belongs to channel ${prefixed.channel.id}` : "it is the main session of the agent and takes none";
  throw messagingErrors.invalidRecipient({ channel: WEBCHAT, to, reason });
}

function recipientOf(channel: Channel, raw: string | undefined): string {
  if (raw === undefined || raw.trim() === "") throw messagingErrors.recipientRequired({ channel: channel.id });
  const to = channel.target.normalize(raw);
  if (to === null)
    throw messagingErrors.invalidRecipient({ channel: channel.id, to: raw, reason: "the channel does not know such targets" });
  return to;
}

/** The channel whose id, other name or prefix stands before the first colon. */
function channelOfPrefix(to: string, channels: Channels): { channel: Channel; rest: string } | undefined {
  const at = to.indexOf(":");
  const prefix = to.slice(0, Math.max(0, at)).trim().toLowerCase();
  if (prefix === "") return undefined;
  for (const id of channels.ids()) {
    const channel = channels.get(id);
    const names = channel ? [id, ...(channel.meta.aliases ?? []), ...(channel.meta.targetPrefixes ?? [])] : [];
    if (channel && names.some((name) => name.toLowerCase() === prefix)) return { channel, rest: to.slice(at + 1) };
  }
  return undefined;
}

function given<K extends "to" | "threadId">(request: RouteRequest, names: readonly K[]): Partial<Record<K, string>> {
  return Object.fromEntries(names.flatMap((name) => (request[name] === undefined ? [] : [[name, request[name]]]))) as Partial<
    Record<K, string>
  >;
}
