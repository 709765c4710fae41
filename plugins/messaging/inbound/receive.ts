import type { Channel, ChannelState, DeliveryRow, InboundAck, InboundEvent, PluginContext, StoreOp } from "svc/sdk";
import { protocolErrors, reached } from "svc/sdk/internal";
import { policyOf } from "../accounts/policy.ts";
import { messagingErrors } from "../errors.ts";
import type { AckReactions } from "../live/ack-reaction.ts";
import type { MediaInbox } from "../media/media-store.ts";
import type { Pairings } from "../pairing/pairings.ts";
import { admit, type DropReason } from "./admission.ts";
import { boundAgent } from "./bindings.ts";
import { toEvent } from "./event.ts";
import type { Guards } from "./guards.ts";
import { mentionOf } from "./mention.ts";
import { type InboundRunner, laneOf } from "./runner.ts";
import { sessionKeyOf } from "./session-key.ts";
import { encodeInbound, type Inbound, toInbound } from "./stored.ts";

/** A message that nobody took up for so long is not answered any more. */
const EXPIRY_MS = 24 * 3_600_000;
/** The key of an event is its id alone. */
const FINGERPRINT = "event";

/** The account that an event came through. */
export interface ReceivingAccount {
  channel: Channel;
  accountId: string;
  /** The account as others see it. */
  self: ChannelState["self"];
  guards: Guards;
  /** Files that it has saved. */
  media: Pick<MediaInbox, "find">;
}

export interface ReceiveDeps {
  ctx: Pick<PluginContext, "snapshot" | "service" | "clock" | "logger">;
  runner: Pick<InboundRunner, "reserve" | "nudge">;
  pairings: Pairings;
  reactions: Pick<AckReactions, "accepted">;
}

/**
 * Takes a message from a channel, or says why not. What is accepted is on disk when this resolves, and will be run; what is dropped or a duplicate may be acknowledged to
 * the platform as well.
 * @throws {SvcError} `draining`, `inbound-full`, `deliveries-full`, `storage-*`: nothing is stored, the platform may give it again
 */
export async function receive(given: InboundEvent, account: ReceivingAccount, deps: ReceiveDeps): Promise<InboundAck> {
  if (deps.ctx.service("gateway@1").info().phase === "draining") throw protocolErrors.draining({}, { retryAfterMs: 2_000 });
  const event = toEvent(given, account.media);
  const mention = mentionOf(event, policyOf(deps.ctx.snapshot(), account.channel.id, account.accountId), {
    name: account.self?.name,
    hasSent: (id) => account.guards.hasSent(id),
  });
  const verdict = await judge(event, mention, account, deps);
  if (verdict.next === "drop") return dropped(event, verdict.reason, account, deps);
  if (verdict.next === "pair") return pair(event, account, deps);
  return accept(event, { setsRoute: verdict.setsRoute, isMentioned: mention === "yes" }, account, deps);
}

async function judge(
  event: InboundEvent,
  mention: ReturnType<typeof mentionOf>,
  { channel, accountId, self, guards }: ReceivingAccount,
  { ctx, pairings }: ReceiveDeps,
) {
  const policy = policyOf(ctx.snapshot(), channel.id, accountId);
  const isDirect = event.chatType === "direct";
  const isPaired =
    isDirect && policy.dmPolicy === "pairing" && (await pairings.isPaired({ channel: channel.id, accountId }, senderId(event, channel)));
  return admit(event, policy, {
    isOwn: event.sender.isSelf === true || (self?.id !== undefined && self.id === event.sender.id),
    isEcho: guards.isEcho(event.id),
    isBotLoop: guards.isBotLoop(event),
    isPaired,
    mention,
    isCaseSensitive: channel.capabilities.caseSensitiveIds === true,
  });
}

/** The sender as approvals know them. */
function senderId({ sender }: InboundEvent, { capabilities }: Channel): string {
  return capabilities.caseSensitiveIds === true ? sender.id : sender.id.toLowerCase();
}

