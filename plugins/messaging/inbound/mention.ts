import type { InboundEvent } from "svc/sdk";
import type { AccountPolicy } from "../accounts/policy.ts";

/** Names longer than this are no names; it bounds the work on each message. */
const MAX_NAME_CHARS = 100;

/** Traces of the account itself in a conversation. */
export interface OwnTraces {
  /** Name of the account as others see it. */
  name: string | undefined;
  /** Messages that the account has sent lately. */
  hasSent(messageId: string): boolean;
  /** Looks for the patterns of the agent (`groupChat.mentionPatterns`); undefined: it has none. */
  matches?: ((text: string) => boolean) | undefined;
}

/**
 * Whether a message in a group is meant for the agent: the platform says so, the name of the account stands in it as a word of its own, a pattern of the agent is found
 * in it, or it answers the account. `unknown` when neither the platform nor a name nor a pattern could tell. Pure.
 */
export function mentionOf(event: InboundEvent, { implicitMentions: allowed }: AccountPolicy, own: OwnTraces): "yes" | "no" | "unknown" {
  const { mentions, replyTo } = event;
  if (mentions?.explicit) return "yes";
  if (own.name !== undefined && hasName(event.text, own.name)) return "yes";
  const implicit = new Set(mentions?.implicit ?? []);
  const repliesToBot = implicit.has("replyToBot") || replyTo?.isBot === true || (replyTo !== undefined && own.hasSent(replyTo.id));
  if (allowed.replyToBot && repliesToBot) return "yes";
  if (allowed.quotedBot && implicit.has("quotedBot")) return "yes";
  if (allowed.threadParticipation && implicit.has("threadParticipation")) return "yes";
  if (own.matches?.(event.text)) return "yes";
  return mentions === undefined && own.name === undefined && !own.matches ? "unknown" : "no";
}

/** True when the name stands in the text and no letter, digit or underscore touches it. Linear in the text. */
export function hasName(text: string, name: string): boolean {
  const wanted = name.trim();
  if (wanted === "" || wanted.length > MAX_NAME_CHARS) return false;
  const [shown, folded] = [text.toLowerCase(), wanted.toLowerCase()];
  for (let at = shown.indexOf(folded); at >= 0; at = shown.indexOf(folded, at + 1)) {
    if (
      !/[\p{L}\p{N}_]$/u.test(shown.slice(Math.max(0, at - 2), at)) &&
      !/^[\p{L}\p{N}_]/u.test(shown.slice(at + folded.length, at + folded.length + 2))
    ) {
      return true;
    }
  }
  return false;
}
