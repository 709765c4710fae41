import { type Channel, messageOf, type PluginContext } from "svc/sdk";
import { messagingErrors } from "../errors.ts";
import { type Outgoing, partUid } from "../queue/message.ts";
import { parseMarkdown } from "./markdown.ts";
import { type OutboundRules, outboundRulesOf } from "./rules.ts";
import { type SplitText, splitIr } from "./split.ts";

/** Messages that one text becomes at most; a flood of more is of use to nobody. */
const MAX_PIECES = 100;

/**
 * The messages that a text becomes on a channel, in order. They are rendered when they are sent; here each was rendered once to see that it is within the limit.
 * @param channel undefined for one that takes Markdown as it is
 * @param isBeginning false for the rest of an answer whose beginning was sent
 * @throws {SvcError} `render-failed`
 */
export function toPieces(
  message: Outgoing,
  channel: Channel | undefined,
  ctx: Pick<PluginContext, "snapshot" | "logger">,
  { isBeginning = true }: { isBeginning?: boolean } = {},
): Outgoing[] {
  if (!channel) return [message];
  const rules = outboundRulesOf(ctx.snapshot(), channel, message.route.accountId);
  const { pieces: found, leftOut } = split(message, channel, rules);
  const pieces = found.filter(({ text }) => text.trim() !== "");
  // Files without words are a message all the same.
  if (pieces.length === 0 && message.media !== undefined) return [message];
  if (leftOut > 0) {
    pieces[pieces.length - 1] = { text: tooLongText(leftOut), spans: [] };
    ctx.logger.warn(`message ${message.uid} to ${channel.id} is too long; its end stays in the session`, { pieces: MAX_PIECES, leftOut });
  }
  const { replyToId, preview, media, ...own } = message;
  return pieces.map((piece, i) => {
    const isQuoting =
      channel.capabilities.replyTo && (rules.replyToMode === "all" || (rules.replyToMode === "first" && isBeginning && i === 0));
    const whole = {
      ...own,
      ...piece,
      ...(isQuoting && replyToId !== undefined ? { replyToId } : {}),
      ...(media !== undefined && i === pieces.length - 1 ? { media } : {}),
    };
    if (pieces.length === 1) return preview ? { ...whole, preview } : whole;
    const part = { message: message.uid, index: i + 1, of: pieces.length };
    // A preview that became too long goes away where it can; elsewhere the beginning takes its place.
    const first = preview && i === 0 ? { preview: channel.capabilities.unsend ? { ...preview, isFixed: true as const } : preview } : {};
    return { ...whole, ...first, uid: partUid(message.uid, part.index), part };
  });
}

/** A reader has to see that there is more. */
function tooLongText(leftOut: number): string {
  return `[The end of this message is left out: about ${leftOut} more characters are too many for this chat.]`;
}

function split({ text }: Outgoing, channel: Channel, { tables, ...rules }: OutboundRules): SplitText {
  const { unit, render } = channel.text;
  try {
    return splitIr(parseMarkdown(text, tables), { ...rules, unit, render: (ir) => render(ir), maxPieces: MAX_PIECES });
  } catch (error) {
    throw messagingErrors.renderFailed({ channel: channel.id, reason: messageOf(error) }, { cause: error });
  }
}
