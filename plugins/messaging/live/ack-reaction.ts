import { type Channel, type ChannelRun, type InboundEvent, messageOf, type PluginContext, type SvcConfig, settledWithin } from "svc/sdk";

/** Reactions under way at a time; a message beyond them gets none. */
const MAX_ACTIVE = 32;
const CALL_MS = 10_000;

/** Facts about a message that decide whether it gets a reaction. */
type Seen = Pick<InboundEvent, "chatType"> & { isMentioned: boolean };

/** The reaction that shows a message of this kind was seen; undefined: none is wanted. Pure. */
export function ackReactionFor({ chatType, isMentioned }: Seen, { messages }: Pick<SvcConfig, "messages">): string | undefined {
  const { ackReaction, ackReactionScope: scope } = messages;
  const isDirect = chatType === "direct";
  const isWanted =
    scope === "all" ||
    (scope === "direct" && isDirect) ||
    (scope === "group-all" && !isDirect) ||
    (scope === "group-mentions" && !isDirect && isMentioned);
  return isWanted ? ackReaction : undefined;
}

interface AckDeps {
  ctx: Pick<PluginContext, "snapshot" | "logger">;
  /** Undefined while the account is not connected. */
  runOf(channel: string, accountId: string): ChannelRun | undefined;
}

/** Reacts to messages that were accepted; nobody waits for it, and a platform that refuses it stops nothing. */
export class AckReactions {
  readonly #deps: AckDeps;
  #active = 0;

  constructor(deps: AckDeps) {
    this.#deps = deps;
  }

  /** The message is on disk: its sender is shown that it was seen. */
  accepted(event: InboundEvent, { channel, accountId, isMentioned }: { channel: Channel; accountId: string; isMentioned: boolean }): void {
    const { ctx, runOf } = this.#deps;
    if (channel.capabilities.reactions !== true) return;
    const emoji = ackReactionFor({ chatType: event.chatType, isMentioned }, ctx.snapshot());
    const run = runOf(channel.id, accountId);
    if (emoji === undefined || !run || this.#active >= MAX_ACTIVE) return;
    this.#active += 1;
    const work = (async () => channel.react?.({ to: event.peer.id, messageId: event.id, emoji }, run))().catch((error: unknown) => {
      ctx.logger.debug(`${channel.id}: the reaction to a message was not sent`, { accountId, error: messageOf(error) });
    });
    void settledWithin(work, CALL_MS).then(() => {
      this.#active -= 1;
    });
  }
}
