import type { Channel, ChannelState, InboundAck, InboundEvent, SvcConfig } from "svc/sdk";
import { sharedErrors } from "svc/sdk/internal";
import { policyOf } from "../accounts/policy.ts";
import type { AckReactions } from "../live/ack-reaction.ts";
import { isListedOwner } from "../owners.ts";
import type { Pairings } from "../pairing/pairings.ts";
import { type AcceptDeps, type AcceptPlace, accept, agentFor, conversationOf } from "./accept.ts";
import { type AdmissionState, admit, type DropReason } from "./admission.ts";
import { type EventFiles, toEvent } from "./event.ts";
import type { Guards } from "./guards.ts";
import { mentionOf } from "./mention.ts";
import type { MentionPatterns } from "./mention-patterns.ts";
import type { Command } from "./stored.ts";

/** The account that an event came through. */
export interface ReceivingAccount {
  channel: Channel;
  accountId: string;
  /** The account as others see it. */
  self: ChannelState["self"];
  guards: Guards;
  /** Files that it has saved. */
  media: EventFiles;
}

export interface ReceiveDeps extends AcceptDeps {
  pairings: Pairings;
  reactions: Pick<AckReactions, "accepted">;
  patterns: Pick<MentionPatterns, "matches">;
}

/**
 * Takes a message from a channel, or says why not. What is accepted is on disk when this resolves, and will be run; what is dropped or a duplicate may be acknowledged to
 * the platform as well.
 * @throws {SvcError} `draining`, `inbound-full`, `deliveries-full`, `storage-*`: nothing is stored, the platform may give it again
 */
export async function receive(given: InboundEvent, account: ReceivingAccount, deps: ReceiveDeps): Promise<InboundAck> {
  if (deps.ctx.service("gateway@1").info().phase === "draining") throw sharedErrors.draining({}, { retryAfterMs: 2_000 });
  const event = toEvent(given, account.media);
  const policy = policyOf(deps.ctx.snapshot(), account.channel.id, account.accountId);
  const place = placeOf(account);
  const mention = once(() => mentionIn(event, account, deps));
  const command = commandIn(event, account, deps);
  const verdict = await judge(event, { mention, command }, account, deps);
  if (verdict.next === "drop" && verdict.reason === "not-mentioned")
    deps.history.note(conversationOf(event, place), event, policy.historyLimit);
  if (verdict.next === "drop") return dropped(event, verdict.reason, account, deps);
  if (verdict.next === "pair") return pair(event, account, deps);
  const admitted = { setsRoute: verdict.setsRoute, isMentioned: mention() === "yes", historyLimit: policy.historyLimit, command };
  const ack = await accept(event, admitted, place, deps);
  if (ack.status === "accepted") deps.reactions.accepted(event, { ...account, isMentioned: admitted.isMentioned });
  return ack;
}

/** Words in the place of a text that is empty because the message is an attachment. */
const NO_WORDS = "-";

/**
 * Says whether a message would be taken on, before its attachments are downloaded. Nothing is counted, stored or said: the message comes afterwards.
 * @throws {TypeError} for one that `receive` refuses as well
 */
export async function admits(given: InboundEvent, account: ReceivingAccount, deps: ReceiveDeps): Promise<boolean> {
  const { media: _, ...words } = given;
  const event = toEvent({ ...words, text: typeof given.text === "string" && given.text.trim() !== "" ? given.text : NO_WORDS });
  const mention = () => mentionIn(event, account, deps);
  const verdict = await judge(event, { mention, command: undefined, isAsked: true }, account, deps);
  return verdict.next === "run";
}

/** Whether the message is meant for the agent that would answer it. */
function mentionIn(event: InboundEvent, account: ReceivingAccount, deps: ReceiveDeps): ReturnType<typeof mentionOf> {
  const { channel, accountId, self, guards } = account;
  const config = deps.ctx.snapshot();
  const place = placeOf(account);
  const patterns = event.chatType === "direct" ? [] : patternsOf(config, agentFor(event, place, deps));
  return mentionOf(event, policyOf(config, channel.id, accountId), {
    name: self?.name,
    hasSent: (id) => guards.hasSent(id),
    matches: patterns.length === 0 ? undefined : (text) => deps.patterns.matches(text, patterns, conversationOf(event, place)),
  });
}

/** Looks when it is asked first, and remembers. */
function once<T>(look: () => T): () => T {
  let seen: { value: T } | undefined;
  return () => {
    seen ??= { value: look() };
    return seen.value;
  };
}

function patternsOf({ agents }: SvcConfig, agentId: string): readonly string[] {
  return agents.list.find(({ id }) => id === agentId)?.groupChat?.mentionPatterns ?? [];
}

async function judge(
  event: InboundEvent,
  {
    mention,
    command,
    isAsked = false,
  }: { mention: AdmissionState["mention"]; command: (Command & { isForOwners?: boolean }) | undefined; isAsked?: boolean },
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
    isBotLoop: !isAsked && guards.isBotLoop(event),
    isPaired,
    mention,
    isCommand: command !== undefined,
    isCostly: ["model", "think", "compact"].includes(command?.name ?? ""),
    isForOwners: command?.isForOwners === true,
    isOwner: isListedOwner(event.sender.id, channel, ctx.snapshot()),
    hasOwnSession: ctx.snapshot().session.dmScope !== "main",
    isCaseSensitive: channel.capabilities.caseSensitiveIds === true,
  });
}

/** The command that a message is; in a group the name of the account may stand before it. */
function commandIn(
  { text, media }: InboundEvent,
  { self }: ReceivingAccount,
  { ctx }: ReceiveDeps,
): (Command & { isForOwners?: true }) | undefined {
  if ((media ?? []).length > 0) return undefined;
  const spoken = text.trim();
  const name = self?.name?.toLowerCase() ?? "";
  const isNamed =
    name !== "" &&
    spoken
      .slice(0, name.length + 1)
      .replace(/^@/, "")
      .toLowerCase()
      .startsWith(name);
  const own = isNamed
    ? spoken
        .replace(/^@/, "")
        .slice(name.length)
        .replace(/^[:,]?\s+/, "")
    : spoken;
  const found = own.startsWith("/") || own === spoken ? ctx.service("agents@1").commandOf(own) : undefined;
  return found && { ...found, text: own };
}

function placeOf({ channel, accountId }: ReceivingAccount): AcceptPlace {
  return { channel: channel.id, label: channel.meta.label, accountId, isCaseSensitive: channel.capabilities.caseSensitiveIds === true };
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
    ctx.logger.child(`${channel.id}/${accountId}`).info(`message on ${channel.id} was not taken: ${reason}`, {
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
  "command-not-allowed": "allowFrom, groupAllowFrom or commands.ownerAllowFrom names who may give commands",
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
    ctx.logger
      .child(`${channel.id}/${accountId}`)
      .warn(`pairing on ${channel.id}: too many requests wait, further ones are ignored`, { accountId });
  }
  return { status: "dropped", reason: `pairing-${outcome}` };
}
