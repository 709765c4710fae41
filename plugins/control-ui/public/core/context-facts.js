import { texts } from "../texts/chat.js";
import { count } from "./format.js";

/**
 * How full the context of a conversation is. Pure.
 *
 * @typedef {{ totalTokens?: number | undefined, contextTokens?: number | undefined, totalTokensFresh?: boolean | undefined }} Counted
 */

/** From here on the next question may lead to a summary of older messages. */
const FULL = 0.8;

/**
 * @param {Counted | undefined} row
 * @returns {{ used: number, most?: number, percent?: number, isFull: boolean, words: string } | undefined} undefined before the first answer
 */
export function contextOf(row) {
  const used = row?.totalTokens ?? 0;
  const most = row?.contextTokens;
  if (used === 0) return undefined;
  if (!most) return { used, isFull: false, words: texts.tokensModelDoes(count(used)) };
  const percent = Math.min(100, Math.round((used / most) * 100));
  const isFull = used >= most * FULL;
  const words = texts.tokensLastRequest({ used: count(used), most: count(most), more: isFull ? texts.olderMessagesWill : "" });
  return { used, most, percent, isFull, words };
}