/** One line for each conversation and reason, without the text: what strangers write is not worth a log. */
function dropped(
  event: InboundEvent,
  reason: DropReason,
  { channel, accountId, guards }: ReceivingAccount,
  { ctx }: ReceiveDeps,
): InboundAck {
  if (reason !== "self" && reason !== "echo" && guards.shouldLog(event.peer.id, reason)) {
    const { id: chat } = event.peer;
    const hint = hints[reason];
    ctx.logger.info(`message on ${channel.id} was not taken: ${reason}`, {
      accountId,
      chat,
      sender: event.sender.id,
      ...(hint ? { hint } : {}),
    });
  }
  return { status: "dropped", reason };
}

const hints: Partial<Record<DropReason, string>> = {
  "dm-not-allowed": "allowFrom lists who may write; dmPolicy pairing lets others ask",
  "group-not-listed": "groups lists the groups that are answered",
  "sender-not-allowed": "groupAllowFrom or the allowFrom of the group lists who may write there",
  "not-mentioned": "groups.<id>.requireMention false answers every message",
};

async function pair(
  event: InboundEvent,
  { channel, accountId, guards }: ReceivingAccount,
  { pairings, ctx }: ReceiveDeps,
): Promise<InboundAck> {
  const outcome = await pairings.request(
    { channel: channel.id, accountId },
    {
      sender: { ...event.sender, id: senderId(event, channel) },
      to: event.peer.id,
    },
  );
  if (outcome === "full" && guards.shouldLog(accountId, "pairing-full")) {
    ctx.logger.warn(`pairing on ${channel.id}: too many requests wait, further ones are ignored`, { accountId });
  }
  return { status: "dropped", reason: `pairing-${outcome}` };
}

async function accept(
  event: InboundEvent,
  { setsRoute, isMentioned }: { setsRoute: boolean; isMentioned: boolean },
  { channel, accountId }: ReceivingAccount,
  deps: ReceiveDeps,
): Promise<InboundAck> {
  const { ctx, runner } = deps;
  const place = { channel: channel.id, accountId, isCaseSensitive: channel.capabilities.caseSensitiveIds === true };
  const agentId = agentFor(event, place, deps);
  const sessionKey = sessionKeyOf(event, { agentId, ...place }, ctx.snapshot().session);
  const inbound = toInbound(event, {
    channel: channel.id,
    accountId,
    label: channel.meta.label,
    agentId,
    sessionKey,
    setsRoute,
    isMentioned,
  });
  const slot = runner.reserve(sessionKey);
  if (!slot) throw messagingErrors.inboundFull({ channel: channel.id }, { retryAfterMs: 5_000 });
  try {
    await reached("inbound.before-accept");
    const [result] = await ctx.service("store@2").commit([acceptOp(event, inbound, { uid: slot.uid, at: ctx.clock.now() })]);
    await reached("inbound.after-accept");
    if (result?.known) {
      slot.release();
      return { status: "duplicate" };
    }
  } catch (error) {
    slot.release();
    throw error;
  }
  runner.nudge();
  deps.reactions.accepted(event, { channel, accountId, isMentioned });
  return { status: "accepted" };
}

function acceptOp(event: InboundEvent, inbound: Inbound, { uid, at }: { uid: string; at: number }): StoreOp {
  const { channel, accountId } = inbound;
  const key = { idemScope: `in:${channel}:${accountId}`, idemKey: event.id, fingerprint: FINGERPRINT };
  // A lane of its own: messages of a session are handed over in order, and a later one may meet the run of an earlier one (`messages.queue`).
  const row: Pick<DeliveryRow, "uid" | "lane" | "expiresAt"> & { dir: "in" } = {
    uid,
    dir: "in",
    lane: laneOf(inbound.sessionKey, uid),
    expiresAt: at + EXPIRY_MS,
  };
  return { op: "delivery.accept", delivery: { ...row, ...key, payload: encodeInbound(inbound) }, at };
}

/** A binding whose agent is gone binds nothing; `svc doctor` names it. */
function agentFor(event: InboundEvent, place: Parameters<typeof boundAgent>[1], { ctx }: ReceiveDeps): string {
  const agents = ctx.service("agents@1");
  const known = new Set(agents.list().map(({ id }) => id));
  const bindings = ctx.snapshot().bindings.filter(({ agentId }) => known.has(agentId));
  return boundAgent(event, place, bindings) ?? agents.resolve({}).agentId;
}
